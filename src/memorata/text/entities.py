"""Entity extraction: the names in a text, the results, and the port of extractors.

The rules work offline, fast and in any script. Three of them look at a text, and where they overlap the
longest mention stays: names that the namespace knows (:mod:`memorata.text.gazetteer`), names that machines
gave (:mod:`memorata.text.machine_names`), and capitalised names (:mod:`memorata.text.capitalised_names`).
Dates are read elsewhere (:mod:`memorata.text.dates`). The rules are measured on a labelled list in the tests;
a tagger or a language model can take their place behind the same port, :class:`EntityExtractor`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Final, NamedTuple, Protocol, runtime_checkable

from memorata._frozen import frozen
from memorata.model import checks
from memorata.model.entity import Relation
from memorata.model.errors import InvalidArgument
from memorata.text.gazetteer import Gazetteer
from memorata.text.language import detect

MENTION_KINDS: Final = (
    *("known", "name", "handle", "tag", "email", "url", "host", "ip", "path", "code", "id"),
    *("person", "organisation", "location", "event", "work", "product", "other"),
)
"""What a mention can be of: the first line by its form alone, the second as models tell them apart."""

_EMBEDDED = re.compile(r"(?:data:[\w/+.-]*;)?base64,[A-Za-z0-9+/=]+")
"""A file inside the text: no name, and long."""
_SIGNS_OF_NAMES = frozenset('@#_/\\`(.:"-ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789')
_NO_SIGNS = bytes(code for code in range(256) if chr(code) not in _SIGNS_OF_NAMES)
"""What an ASCII text without a capital, a digit or one of a few marks consists of."""


@frozen
class Mention:
    """A name in a text, ``source[start:end] == text``, of one of :data:`MENTION_KINDS`.

    Examples
    --------
    >>> Mention("Anna", "name", 6, 10).kind
    'name'
    """

    text: str
    kind: str
    start: int
    end: int

    def __post_init__(self) -> None:
        if not checks.text("text", self.text).strip():
            raise InvalidArgument("text", self.text, "a name that is not blank")
        checks.one_of("kind", self.kind, MENTION_KINDS)
        checks.whole("start", self.start)
        if checks.whole("end", self.end) - self.start != len(self.text):
            raise InvalidArgument("end", self.end, f"start + the length of the text ({len(self.text)})")


@frozen
class Extraction:
    """What was read in one text."""

    mentions: tuple[Mention, ...] = ()
    """In the order of the text, never overlapping."""
    relations: tuple[Relation, ...] = ()
    """Between names of the text; only a model reads these."""
    failure: str = ""
    """Why nothing could be read, for a person; empty when all went well."""


@runtime_checkable
class EntityExtractor(Protocol):
    """Reads texts for names. It never raises over a text, or a service that does not answer."""

    @property
    def name(self) -> str:
        """Identity of the reader, recorded with what it read."""
        ...

    def extract(self, texts: Sequence[str], gazetteer: Gazetteer | None = None) -> list[Extraction]:
        """Return what is read in each text, given the names the namespace already knows."""
        ...


_NOTHING: Final = Extraction()


class RuleExtractor:
    """Reads names by rules; `default` is the language of a text too short to tell.

    Examples
    --------
    >>> reader = RuleExtractor()
    >>> [(m.text, m.kind) for m in reader.mentions("Yesterday Anna pinged @ben about UAV-001.")]
    [('Anna', 'name'), ('@ben', 'handle'), ('UAV-001', 'id')]
    """

    def __init__(self, default: str = "english") -> None:
        detect("", default)
        self._default = default

    @property
    def name(self) -> str:
        """Identity of the rules; the number changes when they do."""
        return "rules-1"

    def extract(self, texts: Sequence[str], gazetteer: Gazetteer | None = None) -> list[Extraction]:
        """Return the mentions of each text; rules read no relations, and never fail."""
        contents = checks.texts("texts", texts)
        if gazetteer is not None and not isinstance(gazetteer, Gazetteer):
            raise InvalidArgument("gazetteer", gazetteer, "a Gazetteer")
        names = gazetteer or None
        mentions = (
            () if names is None and _has_no_sign(text) else self._read(text, names) for text in contents
        )
        return [Extraction(several) if several else _NOTHING for several in mentions]

    def mentions(self, text: str, gazetteer: Gazetteer | None = None) -> tuple[Mention, ...]:
        """Return the mentions of one text, in order."""
        return self.extract([checks.text("text", text)], gazetteer)[0].mentions

    def _read(self, text: str, gazetteer: Gazetteer | None) -> tuple[Mention, ...]:
        """Return the mentions of a text that may have some; `gazetteer` is None where it is empty."""
        readable = _EMBEDDED.sub(lambda data: "\0" * len(data.group()), text) if "base64," in text else text
        spans = [(*span, "known") for span in gazetteer.spans(readable)] if gazetteer is not None else []
        by_form = list(_rules().machine_names(readable))
        spans += by_form
        running = _without(readable, by_form) if by_form else readable
        if any(map(str.isalpha, running)):
            spans += [(*span, "name") for span in self._names(running)]
        return non_overlapping(text, spans) if spans else ()

    def _names(self, text: str) -> Iterator[tuple[int, int]]:
        # Without a capital, a name can only stand in quotation marks, in whatever language.
        if text.islower():
            return _rules().quoted_titles(text)
        return _rules().capitalised_names(text, detect(text, self._default))


class _Rules(NamedTuple):
    machine_names: Callable[[str], Iterator[tuple[int, int, str]]]
    quoted_titles: Callable[[str], Iterator[tuple[int, int]]]
    capitalised_names: Callable[[str, str], Iterator[tuple[int, int]]]


@cache
def _rules() -> _Rules:
    """Load the rules with the first text that may have a name: a recall needs none of them."""
    from memorata.text.capitalised_names import capitalised_names, quoted_titles
    from memorata.text.machine_names import machine_names

    return _Rules(machine_names, quoted_titles, capitalised_names)


def _has_no_sign(text: str) -> bool:
    """Return whether a text surely has no name that rules could read, checked cheaply."""
    return text.isascii() and not text.encode().translate(None, _NO_SIGNS) and "localhost" not in text


def _without(text: str, spans: list[tuple[int, int, str]]) -> str:
    """Return `text` with what is already read struck out, so that positions stay the same."""
    pieces, at = [], 0
    for start, end, _ in spans:
        pieces += [text[at:start], "\0" * (end - start)]
        at = end
    return "".join([*pieces, text[at:]])


def non_overlapping(text: str, found: Iterable[tuple[int, int, str]]) -> tuple[Mention, ...]:
    """Return what several readers found, start, end and kind each, as mentions that do not overlap.

    Of those that do the longest stays; of equally long ones the one that was found first.
    """
    spans = list(found)
    if len(spans) == 1:
        ((start, end, kind),) = spans
        return (Mention(text[start:end], kind, start, end),)
    spans.sort(key=lambda span: span[0] - span[1])
    taken = bytearray(len(text))
    kept = []
    for start, end, kind in spans:
        if not any(taken[start:end]):
            taken[start:end] = b"\1" * (end - start)
            kept.append(Mention(text[start:end], kind, start, end))
    return tuple(sorted(kept, key=lambda mention: mention.start))
