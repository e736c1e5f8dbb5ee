"""What an evaluation is made of: haystacks of documents, and questions whose answers lie in them.

Every reader of a data set returns these, and nothing else reaches the runner. Labels live in questions only,
and identifiers are opaque (:func:`opaque`), because some sets give the answer away in their ids.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import field
from datetime import datetime
from typing import Protocol

from memorata._frozen import frozen


@frozen
class Document:
    """One text to be remembered: a turn, a paragraph, an abstract.

    Parameters
    ----------
    id
        Opaque, and unique in its haystack.
    text
        What was said or written.
    title
        The title, where the set has one.
    when
        When it was said; aware.
    speaker
        Who said it: a name, or "user" and "assistant".
    session, position
        The opaque session it belongs to and its place in it; empty and None where there are none.
    """

    id: str
    text: str
    title: str = ""
    when: datetime | None = None
    speaker: str = ""
    session: str = ""
    position: int | None = None


@frozen
class Question:
    """One question with its labels, which the engine never sees.

    Parameters
    ----------
    id
        Unique in the set; also the query id in run files.
    text
        The question.
    kind
        The type the set gives it, for tables by type; empty if none.
    when
        When it was asked; aware.
    relevant
        Gains of the relevant documents by id; documents not named have none.
    relevant_sessions
        The same by session.
    answerable
        Whether the haystack holds the answer at all; those that it does not are for measuring abstention.
    """

    id: str
    text: str
    kind: str = ""
    when: datetime | None = None
    relevant: Mapping[str, float] = field(default_factory=dict)
    relevant_sessions: Mapping[str, float] = field(default_factory=dict)
    answerable: bool = True


@frozen
class Haystack:
    """Documents that are searched together, and the questions about them."""

    id: str
    documents: tuple[Document, ...]
    questions: tuple[Question, ...]


class Dataset(Protocol):
    """A data set that can be read again and again, a haystack at a time."""

    @property
    def name(self) -> str:
        """What it is called in tables, with the options it was read with."""
        ...

    @property
    def sha256(self) -> str:
        """The hash of the file as it lies on disk; of several, the hash of their hashes by name."""
        ...

    @property
    def dropped(self) -> Mapping[str, int]:
        """How many questions were left out, by reason, once the set has been read."""
        ...

    def haystacks(self) -> Iterator[Haystack]:
        """Yield the haystacks in the order of the file."""
        ...

    def __len__(self) -> int:
        """How many haystacks there are."""
        ...


def opaque(kind: str, *parts: object) -> str:
    """Return an identifier that says nothing: a hash of what it stands for.

    Examples
    --------
    >>> opaque("session", "question 7", "answer_8c0712af_1")
    's-04d6eaf8a68a'
    """
    digest = hashlib.sha256("\0".join((kind, *map(str, parts))).encode()).hexdigest()
    return f"{kind[0]}-{digest[:12]}"
