"""The ports of embedders and re-rankers, the choice of one by its name, and the parts of one of our own."""

from memorata.embed.circuit_breaker import (
    FIRST_PAUSE,
    QUERY_SECONDS,
    CircuitBreaker,
    RetryPolicy,
    checked_seconds,
)
from memorata.embed.description import (
    DESCRIPTION,
    TOKENIZER,
    ModelDescription,
    check_common,
    digest,
    installed_models,
    read_checked,
)
from memorata.embed.lexical import LexicalEmbedder
from memorata.embed.ngram_encoder import BUILTIN, BuiltinEmbedder
from memorata.embed.ngram_encoder import DESCRIPTION as BUILTIN_DESCRIPTION
from memorata.embed.port import PRESETS, Embedder, Prompts, Reranker, Vectors, carried
from memorata.embed.selection import BEFORE_BUILTIN, Choice, Resources, choose, open_reranker
from memorata.embed.token_embedder import LoadedModel, TokenEmbedder
from memorata.embed.token_table import LoadedTable, TokenTable
from memorata.embed.tokens import Tokeniser, character_passages
from memorata.embed.trust import origin_of, service_address, without_secrets
from memorata.embed.vectors import (
    checked_text,
    checked_texts,
    length_sorted,
    unit_means,
    unit_rows,
    well_formed,
)
from memorata.rank.soft_lexical import token_weights
from memorata.text.language import language_code

BUILTIN_LANGUAGES = BUILTIN_DESCRIPTION.languages
"""The languages that the built-in model was made for."""

__all__ = [
    "BEFORE_BUILTIN",
    "BUILTIN",
    "BUILTIN_LANGUAGES",
    "DESCRIPTION",
    "FIRST_PAUSE",
    "PRESETS",
    "QUERY_SECONDS",
    "TOKENIZER",
    "BuiltinEmbedder",
    "Choice",
    "CircuitBreaker",
    "Embedder",
    "LexicalEmbedder",
    "LoadedModel",
    "LoadedTable",
    "ModelDescription",
    "Prompts",
    "Reranker",
    "Resources",
    "RetryPolicy",
    "TokenEmbedder",
    "TokenTable",
    "Tokeniser",
    "Vectors",
    "carried",
    "character_passages",
    "check_common",
    "checked_seconds",
    "checked_text",
    "checked_texts",
    "choose",
    "digest",
    "installed_models",
    "language_code",
    "length_sorted",
    "open_reranker",
    "origin_of",
    "read_checked",
    "service_address",
    "token_weights",
    "unit_means",
    "unit_rows",
    "well_formed",
    "without_secrets",
]
