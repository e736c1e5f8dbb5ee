"""Options and arguments that several commands take, and how their texts become values of the engine."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from typer import Argument, Option

from memorata.model.errors import InvalidArgument, MemoryNotFound

if TYPE_CHECKING:
    from memorata.engine import Engine, Recipe
    from memorata.model.entity import Period, Place
    from memorata.model.memory import Memory
    from memorata.model.parameter import Parameter

TRUE: Final = ("true", "yes", "on", "1")
FALSE: Final = ("false", "no", "off", "0")
TIERS: Final = ("working", "episodic", "semantic", "procedural")
_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_MIN_ID_PART: Final = 4
"""Fewest characters of an id that are looked up; fewer would match by accident."""
_RECALL_ID_LENGTH: Final = 36
_MAX_RECALLS: Final = 1000
"""How many of the latest recalls are looked through for a part of an id."""


def recipe_names(incomplete: str) -> list[str]:
    """Return the shipped recipes that begin so, for the shell."""
    from memorata.engine.recipes import RECIPES

    return [name for name in RECIPES if name.startswith(incomplete)]


def parameter_names(incomplete: str) -> list[str]:
    """Return the parameters that begin so, for the shell."""
    from memorata.engine.recipes import PARAMETERS

    return [f"{parameter.name}=" for parameter in PARAMETERS if parameter.name.startswith(incomplete)]


# --- memories -----------------------------------------------------------------------------------------
MemoryId = Annotated[str, Argument(metavar="ID", help="The memory: its id, or a part of it.")]
MemoryIds = Annotated[list[str], Argument(metavar="ID", help="The memories: their ids, or parts of them.")]

# --- search -------------------------------------------------------------------------------------------
Query = Annotated[list[str], Argument(metavar="QUERY", help="What to search for; - reads stdin.")]
Limit = Annotated[int, Option("--limit", "-l", help="How many at most.")]
Filter = Annotated[dict[str, Any] | None, Option("--filter", "-f", help="Only memories that meet it.")]
AsOf = Annotated[datetime | None, Option("--as-of", help="What was believed at that time.")]
RecipeName = Annotated[
    str | None,
    Option("--recipe", "-r", help="The recipe; see memorata recipes.", autocompletion=recipe_names),
]
Changes = Annotated[
    list[str] | None,
    Option(
        "--set",
        metavar="NAME=VALUE",
        help="Change a parameter of the recipe; repeatable.",
        autocompletion=parameter_names,
    ),
]
Since = Annotated[datetime | None, Option("--since", help="Only from that time on.")]

# --- what a command may do ----------------------------------------------------------------------------
DryRun = Annotated[bool, Option("--dry-run", help="Show what would happen, and change nothing.")]
Yes = Annotated[bool, Option("--yes", "-y", help="Do not ask.")]
Force = Annotated[bool, Option("--force", help="Overwrite an existing file.")]
AllNamespaces = Annotated[bool, Option("--all-namespaces", help="Every namespace, not only this one.")]
OutputFile = Annotated[str, Argument(metavar="[FILE]", help="Where to write; - is standard output.")]
Plot = Annotated[Path | None, Option("--plot", metavar="FOLDER", help="Draw it, as SVG files.")]


def one_of(option: str, word: str, choices: Sequence[str]) -> str:
    """Return one of the choices, or raise with the nearest one."""
    from memorata.model.checks import nearest

    if word not in choices:
        raise InvalidArgument(option, word, f"one of {', '.join(choices)}{nearest(word, choices)}")
    return word


def text_of(words: Sequence[str]) -> str:
    """Return the words of an argument as one text; a single ``-`` stands for standard input."""
    text = " ".join(words)
    try:
        if list(words) == ["-"]:
            # A byte order mark is no part of the text.
            data = sys.stdin.buffer.read().decode("utf-8-sig")
            return data.replace("\r\n", "\n").replace("\r", "\n")
        if any("\ud800" <= character <= "\udfff" for character in text):
            # Bytes that the locale cannot decode; the C locale decodes ASCII alone.
            return os.fsencode(text).decode()
    except UnicodeError as error:
        value = error.object if isinstance(error, UnicodeDecodeError) else text
        raise InvalidArgument("the text", value, "UTF-8") from error
    return text


def time_of(option: str, text: str | None, *, end: bool = False) -> datetime | None:
    """Return a time given in ISO 8601; a day alone is its midnight in UTC, or with `end` the next."""
    from memorata.service.codec import time_from_json

    if text is None:
        return None
    moment = time_from_json(option, text)
    return moment + timedelta(days=1) if end and _DAY.fullmatch(text.strip()) else moment


def period_of(option: str, text: str | None) -> Period | None:
    """Return a period given as ``FROM..TO``, or as one day; a day at its end counts whole."""
    from memorata.model.entity import Period

    if text is None:
        return None
    first, _, last = text.partition("..") if ".." in text else (text, "", text)
    start, end = time_of(option, first.strip()), time_of(option, last.strip())
    assert start is not None  # only no text gives no time
    assert end is not None
    if _DAY.fullmatch(last.strip()):
        end += timedelta(days=1, microseconds=-1)
    if end < start:
        raise InvalidArgument(option, text, "FROM..TO with TO at or after FROM")
    return Period(start, end)


def place_of(option: str, text: str | None) -> Place | None:
    """Return a place given as ``LAT,LON`` or ``LAT,LON,NAME``, in degrees."""
    from memorata.model.entity import Place

    if text is None:
        return None
    lat, _, rest = text.partition(",")
    lon, _, name = rest.partition(",")
    try:
        degrees = float(lat), float(lon)
    except ValueError as error:
        raise InvalidArgument(option, text, "degrees such as 48.857,2.352,Paris") from error
    return Place(*degrees, name.strip())


def json_object(option: str, text: str | None) -> dict[str, Any] | None:
    """Return a JSON object; the message about anything else shows an example."""
    if text is None:
        return None
    example = '{"page": 12}' if option == "--metadata" else '{"tags": "tea"}'
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


def parameter_values(settings: Sequence[str] | None, option: str = "--set") -> dict[str, Any]:
    """Return the recipe parameters that ``name=value`` texts set, each in its own type."""
    from memorata.engine.recipes import PARAMETERS
    from memorata.model.checks import nearest

    parameters = {parameter.name: parameter for parameter in PARAMETERS}
    values: dict[str, Any] = {}
    for setting in settings or ():
        name, equals, value = setting.partition("=")
        name = name.strip().replace("-", "_")
        if not equals:
            raise InvalidArgument(option, setting, "name=value, such as vector_weight=0.7")
        if name not in parameters:
            hint = nearest(name, parameters) or " (memorata recipes NAME lists them)"
            raise InvalidArgument(option, name, f"a parameter of the recipe{hint}")
        values[name] = _typed(parameters[name], value.strip(), option)
    return values


def _typed(parameter: Parameter, text: str, option: str) -> object:
    option = f"{option} {parameter.name}"
    if parameter.choices:
        return one_of(option, text, parameter.choices)
    value: object = text
    try:
        if parameter.type is bool:
            value = {**dict.fromkeys(TRUE, True), **dict.fromkeys(FALSE, False)}[text.lower()]
        else:
            value = parameter.type(text)
        return parameter.checked(value)
    except (KeyError, ValueError) as error:
        raise InvalidArgument(option, value, parameter.range) from error


def recipe_of(engine: Engine, option: str, name: str | None) -> Recipe:
    """Return the recipe of that name, shipped or saved; without one, the one in use."""
    from memorata.engine.recipes import RECIPES

    if name is not None and name not in RECIPES:
        saved = [recipe.recipe.name for recipe in engine.admin.recipes.list()]
        one_of(option, name, (*RECIPES, *saved))
    return engine.admin.recipes.get(name)


def memory_of(engine: Engine, part: str) -> Memory:
    """Return the memory with an id, or the only one whose id contains `part`; raise if several do."""
    try:
        return engine.get(part)
    except MemoryNotFound:
        if len(part) < _MIN_ID_PART:
            raise
        matches = engine.list(filter={"id": {"contains": part}}, limit=4, hidden=True).memories
        if not matches:
            raise
    if len(matches) > 1:
        raise _ambiguous("id", part, [memory.id for memory in matches])
    return matches[0]


def ids_of(engine: Engine, parts: Sequence[str] | None) -> list[str]:
    """Return the whole ids of memories that are named by their ids or parts of them."""
    return [memory_of(engine, part).id for part in parts or ()]


def recall_id_of(engine: Engine, part: str) -> str:
    """Return the id of a logged recall: `part` itself, or the only one of the latest that contains it."""
    if not _MIN_ID_PART <= len(part) < _RECALL_ID_LENGTH:
        return part
    matches = [recall.id for recall in engine.admin.feedback.recalls(limit=_MAX_RECALLS) if part in recall.id]
    if len(matches) > 1:
        raise _ambiguous("RECALL", part, matches)
    return matches[0] if matches else part


def _ambiguous(argument: str, part: str, matches: Sequence[str]) -> InvalidArgument:
    ids = ", ".join(matches[:3]) + (", …" if len(matches) > 3 else "")
    return InvalidArgument(argument, part, f"a part of one id only; it is in {ids}")


def new_file(name: str, *, force: bool) -> Path:
    """Return the path of a file that may be written: a new one, or with `force` an existing one."""
    path = Path(name)
    if path.is_dir():
        raise InvalidArgument("FILE", name, "a file; this is a folder")
    if path.exists() and not force:
        raise InvalidArgument("FILE", name, "a file that is not there yet, or --force given")
    return path
