"""Recall: from a query over legs, fusion, re-ranking and gate to hits that explain themselves."""
