"""Writing: drafts, names, deduplication, terms, vectors, and purges."""
