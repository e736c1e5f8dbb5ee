"""What a tool answers: a sentence of ours, then as many whole rows of data as the token budget allows.

A tool's answer goes into the context of a language model, where every token costs and crowds out others. A
memory is shown whole or not at all, and what was left out is counted and named.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from memorata._frozen import frozen
from memorata.mcp.delimited import block, row

if TYPE_CHECKING:
    from memorata.model.memory import Memory

DEFAULT_BUDGET: Final = 1_500
LEAST_BUDGET: Final = 200
LARGEST_BUDGET: Final = 20_000

_MARK_BYTES: Final = 8
_USUAL_ID: Final = 36
_NAMED: Final = 3
"""How many of the memories that were left out are named, at most."""


@frozen
class Answer:
    """What goes back: a text, and the same as data where a tool promises it."""

    text: str
    data: dict[str, Any] | None = None


@frozen
class Row:
    """One row of data, and the memory it shows, if it shows one."""

    text: str
    memory: str | None = None


def plain(text: str) -> Answer:
    """Return an answer in our own words."""
    return Answer(text)


def told(intro: str, rows: Sequence[Row], budget: int) -> Answer:
    """Return an answer that takes no more than about `budget` tokens, all of its words counted.

    Each row in turn is shown if it fits in what is left, so that one long memory does not hide the others.

    Examples
    --------
    >>> long, short = Row('{"content": "' + "x" * 9_000 + '"}', "m1"), Row('{"content": "tea"}')
    >>> said = told("2 memories.", [long, short], 300)
    >>> lines = said.text.splitlines()
    >>> lines[1]
    '1 was left out to stay within 300 tokens: ask with a larger budget, or more narrowly.'
    >>> lines[4:6]
    ['{"content": "tea"}', '{"left_out": [{"id": "m1", "tokens": 2254}]}']
    """
    from memorata.engine.recall.recaller import tokens

    if not rows:
        return Answer(intro)
    usual = [(Row("", "0" * _USUAL_ID), LARGEST_BUDGET)] * _NAMED
    left = budget - tokens("\n".join((intro, block((), _mark), _omission(len(rows), budget))))
    reserved = tokens(_named(usual))
    shown: list[str] = []
    omitted: list[tuple[Row, int]] = []
    for each in rows:
        size = tokens(each.text + "\n")
        if size <= left - (reserved if omitted or each is not rows[-1] else 0):
            left -= size
            shown.append(each.text)
        else:
            omitted.append((each, size))
    parts = [intro]
    if omitted:
        parts.append(_omission(len(omitted), budget))
        named = [(each, size) for each, size in omitted if each.memory is not None][:_NAMED]
        while named and tokens(_named(named)) > reserved:
            named.pop()
        if named:
            shown.append(_named(named))
    if shown:
        parts.append(block(shown, _mark))
    return Answer("\n".join(parts))


def whole(intro: str, rows: Sequence[Row]) -> Answer:
    """Return an answer with all of its rows, however long."""
    return Answer(f"{intro}\n{block([each.text for each in rows], _mark)}")


def memory_row(memory: Memory, score: float | None = None) -> Row:
    """Return a memory as a row of data: its id, its text, and what else is known of it."""
    said = {
        "id": memory.id,
        "content": memory.content,
        "when": memory.event_time.isoformat(timespec="minutes"),
        "until": None if memory.valid_to is None else memory.valid_to.isoformat(timespec="minutes"),
        "category": memory.category,
        "tags": list(memory.tags),
        "speaker": memory.source.speaker,
        "session": memory.source.session,
        "superseded_by": memory.superseded_by,
        "score": None if score is None else round(score, 4),
    }
    return Row(row(said), memory.id)


def _omission(count: int, budget: int) -> str:
    were = "1 was" if count == 1 else f"{count} were"
    return f"{were} left out to stay within {budget} tokens: ask with a larger budget, or more narrowly."


def _named(omitted: Sequence[tuple[Row, int]]) -> str:
    """Return the row that names memories that were left out; an id may be anybody's text: data, too."""
    return row({"left_out": [{"id": each.memory, "tokens": size} for each, size in omitted]})


def _mark() -> str:
    return secrets.token_hex(_MARK_BYTES)
