"""What requests bring and answers hold, as OpenAPI describes them: the parts that many share.

Unknown fields are refused. A number is a number and a time a text: nothing is read as something else. What
the engine checks by itself (a confidence above 1, a blank name) is left to it.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Final, Literal

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, Strict, WithJsonSchema

from memorata.http.limits import BATCH, LIST, RESULTS, TEXT, WORD
from memorata.model.place import Place


def _time(value: object) -> object:
    if isinstance(value, datetime):
        return value
    if not isinstance(value, str):
        raise ValueError("a time is a text such as 2026-05-07T18:30:00Z")
    try:
        found = datetime.fromisoformat(value)
    except ValueError as error:
        raise ValueError("not a time such as 2026-05-07T18:30:00Z") from error
    if found.tzinfo is None:
        raise ValueError("a time needs its zone: add Z for UTC, or an offset such as +02:00")
    return found


Time = Annotated[
    AwareDatetime,
    BeforeValidator(_time),
    WithJsonSchema({"type": "string", "format": "date-time", "examples": ["2026-05-07T18:30:00Z"]}),
]
Number = Annotated[float, Strict(), Field(allow_inf_nan=False)]
Whole = Annotated[int, Strict()]
Flag = Annotated[bool, Strict()]
Word = Annotated[str, Field(max_length=WORD)]
Words = Annotated[list[Word], Field(max_length=LIST)]
Id = Annotated[str, Field(min_length=1, max_length=128)]
Ids = Annotated[list[Id], Field(min_length=1, max_length=BATCH)]
Text = Annotated[str, Field(min_length=1, max_length=TEXT)]
Limit = Annotated[int, Field(ge=0, le=RESULTS)]
Conditions = Annotated[
    dict[str, Any],
    Field(
        description="Conditions on the memories, as plain data.",
        examples=[{"category": "preference", "confidence": {">=": 0.5}}],
    ),
]
Tier = Literal["working", "episodic", "semantic", "procedural"]


class Given(BaseModel):
    """What a request brings; what nobody knows is refused."""

    model_config = ConfigDict(extra="forbid")

    def given(self) -> dict[str, Any]:
        """Return what was given, without what was left out."""
        return self.model_dump(exclude_unset=True)


class SourceGiven(Given):
    """Who said it, in which session, at which turn of it, and where to read it again."""

    speaker: Word = ""
    session: Word = ""
    position: Whole | None = None
    link: Word = ""


class PlaceGiven(Given):
    """Where it was, in degrees."""

    lat: Number
    lon: Number
    name: Word = ""

    def place(self) -> Place:
        """Return the place."""
        return Place(self.lat, self.lon, self.name)


class Known(Given):
    """What may be known about a memory beside what was said."""

    category: Word = "fact"
    tier: Tier = "semantic"
    confidence: Number = 1.0
    importance: Number = 0.5
    pinned: Flag = False
    tags: Words = []
    metadata: dict[str, Any] = {}
    entities: Words = []
    place: PlaceGiven | None = None
    valid_from: Time | None = None
    valid_to: Time | None = None
    expires_at: Time | None = None


class MemoryGiven(Known):
    """Something to remember."""

    content: Text = Field(description="What was said, verbatim.", examples=["Anna prefers green tea."])
    id: Id | None = Field(None, description="A name of your own; made for you if left out.")
    created_at: Time | None = Field(None, description="When it was learnt; now if left out.")
    source: SourceGiven = SourceGiven()
    supersedes: list[Id] = Field([], max_length=LIST, description="The memories it takes the place of.")

    def given(self) -> dict[str, Any]:
        """Return what was given; a null id or time is as good as none."""
        found = super().given()
        return {name: value for name, value in found.items() if value is not None or name not in _OPTIONAL}


_OPTIONAL: Final = ("id", "created_at")


class SourceShown(BaseModel):
    """Who said it, where and when."""

    speaker: str
    session: str
    position: int | None
    link: str


class PlaceShown(BaseModel):
    """Where it was."""

    lat: float
    lon: float
    name: str


class MemoryShown(BaseModel):
    """A memory."""

    id: str
    content: str
    created_at: datetime
    namespace: str
    category: str
    tier: Tier
    confidence: float
    importance: float
    pinned: bool
    tags: list[str]
    metadata: dict[str, Any]
    source: SourceShown
    entities: list[str]
    place: PlaceShown | None
    valid_from: datetime | None
    valid_to: datetime | None
    expires_at: datetime | None
    supersedes: list[str]
    superseded_by: str | None
    mentions: int
    supported_at: datetime | None
    access_count: int
    last_accessed_at: datetime | None
    version: int
    fingerprint: str
    embedder: str


class MemoriesShown(BaseModel):
    """Memories."""

    memories: list[MemoryShown]


class Done(BaseModel):
    """How many things were changed."""

    done: int
