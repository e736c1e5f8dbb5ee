"""What reading a text for names gives, and the port of those who read: rules, a tagger, a language model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable

from memorata._frozen import frozen
from memorata.model import checks
from memorata.model.entity import Relation
from memorata.model.errors import InvalidArgument

if TYPE_CHECKING:
    from memorata.text.known_names import KnownNames

MENTION_KINDS: Final = (
    *("known", "name", "handle", "tag", "email", "url", "host", "ip", "path", "code", "id"),
    *("person", "organisation", "location", "event", "work", "product", "other"),
)
"""What a mention can be of: the first line by its form alone, the second where a model has said so."""


@frozen
class Mention:
    """A name in a text: ``source[start:end] == text``.

    Parameters
    ----------
    text
        The name as it stands there.
    kind
        One of :data:`MENTION_KINDS`.
    start, end
        Where it begins, and the first position after it.

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
    """What was read in one text.

    Parameters
    ----------
    mentions
        In the order of the text, never overlapping.
    relations
        Between names of the text; only a model reads these.
    failure
        Why nothing could be read, for a person; empty when all went well.
    """

    mentions: tuple[Mention, ...] = ()
    relations: tuple[Relation, ...] = ()
    failure: str = ""


@runtime_checkable
class EntityExtractor(Protocol):
    """Reads texts for names. It never raises over what a text says, or over a service that is away."""

    @property
    def name(self) -> str:
        """Identity of the reader, recorded with what it read."""
        ...

    def extract(self, texts: Sequence[str], known: KnownNames | None = None) -> list[Extraction]:
        """Return what is read in each text, given the names the namespace already knows."""
        ...


def apart(text: str, found: Iterable[tuple[int, int, str]]) -> tuple[Mention, ...]:
    """Return what several readers found, start, end and kind each, as mentions that do not overlap.

    Of those that do the longest stays; of equally long ones the one that was found first.

    Examples
    --------
    >>> [mention.text for mention in apart("Anna Keller", [(0, 4, "known"), (0, 11, "name")])]
    ['Anna Keller']
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
