"""Recipes: how a recall searches, as data."""
