"""Memories in a store: how they are added, found, superseded, repeated, contradicted and removed."""
