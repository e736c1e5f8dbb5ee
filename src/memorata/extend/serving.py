"""An engine made ready for many callers at once: models loaded, queries embedded together."""

from memorata.engine.embedding import embedded_in_advance
from memorata.engine.query_vectors import load_models, only_computes, prepare_to_serve, shared_cost, turn_of

__all__ = [
    "embedded_in_advance",
    "load_models",
    "only_computes",
    "prepare_to_serve",
    "shared_cost",
    "turn_of",
]
