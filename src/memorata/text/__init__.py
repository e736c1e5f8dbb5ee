"""How are words read? From a text to its terms, its language, its dates and names, and what it asks for.

A text, whether a memory or a query, becomes terms here: cut into words (:mod:`~memorata.text.tokens`), its
language recognised (:mod:`~memorata.text.language`), stop words left out (:mod:`~memorata.text.word_lists`)
and words stemmed, all put together by an analyser (:mod:`~memorata.text.analysers`). What kind of answer a
query wants is read here too (:mod:`~memorata.text.queries`), and so are the times that a text names
(:mod:`~memorata.text.dates`), the people and things it names (:mod:`~memorata.text.entities`), and whom those
names mean (:mod:`~memorata.text.known_names`). Everything is pure: the same text gives the same result,
anywhere.
"""

from typing import TYPE_CHECKING

from memorata._on_demand import on_demand

if TYPE_CHECKING:
    from memorata.text.analysers import ANALYSERS, STEMMED_LANGUAGES, Analyser, analyser
    from memorata.text.dates import (
        DATE_LANGUAGES,
        AnchorExtractor,
        AnchorReading,
        FallibleAnchors,
        RuleAnchors,
        TimeExpression,
        date_terms,
        time_expressions,
    )
    from memorata.text.entities import MENTION_KINDS, EntityExtractor, Extraction, Mention, RuleExtractor
    from memorata.text.known_names import Gazetteer, Redirects
    from memorata.text.language import DETECTED_LANGUAGES, detect
    from memorata.text.queries import (
        QUERY_TYPES,
        Classification,
        QueryClassifier,
        QueryType,
        RuleClassifier,
    )
    from memorata.text.tokens import folded, words
    from memorata.text.word_lists import STOP_WORD_LANGUAGES, negations, stop_words

_HOMES = {
    ".analysers": ("ANALYSERS", "STEMMED_LANGUAGES", "Analyser", "analyser"),
    ".dates": (
        *("DATE_LANGUAGES", "AnchorExtractor", "AnchorReading", "FallibleAnchors", "RuleAnchors"),
        *("TimeExpression", "date_terms", "time_expressions"),
    ),
    ".entities": ("MENTION_KINDS", "EntityExtractor", "Extraction", "Mention", "RuleExtractor"),
    ".known_names": ("Gazetteer", "Redirects"),
    ".language": ("DETECTED_LANGUAGES", "detect"),
    ".queries": ("QUERY_TYPES", "Classification", "QueryClassifier", "QueryType", "RuleClassifier"),
    ".word_lists": ("STOP_WORD_LANGUAGES", "negations", "stop_words"),
    ".tokens": ("folded", "words"),
}
__getattr__, __dir__ = on_demand(__name__, _HOMES)

__all__ = [
    "ANALYSERS",
    "DATE_LANGUAGES",
    "DETECTED_LANGUAGES",
    "MENTION_KINDS",
    "QUERY_TYPES",
    "STEMMED_LANGUAGES",
    "STOP_WORD_LANGUAGES",
    "Analyser",
    "AnchorExtractor",
    "AnchorReading",
    "Classification",
    "EntityExtractor",
    "Extraction",
    "FallibleAnchors",
    "Gazetteer",
    "Mention",
    "QueryClassifier",
    "QueryType",
    "Redirects",
    "RuleAnchors",
    "RuleClassifier",
    "RuleExtractor",
    "TimeExpression",
    "analyser",
    "date_terms",
    "detect",
    "folded",
    "negations",
    "stop_words",
    "time_expressions",
    "words",
]
