"""How is it found fast? Records, posting lists and vectors, all derived from the store."""
