"""The JSON forms of values, the same on every interface."""

from memorata.service.codec import (
    Json,
    briefing_json,
    duplicates_json,
    key_json,
    logged_recall_json,
    memories_json,
    memory_json,
    picked,
    plain,
    recall_arguments,
    recall_json,
    recipe_json,
    relation_json,
    saved_recipe_json,
    summary_json,
    time_json,
)

__all__ = [
    "Json",
    "briefing_json",
    "duplicates_json",
    "key_json",
    "logged_recall_json",
    "memories_json",
    "memory_json",
    "picked",
    "plain",
    "recall_arguments",
    "recall_json",
    "recipe_json",
    "relation_json",
    "saved_recipe_json",
    "summary_json",
    "time_json",
]
