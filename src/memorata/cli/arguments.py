"""From what people type to what the engine takes: times, JSON, parameters, ids, and the nearest name."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from memorata.engine import Engine
    from memorata.model.memory import Memory
    from memorata.model.parameter import Parameter
    from memorata.model.period import Period
    from memorata.model.place import Place

_YES: Final = ("true", "yes", "on", "1")
_NO: Final = ("false", "no", "off", "0")
_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_PIECE: Final = 4
"""Fewest characters of an id that are looked up; fewer would fit by accident."""
_WHOLE: Final = 36
"""Characters of a whole id of a recall."""
_RECALLS: Final = 1000
"""How many of the latest recalls are looked through for a piece of an id."""


def chosen(option: str, word: str, choices: Sequence[str]) -> str:
    """Return one of the choices, or raise with the nearest one."""
    from memorata.model.checks import nearest
    from memorata.model.errors import InvalidArgument

    if word not in choices:
        raise InvalidArgument(option, word, f"one of {', '.join(choices)}{nearest(word, choices)}")
    return word


def words(parts: Sequence[str]) -> str:
    """Return the words of an argument as one text; a single ``-`` stands for standard input.

    Examples
    --------
    >>> words(["Anna", "likes", "tea"])
    'Anna likes tea'
    """
    from memorata.model.errors import InvalidArgument

    text = " ".join(parts)
    try:
        if list(parts) == ["-"]:
            # A mark at the beginning says how bytes are to be read, and was never said.
            given = sys.stdin.buffer.read().decode("utf-8-sig")
            return given.replace("\r\n", "\n").replace("\r", "\n")
        if any("\ud800" <= character <= "\udfff" for character in text):
            # Bytes that the locale cannot read; the simplest locale of all reads ASCII alone.
            return os.fsencode(text).decode()
    except UnicodeError as error:
        shown = error.object if isinstance(error, UnicodeDecodeError) else text
        raise InvalidArgument("the text", shown, "UTF-8") from error
    return text


def instant(option: str, text: str | None) -> datetime | None:
    """Return a time given in ISO 8601; a day alone is its midnight in UTC.

    Examples
    --------
    >>> instant("--as-of", "2026-05-07")
    datetime.datetime(2026, 5, 7, 0, 0, tzinfo=datetime.timezone.utc)
    >>> instant("--as-of", "2026-05-07T12:00+02:00").hour
    12
    """
    from memorata.service.codec import time_from_json

    return None if text is None else time_from_json(option, text)


def period_of(option: str, text: str | None) -> Period | None:
    """Return a period given as ``FROM..TO``, or as one day; a day at its end counts whole.

    Examples
    --------
    >>> may = period_of("--period", "2026-05-01..2026-05-31")
    >>> may.start.isoformat(), may.end.isoformat()
    ('2026-05-01T00:00:00+00:00', '2026-05-31T23:59:59.999999+00:00')
    """
    from memorata.model.errors import InvalidArgument
    from memorata.model.period import Period

    if text is None:
        return None
    first, _, last = text.partition("..") if ".." in text else (text, "", text)
    start, end = instant(option, first.strip()), instant(option, last.strip())
    assert start is not None  # only no text gives no time
    assert end is not None
    if _DAY.fullmatch(last.strip()):
        end += timedelta(days=1, microseconds=-1)
    if end < start:
        raise InvalidArgument(option, text, "FROM..TO with TO at or after FROM")
    return Period(start, end)


def place_of(option: str, text: str | None) -> Place | None:
    """Return a place given as ``LAT,LON`` or ``LAT,LON,NAME``, in degrees.

    Examples
    --------
    >>> place_of("--place", "48.857,2.352,Paris")
    Place(lat=48.857, lon=2.352, name='Paris')
    """
    from memorata.model.errors import InvalidArgument
    from memorata.model.place import Place

    if text is None:
        return None
    lat, _, rest = text.partition(",")
    lon, _, name = rest.partition(",")
    try:
        numbers = float(lat), float(lon)
    except ValueError as error:
        raise InvalidArgument(option, text, "degrees such as 48.857,2.352,Paris") from error
    return Place(*numbers, name.strip())


def json_object(option: str, text: str | None, example: str = '{"tags": "tea"}') -> dict[str, Any] | None:
    """Return a JSON object; the example is shown to who gives something else.

    Examples
    --------
    >>> json_object("--filter", '{"category": "preference"}')
    {'category': 'preference'}
    """
    from memorata.model.errors import InvalidArgument

    if text is None:
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        problem = (
            f" ({error.msg} at character {error.pos + 1})" if isinstance(error, json.JSONDecodeError) else ""
        )
        raise InvalidArgument(option, text, f"JSON such as '{example}'{problem}") from error
    if not isinstance(value, dict):
        raise InvalidArgument(option, text, f"a JSON object such as '{example}'")
    return value


def changes(
    settings: Sequence[str], parameters: Sequence[Parameter], option: str = "--set"
) -> dict[str, Any]:
    """Return the recipe parameters that ``--set name=value`` changes, each in its own type.

    The option is named in what is said about mistakes.

    Examples
    --------
    >>> from memorata.engine.recipes.recipe import PARAMETERS
    >>> changes(["vector_weight=0.7", "deduplicate=no", "fusion=rrf"], PARAMETERS)
    {'vector_weight': 0.7, 'deduplicate': False, 'fusion': 'rrf'}
    """
    from memorata.model.checks import nearest
    from memorata.model.errors import InvalidArgument

    known = {parameter.name: parameter for parameter in parameters}
    found: dict[str, Any] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        name = name.strip().replace("-", "_")
        if not equals:
            raise InvalidArgument(option, setting, "name=value, such as vector_weight=0.7")
        if name not in known:
            raise InvalidArgument(option, name, f"a parameter of the recipe{nearest(name, known)}")
        found[name] = _typed(known[name], value.strip(), option)
    return found


def ranged(parameter: Parameter) -> str:
    """Return what a parameter may be, in few words.

    Examples
    --------
    >>> from memorata.engine.recipes.recipe import PARAMETERS
    >>> [ranged(parameter) for parameter in PARAMETERS if parameter.name in ("b", "deduplicate", "coverage")]
    ['0 to 1', 'none, item or leg', 'yes or no']
    """
    if parameter.choices:
        return " or ".join(filter(None, (", ".join(parameter.choices[:-1]), parameter.choices[-1])))
    if parameter.type is bool:
        return "yes or no"
    whole = "whole, " if parameter.type is int else ""
    return f"{whole}{parameter.low:g} to {parameter.high:g}"


def _typed(parameter: Parameter, text: str, option: str) -> object:
    from memorata.engine.recipes.recipe import checked
    from memorata.model.errors import InvalidArgument

    option = f"{option} {parameter.name}"
    if parameter.choices:
        return chosen(option, text, parameter.choices)
    value: object = text
    try:
        if parameter.type is bool:
            value = {**dict.fromkeys(_YES, True), **dict.fromkeys(_NO, False)}[text.lower()]
        else:
            value = parameter.type(text)
        return checked(parameter, value)
    except (KeyError, ValueError) as error:
        raise InvalidArgument(option, value, ranged(parameter)) from error


def found_memory(engine: Engine, piece: str) -> Memory:
    """Return the memory with an id, or the only one whose id has that piece in it.

    Raises
    ------
    MemoryNotFound
        There is none.
    InvalidArgument
        There are several.
    """
    from memorata.model.errors import InvalidArgument, MemoryNotFound

    try:
        return engine.get(piece)
    except MemoryNotFound:
        if len(piece) < _PIECE:
            raise
        alike = engine.list(filter={"id": {"contains": piece}}, limit=4, hidden=True).memories
        if not alike:
            raise
    if len(alike) > 1:
        ids = ", ".join(memory.id for memory in alike[:3]) + (", …" if len(alike) > 3 else "")
        raise InvalidArgument("id", piece, f"a piece of one id only; it is in {ids}")
    return alike[0]


def file_to_write(name: str, *, force: bool) -> Path:
    """Return the path of a file that may be written: one that is not there yet, or that may be replaced.

    Raises
    ------
    InvalidArgument
        It is a folder, or there already.
    """
    from memorata.model.errors import InvalidArgument

    path = Path(name)
    if path.is_dir():
        raise InvalidArgument("FILE", name, "a file; this is a folder")
    if path.exists() and not force:
        raise InvalidArgument("FILE", name, "a file that is not there yet, or --force given")
    return path


def found_recall(engine: Engine, piece: str) -> str:
    """Return the id of a logged recall: as it was given, or the only one of the latest that has this piece.

    Raises
    ------
    InvalidArgument
        There are several.
    """
    from memorata.model.errors import InvalidArgument

    if not _PIECE <= len(piece) < _WHOLE:
        return piece
    alike = [each.id for each in engine.feedback.recalls(limit=_RECALLS) if piece in each.id]
    if len(alike) > 1:
        ids = ", ".join(alike[:3]) + (", …" if len(alike) > 3 else "")
        raise InvalidArgument("RECALL", piece, f"a piece of one id only; it is in {ids}")
    return alike[0] if alike else piece
