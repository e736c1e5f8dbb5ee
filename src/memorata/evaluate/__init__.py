"""How good is it? Data sets, metrics, significance, and runs that anybody can score again."""
