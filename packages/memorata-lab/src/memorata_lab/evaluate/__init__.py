"""How good is it? Data sets, metrics, significance, and runs that can be scored again."""
