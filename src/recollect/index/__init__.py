"""How is it found fast? Records, posting lists and vector codes: all derived from the store."""
