"""Entities, relations and the graph of a namespace."""
