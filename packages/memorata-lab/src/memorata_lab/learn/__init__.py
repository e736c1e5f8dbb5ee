"""Does it get better? Thresholds, weights and recipes from labels and feedback, if they win held out."""
