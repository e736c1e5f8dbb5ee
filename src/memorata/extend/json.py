"""The JSON forms of values, the same on every interface."""

from memorata.service.codec import Json, picked, plain, recall_json

__all__ = [
    "Json",
    "picked",
    "plain",
    "recall_json",
]
