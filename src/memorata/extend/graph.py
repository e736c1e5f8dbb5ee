"""A graph is made of these: declared names, links between memories, and consistent views of a namespace."""

from memorata.engine.consolidation import Writer
from memorata.engine.recall.query import UNDONE_ALIAS, undone_aliases
from memorata.engine.runtime import Runtime
from memorata.engine.write.drafts import built_place
from memorata.engine.write.names import Names
from memorata.index.lexical import LexicalQuery
from memorata.index.record import NOWHERE, Records, visible
from memorata.index.search import NamespaceIndex
from memorata.model.entity import MENTIONS, NEXT, OWN_TYPES, SUPERSEDES, Entity, relation_type
from memorata.rank.bm25 import BM25
from memorata.rank.distance import EARTH_RADIUS, haversines
from memorata.store.entities import EntityRecord
from memorata.store.entries import Hidden, Terms
from memorata.text.analysers import Analyser
from memorata.text.known_names import NameMatcher, alias_of
from memorata.text.tokens import contains_any
from memorata.text.word_lists import STOP_WORD_LANGUAGES, negations, stop_words

__all__ = [
    "BM25",
    "EARTH_RADIUS",
    "MENTIONS",
    "NEXT",
    "NOWHERE",
    "OWN_TYPES",
    "STOP_WORD_LANGUAGES",
    "SUPERSEDES",
    "UNDONE_ALIAS",
    "Analyser",
    "Entity",
    "EntityRecord",
    "Hidden",
    "LexicalQuery",
    "NameMatcher",
    "Names",
    "NamespaceIndex",
    "Records",
    "Runtime",
    "Terms",
    "Writer",
    "alias_of",
    "built_place",
    "contains_any",
    "haversines",
    "negations",
    "relation_type",
    "stop_words",
    "undone_aliases",
    "visible",
]
