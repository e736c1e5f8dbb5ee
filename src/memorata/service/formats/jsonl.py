"""Memorata's own format: a JSON object per line, each a memory, an entity or a relation.

This is what ``memorata export`` writes. A line that is just a text is a memory that says that.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator
from typing import Any

from memorata.service.formats.record import Record, is_declaration


def lines(data: bytes) -> Iterator[tuple[int, Any, str]]:
    """Yield the number of every line that is not blank, its JSON value, and what is wrong with it."""
    for number, raw in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if raw.strip():
            yield number, *_parse(raw)


def records(data: bytes) -> Iterator[Record]:
    """Yield the records of the lines; ids are those that they bring."""
    for number, value, problem in lines(data):
        yield _record(number, value, problem)


def record(number: int, raw: bytes) -> Record:
    """Return the record of one line."""
    return _record(number, *_parse(raw))


def _parse(raw: bytes) -> tuple[Any, str]:
    """Return the JSON value of a line, and what is wrong with it."""
    try:
        return json.loads(raw.decode()), ""
    except UnicodeDecodeError:
        return None, "not UTF-8"
    except json.JSONDecodeError as error:
        return None, f"not JSON: {error.msg} at character {error.pos + 1}"
    except (ValueError, RecursionError) as error:
        return None, f"not JSON that can be read: {error}"


def _record(number: int, value: Any, problem: str) -> Record:  # noqa: ANN401 - any JSON
    if isinstance(value, str):
        value = {"content": value}
    if problem:
        return Record(number, problem=problem)
    if not isinstance(value, dict):
        return Record(number, problem="neither a JSON object nor a text")
    if is_declaration(value) or "content" in value:
        return Record(number, value)
    return Record(number, problem=f"no content{nearest_key(value)}")


def nearest_key(value: dict[str, Any]) -> str:
    """Return a hint for an object that calls its content something else."""
    for key in value:
        if key in ("text", "memory", "body", "message") or difflib.get_close_matches(key, ["content"]):
            return f"; its key {key} should be content"
    return ""
