"""The built-in model, read once."""

import pytest

from memorata.embed.ngram_encoder import BuiltinEmbedder


@pytest.fixture(scope="session")
def builtin() -> BuiltinEmbedder:
    """Return the built-in model."""
    return BuiltinEmbedder()
