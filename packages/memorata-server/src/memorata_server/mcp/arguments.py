"""The arguments of the tools: each with its meaning and its bounds, as a model reads them.

Values are taken as they are: a number that comes as text is refused, and so is an argument that no tool has.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import (
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
    model_validator,
)

from memorata_server.mcp.answers import DEFAULT_BUDGET, MAX_BUDGET, MIN_BUDGET

Id = Annotated[str, Field(min_length=1, max_length=128, pattern=r"^\S+$")]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Word = Annotated[str, Field(min_length=1, max_length=60)]
Text = Annotated[str, Field(min_length=1, max_length=100_000, pattern=r"\S")]
Budget = Annotated[
    int,
    Field(
        ge=MIN_BUDGET,
        le=MAX_BUDGET,
        description="About how many tokens the answer may take, in whole memories.",
    ),
]
Value = Annotated[int, Field(ge=-1_000_000, le=1_000_000)] | Annotated[float, Field(ge=-1e6, le=1e6)]
Limit = Annotated[int, Field(ge=1, le=50, description="How many at most.")]


def _moment(value: object) -> object:
    """Read a time as ISO 8601 alone: to pydantic, the text 2026 is some minutes after 1970 began."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError as error:
            raise ValueError("not a time such as 2026-05-07T18:30:00Z") from error
    if not isinstance(value, datetime):
        raise ValueError("a time is a text such as 2026-05-07T18:30:00Z")
    if value.tzinfo is None:
        raise ValueError("a time needs its zone, and a day its hour: such as 2026-05-07T18:30:00Z")
    return value


Time = Annotated[
    AwareDatetime,
    BeforeValidator(_moment),
    Field(description="ISO 8601 with a zone, such as 2026-05-07T18:30:00Z."),
]


class Point(BaseModel):
    """Degrees."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    lat: Annotated[float, Field(ge=-90, le=90)]
    lon: Annotated[float, Field(ge=-180, le=180)]


class Arguments(BaseModel):
    """The arguments of a tool."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    former_names: ClassVar[dict[str, str]] = {}
    """Names that arguments had before, and which they have now. They are still understood, but not listed."""

    @model_validator(mode="before")
    @classmethod
    def _by_present_names(cls, values: Any) -> Any:  # noqa: ANN401 - whatever came
        if not isinstance(values, dict) or not cls.former_names.keys() & values.keys():
            return values
        for old, new in cls.former_names.items():
            if old in values and new in values:
                raise ValueError(f"{old} is the name that {new} had before: leave it out")
        return {cls.former_names.get(name, name): value for name, value in values.items()}

    @classmethod
    def schema_for_clients(cls) -> dict[str, Any]:
        """Return the JSON Schema that clients see."""
        schema: dict[str, Any] = _shortened(cls.model_json_schema())
        return _without(schema, "description")


class Remember(Arguments):
    """What to remember."""

    former_names = {"text": "content", "about": "entities", "happened_at": "valid_from"}

    content: Text = Field(
        description="One fact, preference, decision or event, complete in itself: names, not 'he' or 'it'."
    )
    category: Word = Field("fact", description="fact, preference, decision, event, task, …")
    tags: list[Word] = Field([], max_length=20, description="Words to filter by later.")
    entities: list[Name] = Field(
        [], max_length=20, description="Who and what it is about, beside names in the text."
    )
    importance: float = Field(0.5, ge=0, le=1, description="From 0, a remark, to 1, vital.")
    confidence: Annotated[float, Field(ge=0, le=1)] | None = Field(
        None, description="How sure it is, from 0 to 1, if you know."
    )
    tier: Literal["working", "episodic", "semantic", "procedural"] | None = Field(
        None,
        description="working: for now; episodic: events; semantic: facts; procedural: how-to.",
    )
    place: Point | None = Field(None, description="Where it is or happened.")
    valid_from: Time | None = Field(
        None, description="When it happened or began to hold, if not now: ISO 8601 with a zone."
    )
    expires_at: Time | None = Field(None, description="When it should stop being recalled.")
    speaker: str = Field(
        "",
        max_length=200,
        description="Who said it: user, assistant, a person's name, or the tool or page that it is from.",
    )
    session: str = Field("", max_length=200, description="The conversation it was said in.")


class Recall(Arguments):
    """What to look for."""

    former_names = {"question": "query"}

    query: Annotated[str, Field(min_length=1, max_length=4_000)] = Field(
        description='What you want to know, in plain words. A "quoted phrase" counts extra; -word excludes.'
    )
    limit: Limit = 10
    budget: Budget = DEFAULT_BUDGET
    namespaces: list[Annotated[str, Field(min_length=1, max_length=200)]] = Field(
        [],
        max_length=20,
        description="Instead of your own: acme/api; acme/* is acme and all below it.",
    )
    inherit: bool = Field(False, description="Also what is above, and what is linked.")
    category: Word | None = Field(None, description="Only memories of this category.")
    tags: list[Word] = Field([], max_length=20, description="Only memories with one of these tags.")
    since: Time | None = Field(None, description="Only what happened from then on: ISO 8601 with a zone.")
    until: Time | None = Field(None, description="Only what happened before then.")
    history: list[Annotated[str, Field(max_length=4_000)]] = Field(
        [],
        max_length=20,
        description="The last turns of this conversation, oldest first, to resolve pronouns.",
    )
    as_of: Time | None = Field(None, description="Answer with what was believed at that moment.")
    recipe: Word | None = Field(
        None,
        description="How to search, by name: confident also tells how far several ways of asking agree; "
        "a re-ranker reads the best of precise.",
    )
    parameters: Annotated[
        dict[Word, bool | Value | Word], WithJsonSchema({"type": "object", "maxProperties": 20})
    ] = Field({}, max_length=20, description='Changes to it: {"vector_weight": 0.7}.')
    near: Point | None = Field(None, description="Memories from near there count more.")
    variants: list[Annotated[str, Field(min_length=1, max_length=4_000)]] = Field(
        [],
        max_length=8,
        description="The same question in other words; tells how far the results agree.",
    )
    min_confidence: Annotated[float, Field(ge=0, le=1)] | None = Field(
        None, description="Show nothing if the query is less likely about what is stored."
    )
    refused: bool = Field(False, description="Also show what was refused as unlikely, marked.")


class Briefing(Arguments):
    """How much to tell."""

    budget: Budget = DEFAULT_BUDGET


class Correct(Arguments):
    """What to say instead of what."""

    former_names = {"text": "content"}

    id: Id = Field(description="The memory that is wrong or out of date, as recall showed it.")
    content: Text = Field(description="What is right, complete in itself.")


class Forget(Arguments):
    """What to forget."""

    ids: list[Id] = Field(min_length=1, max_length=50, description="The memories, as recall showed them.")


class Feedback(Arguments):
    """What a recalled memory was worth."""

    former_names = {"id": "memory_id"}

    recall_id: Id = Field(description="The recall_id that recall answered with.")
    memory_id: Id = Field(description="The memory, as that recall showed it.")
    kind: Literal["relevant", "rating", "thumbs", "click"] = Field(
        description="What the value says: if it helped to answer, a rating, a thumb; or that it was used."
    )
    value: Annotated[int, Field(ge=1, le=5)] | Literal["yes", "no", "up", "down"] | None = Field(
        None,
        description="For relevant yes or no; for a rating from 1, useless, to 5; for thumbs up or down.",
    )

    @model_validator(mode="before")
    @classmethod
    def _irrelevant(cls, values: Any) -> Any:  # noqa: ANN401 - whatever came
        # What this tool called not relevant before.
        if isinstance(values, dict) and values.get("kind") == "irrelevant" and values.get("value") is None:
            return {**values, "kind": "relevant", "value": "no"}
        return values


_EMPTY: Final[tuple[object, ...]] = (None, "", [], {}, False)


def _shortened(schema: Any) -> Any:  # noqa: ANN401 - any part of a JSON Schema
    """Return a schema that accepts the same from a model that leaves out what it does not need.

    Titles repeat the names of arguments, and a client pays for every word in every conversation. An argument
    that may be null may as well be left out, so neither null nor an empty default is listed.
    """
    if isinstance(schema, list):
        return [_shortened(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    parts = {
        name: _shortened(part)
        for name, part in schema.items()
        if not (name == "title" and isinstance(part, str))
        and not (name == "default" and part in _EMPTY)
        and name not in ("minLength", "pattern")
    }
    if "anyOf" in parts:
        choices = [choice for choice in parts["anyOf"] if choice != {"type": "null"}]
        parts = {**parts, "anyOf": choices} if len(choices) > 1 else choices[0] | _without(parts, "anyOf")
    return parts


def _without(values: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key != name}
