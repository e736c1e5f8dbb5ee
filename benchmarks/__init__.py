"""How fast is it, and against whom? Every figure is a ratio measured in one run."""
