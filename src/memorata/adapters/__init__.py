"""mem0's interface, for programs that were written for it."""
