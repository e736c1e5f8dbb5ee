"""The engine over HTTP: a versioned REST interface that describes itself (OpenAPI), with keys and limits."""
