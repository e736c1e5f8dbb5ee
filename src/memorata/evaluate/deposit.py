"""A haystack as memories: what the engine is given of it, and the way back from its hits.

The engine sees texts, speakers, times and places in a session, under ids and session names of this file's own
making. So neither a label nor an identifier of the set can reach it, whatever a reader of data sets lets
through.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from memorata._frozen import frozen
from memorata.evaluate.collection import Document, Haystack
from memorata.model.errors import InvalidArgument
from memorata.model.memory import Memory, Source

UNDATED: Final = datetime(2000, 1, 1, tzinfo=UTC)
"""When documents without a time are said to be from, so that every run is the same."""


@frozen
class Deposit:
    """The memories of a haystack.

    Parameters
    ----------
    memories
        What to remember, in the order of the haystack.
    moment
        The time of the engine's clock, and of questions that have none: that of the last document.
    documents, sessions
        The set's id of each document, and of its session, by the id of its memory.

    Examples
    --------
    >>> from memorata.evaluate.collection import Document
    >>> said = Document("answer_7", "Anna likes tea.", speaker="Bob", session="answer_s", position=0)
    >>> given = deposit(Haystack("h", (said,), ()))
    >>> given.memories[0].id, given.memories[0].source.session, given.documents["m1"]
    ('m1', 's1', 'answer_7')
    """

    memories: tuple[Memory, ...]
    moment: datetime
    documents: dict[str, str]
    sessions: dict[str, str]


def deposit(haystack: Haystack) -> Deposit:
    """Return a haystack as memories.

    Raises
    ------
    InvalidArgument
        Two documents have the same id, or one says nothing.
    """
    moment = max((each.when for each in haystack.documents if each.when is not None), default=UNDATED)
    names: dict[str, str] = {}
    memories: list[Memory] = []
    documents: dict[str, str] = {}
    sessions: dict[str, str] = {}
    seen: set[str] = set()
    for number, document in enumerate(haystack.documents, 1):
        if document.id in seen:
            raise InvalidArgument(f"haystack {haystack.id}", document.id, "documents with ids of their own")
        seen.add(document.id)
        id_ = f"m{number}"
        session = names.setdefault(document.session, f"s{len(names) + 1}") if document.session else ""
        memories.append(
            Memory(
                id=id_,
                content=text(document),
                created_at=UNDATED if document.when is None else document.when,
                source=Source(speaker=document.speaker, session=session, position=document.position),
            )
        )
        documents[id_] = document.id
        sessions[id_] = document.session
    return Deposit(tuple(memories), moment, documents, sessions)


def text(document: Document) -> str:
    r"""Return what is remembered of a document: its title, unless the text repeats it, and the text.

    Titles are read with the text, as the makers of BEIR and of the multi-hop sets do; the engine has no field
    for them.

    Examples
    --------
    >>> text(Document("d", "Rain fell.", title="Weather")), text(Document("d", "Rain fell.", title="Rain"))
    ('Weather\nRain fell.', 'Rain fell.')
    """
    if not document.title or document.text.casefold().startswith(document.title.casefold()):
        return document.text
    return f"{document.title}\n{document.text}" if document.text.strip() else document.title
