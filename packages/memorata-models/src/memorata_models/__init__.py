"""Models for Memorata: ONNX, static tables, services over HTTP, and the roles of language models."""
