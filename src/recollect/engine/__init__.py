"""The verbs: remember, recall, correct, forget."""
