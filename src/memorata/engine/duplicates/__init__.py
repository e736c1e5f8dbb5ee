"""Duplicates and contradictions among memories that are there."""
