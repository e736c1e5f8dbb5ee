"""The roles that a language model can have beside rules, and the values that they return."""

from memorata.model.entity import Entity
from memorata.text.dates import AnchorReading, RuleAnchors, TimeExpression
from memorata.text.dates.calendar import FIRST_DAY, LAST_DAY, Days
from memorata.text.entities import Extraction, machine_names, non_overlapping
from memorata.text.known_names import Gazetteer
from memorata.text.queries import QUERY_TYPES, Classification, RuleClassifier

__all__ = [
    "FIRST_DAY",
    "LAST_DAY",
    "QUERY_TYPES",
    "AnchorReading",
    "Classification",
    "Days",
    "Entity",
    "Extraction",
    "Gazetteer",
    "RuleAnchors",
    "RuleClassifier",
    "TimeExpression",
    "machine_names",
    "non_overlapping",
]
