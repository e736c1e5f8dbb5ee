"""Memorata as a server: HTTP with OpenAPI, a page for people, the Model Context Protocol, and a proxy."""
