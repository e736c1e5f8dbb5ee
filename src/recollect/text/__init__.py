"""How are words read? From a text to its terms, its language, and the kind of answer it asks for.

A text, whether a memory or a question, becomes terms here: cut into words (:mod:`~recollect.text.tokens`),
its language recognised (:mod:`~recollect.text.language`), function words left out
(:mod:`~recollect.text.stopwords`), endings removed (:mod:`~recollect.text.stems`), all put together by an
analyser (:mod:`~recollect.text.analysers`). What kind of answer a question wants is read here too
(:mod:`~recollect.text.query_type`), and so are the times that a text names (:mod:`~recollect.text.dates`),
the people and things it names (:mod:`~recollect.text.entities`), and whom those names mean
(:mod:`~recollect.text.resolution`). Everything is pure: the same text gives the same answer, anywhere.
"""

from typing import TYPE_CHECKING

from recollect._on_demand import on_demand

if TYPE_CHECKING:
    from recollect.text.analysers import ANALYSERS, Analyser, analyser
    from recollect.text.date_terms import date_terms
    from recollect.text.dates import (
        DATE_LANGUAGES,
        AnchorExtractor,
        AnchorReading,
        FallibleAnchors,
        RuleAnchors,
        TimeExpression,
        anchor,
        time_expressions,
    )
    from recollect.text.entities import RuleExtractor
    from recollect.text.folding import folded
    from recollect.text.known_names import KnownNames
    from recollect.text.language import DETECTED_LANGUAGES, detect
    from recollect.text.mentions import MENTION_KINDS, EntityExtractor, Extraction, Mention
    from recollect.text.query_type import (
        QUERY_TYPES,
        Classification,
        QueryClassifier,
        QueryType,
        RuleClassifier,
    )
    from recollect.text.resolution import Redirects, resolve, united
    from recollect.text.stems import STEMMED_LANGUAGES, stem, stems
    from recollect.text.stopwords import STOP_WORD_LANGUAGES, negations, stop_words
    from recollect.text.tokens import words

__getattr__, __dir__ = on_demand(
    __name__,
    {
        ".analysers": ("ANALYSERS", "Analyser", "analyser"),
        ".date_terms": ("date_terms",),
        ".dates": (
            "DATE_LANGUAGES",
            "AnchorExtractor",
            "AnchorReading",
            "FallibleAnchors",
            "RuleAnchors",
            "TimeExpression",
            "anchor",
            "time_expressions",
        ),
        ".entities": ("RuleExtractor",),
        ".folding": ("folded",),
        ".known_names": ("KnownNames",),
        ".language": ("DETECTED_LANGUAGES", "detect"),
        ".mentions": ("MENTION_KINDS", "EntityExtractor", "Extraction", "Mention"),
        ".query_type": ("QUERY_TYPES", "Classification", "QueryClassifier", "QueryType", "RuleClassifier"),
        ".resolution": ("Redirects", "resolve", "united"),
        ".stems": ("STEMMED_LANGUAGES", "stem", "stems"),
        ".stopwords": ("STOP_WORD_LANGUAGES", "negations", "stop_words"),
        ".tokens": ("words",),
    },
)

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
    "KnownNames",
    "Mention",
    "QueryClassifier",
    "QueryType",
    "Redirects",
    "RuleAnchors",
    "RuleClassifier",
    "RuleExtractor",
    "TimeExpression",
    "analyser",
    "anchor",
    "date_terms",
    "detect",
    "folded",
    "negations",
    "resolve",
    "stem",
    "stems",
    "stop_words",
    "time_expressions",
    "united",
    "words",
]
