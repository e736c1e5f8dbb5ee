"""The roles that rules or a language model can have: readers of names and times, classifier, writer, judge.

Rules are built in. The others are opened by satellites, by the form before the colon of a specification
(``chat:MODEL@ADDRESS``): an entry point is a function of the specification and a key for the service.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memorata import _satellites
from memorata.embed.trust import without_secrets
from memorata.model import checks
from memorata.model.errors import InvalidArgument
from memorata.text.dates import AnchorExtractor, RuleAnchors
from memorata.text.entities import EntityExtractor, RuleExtractor
from memorata.text.queries import QueryClassifier, RuleClassifier

if TYPE_CHECKING:
    from memorata.engine.consolidation import Writer as SummaryWriter
    from memorata.engine.duplicates import Judge


_FORMS: Final = {"chat": "chat:MODEL@ADDRESS", "spacy": "spacy:MODEL"}


def open_extractor(specification: str, api_key: str | None = None) -> EntityExtractor | None:
    """Return the reader of names: ``rules``, ``spacy:MODEL`` or ``chat:MODEL@ADDRESS``; None for ``none``."""
    if checks.text("extractor", specification) == "none":
        return None
    if specification == "rules":
        return RuleExtractor()
    extractor: EntityExtractor = _opened("extractors", "extractor", specification, api_key)
    return extractor


def open_classifier(specification: str, api_key: str | None = None) -> QueryClassifier:
    """Return the classifier of queries: ``rules`` or ``chat:MODEL@ADDRESS``."""
    if checks.text("classifier", specification) == "rules":
        return RuleClassifier()
    classifier: QueryClassifier = _opened("classifiers", "classifier", specification, api_key)
    return classifier


def open_summaries(specification: str, api_key: str | None = None) -> SummaryWriter | None:
    """Return the writer about communities: None for ``none``, or that of ``chat:MODEL@ADDRESS``."""
    if checks.text("summaries", specification) == "none":
        return None
    writer: SummaryWriter = _opened("summarisers", "summaries", specification, api_key)
    return writer


def open_anchors(specification: str, api_key: str | None = None) -> AnchorExtractor:
    """Return the reader of the time of a query: ``rules`` or ``chat:MODEL@ADDRESS``."""
    if checks.text("anchors", specification) == "rules":
        return RuleAnchors()
    anchors: AnchorExtractor = _opened("anchors", "anchors", specification, api_key)
    return anchors


def open_judge(specification: str, api_key: str | None = None) -> Judge:
    """Return the judge of contradictions behind ``chat:MODEL@ADDRESS``."""
    judge: Judge = _opened("judges", "judge", specification, api_key)
    return judge


def _opened(kind: str, setting: str, specification: str, api_key: str | None) -> Any:  # noqa: ANN401 - by kind
    opener = _satellites.opener(kind, specification)
    if opener is None:
        *names, last = (
            "none" if kind == "summarisers" else "rules",
            *map(_FORMS.get, _satellites.OPENED[kind]),
        )
        expected = f"{', '.join(map(repr, names))} or {last!r}"
        raise InvalidArgument(setting, without_secrets(specification), expected)
    return opener(specification, api_key)
