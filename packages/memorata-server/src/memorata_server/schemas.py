"""The schemas of requests: typed, checked, and described for OpenAPI.

Unknown fields are refused, and no type is converted into another: a number is a number, a time a text. What
the engine checks by itself (a confidence above 1, a blank name) is left to it.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Final, Literal

from pydantic import (
    AliasChoices,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Strict,
    WithJsonSchema,
    model_validator,
)

from memorata import Period, Place
from memorata.extend.errors import InvalidArgument, NotGiven
from memorata.extend.json import recall_arguments
from memorata.extend.model import both_given, checks

MAX_TEXT: Final = 100_000
"""Most characters of a memory's content."""
MAX_WORD: Final = 1_000
"""Most characters of a name, a tag, a category, a link."""
MAX_QUERY: Final = 10_000
"""Most characters of a query."""
MAX_BATCH: Final = 1_000
"""Most memories, or ids, in one request."""
MAX_RESULTS: Final = 1_000
"""Most results in one answer."""
MAX_BUDGET: Final = 10_000_000
"""Most tokens of one answer."""
MAX_LIST: Final = 100
"""Most tags, entities or aliases of one thing."""
MAX_DIMENSION: Final = 16_384
"""Most numbers of a vector."""
MAX_VARIANTS: Final = 8
"""Most other wordings of one query."""
MAX_PARAMETERS: Final = 100
"""Most parameters of a recipe that one request changes."""


def _time(value: object) -> object:
    if isinstance(value, datetime):
        return value
    if not isinstance(value, str):
        raise ValueError("a time is a text such as 2026-05-07T18:30:00Z")
    try:
        moment = datetime.fromisoformat(value)
    except ValueError as error:
        raise ValueError("not a time such as 2026-05-07T18:30:00Z") from error
    if moment.tzinfo is None:
        raise ValueError("a time needs its zone: add Z for UTC, or an offset such as +02:00")
    return moment


Time = Annotated[
    AwareDatetime,
    BeforeValidator(_time),
    WithJsonSchema({"type": "string", "format": "date-time", "examples": ["2026-05-07T18:30:00Z"]}),
]
Number = Annotated[float, Strict(), Field(allow_inf_nan=False)]
Whole = Annotated[int, Strict()]
Flag = Annotated[bool, Strict()]
Word = Annotated[str, Field(max_length=MAX_WORD)]
Words = Annotated[list[Word], Field(max_length=MAX_LIST)]
Id = Annotated[
    str, Field(min_length=1, max_length=128, json_schema_extra={"pattern": f"^{checks.ID_PATTERN}$"})
]
Ids = Annotated[list[Id], Field(min_length=1, max_length=MAX_BATCH)]
Text = Annotated[str, Field(min_length=1, max_length=MAX_TEXT)]
Limit = Annotated[int, Field(ge=0, le=MAX_RESULTS)]
Conditions = Annotated[
    dict[str, Any],
    Field(
        description="Conditions on the memories, as plain data.",
        examples=[{"category": "preference", "confidence": {">=": 0.5}}],
    ),
]
Tier = Literal["working", "episodic", "semantic", "procedural"]
Strategy = Literal["keep_highest_confidence", "keep_most_recent", "merge", "keep_both"]


class RequestBody(BaseModel):
    """The body of a request; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")

    def set_fields(self) -> dict[str, Any]:
        """Return the fields that were sent, without those that were left out."""
        return self.model_dump(exclude_unset=True)


class SourceInput(RequestBody):
    """The source of a memory: speaker and role, session, position in it, and where to read it again."""

    speaker: Word = ""
    role: Annotated[
        Word, Field(description="user, assistant, tool, …; goes before the speaker where trust is decided.")
    ] = ""
    session: Word = ""
    position: Whole | None = None
    link: Word = ""


class PlaceInput(RequestBody):
    """A place, in degrees."""

    lat: Number
    lon: Number
    name: Word = ""


class MemoryDetails(RequestBody):
    """The fields of a memory beside its content."""

    category: Word = "fact"
    tier: Tier = "semantic"
    confidence: Number = 1.0
    importance: Number = 0.5
    pinned: Flag = False
    tags: Words = []
    metadata: dict[str, Any] = {}
    entities: Words = []
    place: PlaceInput | None = None
    valid_from: Time | None = None
    valid_to: Time | None = None
    expires_at: Time | None = None


class NewMemory(MemoryDetails):
    """A memory to write."""

    content: Text = Field(
        description="The text of the memory, verbatim.", examples=["Anna prefers green tea."]
    )
    id: Id | None = Field(None, description="An id of your own; generated if left out.")
    created_at: Time | None = Field(None, description="When it was learnt; now if left out.")
    source: SourceInput = SourceInput()
    untrusted: Flag = Field(False, description="Whether not to trust it, whatever its source.")
    supersedes: list[Id] = Field([], max_length=MAX_LIST, description="The memories that it replaces.")
    vector: list[Number] | None = Field(
        None, max_length=MAX_DIMENSION, description="Its vector by the server's embedder, if it is known."
    )
    embedder: Word = Field("", description="The embedder of the vector; refused if the server has another.")

    def set_fields(self) -> dict[str, Any]:
        """Return the fields that were sent; a null id or time counts as left out."""
        fields = super().set_fields()
        return {
            name: value for name, value in fields.items() if value is not None or name not in _NULL_IS_ABSENT
        }


_NULL_IS_ABSENT: Final = ("id", "created_at")


class NewMemories(RequestBody):
    """Memories to write, all or none."""

    items: list[NewMemory] = Field(min_length=1, max_length=MAX_BATCH)


class MemoryUpdate(MemoryDetails):
    """Fields of a memory to change; others stay as they are."""

    expected_version: Annotated[int, Field(ge=1)] | None = Field(
        None, strict=True, description="The version it was read at: if it is another by now, nothing changes."
    )

    @model_validator(mode="before")
    @classmethod
    def _without_content(cls, values: Any) -> Any:  # noqa: ANN401 - unchecked input
        if isinstance(values, dict) and "content" in values:
            raise InvalidArgument(
                "content",
                values["content"],
                "left out: a content stays as it is, and POST …/correct says something new",
            )
        return values


class Correction(MemoryDetails):
    """The memory that replaces another, of which it copies the fields that are left out."""

    content: str = Field(min_length=1, max_length=MAX_TEXT)


class KeyedMemory(Correction):
    """The memory to store under a key."""


class MemoryIds(RequestBody):
    """Memories by their ids."""

    ids: Ids


class SummaryDecision(MemoryIds):
    """Proposed summaries by their ids, and whether they become memories."""

    accepted: Flag


class TrustChange(MemoryIds):
    """Memories by their ids, and whether they are to be trusted."""

    trusted: Flag = Field(True, description="Whether their words count like the user's.")


class MemorySelection(RequestBody):
    """Memories to remove: by their ids, or all that pass a filter."""

    ids: Ids | None = None
    filter: Conditions | None = None
    dry_run: Flag = Field(False, description="Remove nothing, and return what would be removed.")

    @model_validator(mode="after")
    def _by_one_of_two(self) -> MemorySelection:
        if (self.ids is None) == (self.filter is None):
            raise NotGiven("ids or filter", "(one of the two, not both)")
        return self

    def selection(self) -> tuple[list[str], dict[str, Any]]:
        """Return the ids, and the filter by its name."""
        return self.ids or [], {} if self.filter is None else {"filter": self.filter}


_FORMER_QUERY: Final = ("question", "text")


class PeriodInput(RequestBody):
    """The period a query is about."""

    start: Time
    end: Time


class RecallRequest(RequestBody):
    """A query, and how to search for it."""

    query: str = Field(
        max_length=MAX_QUERY,
        validation_alias=AliasChoices("query", *_FORMER_QUERY),
        description="What to look for. `question` and `text`, its former names, are still understood.",
        examples=["what does Anna drink?"],
    )
    namespaces: list[Word] = Field(
        [], max_length=MAX_LIST, description="Several namespaces instead of one; acme/* is all below acme."
    )
    inherit: Flag = Field(False, description="Also search what is above each namespace, and linked.")
    limit: Annotated[int, Field(strict=True, ge=0, le=MAX_RESULTS)] = 10
    sessions: Flag = Field(False, description="Rank sessions instead of single memories.")
    recipe: Word | None = Field(None, description="The recipe; see /v1/recipes.")
    parameters: dict[str, Any] = Field(
        {}, max_length=MAX_PARAMETERS, description="Parameters of the recipe to change for this query."
    )
    filter: Conditions | None = None
    as_of: Time | None = Field(None, description="Recall what was believed at that time.")
    true_at: Time | None = Field(None, description="Recall what was true at that time.")
    period: PeriodInput | None = Field(None, description="The period the query is about.")
    since: Time | None = Field(None, description="Only memories of what happened from then on.")
    until: Time | None = Field(None, description="Only memories of what happened before then.")
    history: list[Annotated[str, Field(max_length=MAX_QUERY)]] = Field(
        [], max_length=100, description="The turns of the conversation before the query, oldest first."
    )
    near: PlaceInput | None = Field(None, description="Memories from near there count more.")
    budget: Annotated[int, Field(strict=True, ge=0, le=MAX_BUDGET)] | None = Field(
        None, description="How many tokens the hits may take together."
    )
    explain: Flag = Field(False, description="Explain the score of every hit.")
    min_confidence: Annotated[float, Field(strict=True, ge=0, le=1)] | None = Field(
        None,
        description="The least confidence of the result; below it the hits are in `refused`. "
        "Without it, what the recipe requires; with 0 nothing is refused.",
    )
    variants: list[Annotated[str, Field(max_length=MAX_QUERY)]] = Field(
        [],
        max_length=MAX_VARIANTS,
        description="The query in other words, to measure how far the results agree.",
    )
    fresh: Flag = Field(
        False, description="Include all earlier writes, where a replica may be a moment behind."
    )

    @model_validator(mode="before")
    @classmethod
    def _by_one_name(cls, values: Any) -> Any:  # noqa: ANN401 - unchecked input
        if isinstance(values, dict):
            names = [name for name in ("query", *_FORMER_QUERY) if name in values]
            if len(names) > 1:
                raise both_given(names[1], names[0], values[names[1]])
        return values

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of the engine's `recall`."""
        fields = {name: getattr(self, name) for name in _RECALL_FIELDS}
        if self.period is not None:
            fields["period"] = Period(self.period.start, self.period.end)
        if self.near is not None:
            fields["near"] = Place(self.near.lat, self.near.lon, self.near.name)
        return recall_arguments(self.query, fields)


_RECALL_FIELDS: Final = RecallRequest.model_fields.keys() - {"query", "namespaces", "inherit", "explain"}


class UndoImport(RequestBody):
    """An import to undo."""

    id: Id
    purge: Flag = Field(False, description="Purge what was imported, instead of forgetting it.")
    dry_run: Flag = False


class UndoRequest(RequestBody):
    """The run to undo; null for the latest."""

    run: Annotated[int, Field(strict=True, ge=0)] | None = None


class Decision(RequestBody):
    """The decision whether a newer memory contradicts an older one, and its reason."""

    newer: Id
    older: Id
    contradicts: Flag
    because: Word


class NewFeedback(RequestBody):
    """Feedback about a hit."""

    recall_id: Id
    memory_id: Id
    kind: Literal["thumbs", "rating", "relevant", "click"]
    value: Whole | Word | None = Field(
        None, description="up or down; 1 to 5; yes or no; nothing for a click.", union_mode="left_to_right"
    )


class Variant(RequestBody):
    """A variant of a recipe in an experiment."""

    name: Word
    weight: Number = Field(description="Its share of the users; all shares make 1.")
    settings: dict[str, Any] = Field({}, description="Parameters of the recipe that it changes.")


class NewExperiment(RequestBody):
    """An experiment to start."""

    name: Word
    variants: list[Variant] = Field(min_length=2, max_length=10)
    base: Word | None = Field(None, description="The recipe that the variants change.")
    method: Literal["split", "interleave"] = "split"
    least_users: Annotated[int, Field(strict=True, ge=2)] = 100
    least_days: Annotated[int, Field(strict=True, ge=1)] = 7


class ExperimentRecallRequest(RecallRequest):
    """A query of a user in an experiment."""

    user: Word


class NewRecipe(RequestBody):
    """A recipe to save: another one, with some parameters changed."""

    name: Word
    base: Word | None = Field(None, description="The recipe to begin with; the one in use if left out.")
    parameters: dict[str, Any] = Field({}, max_length=MAX_PARAMETERS)
    evidence: dict[str, Any] = Field({}, description="The evidence for it.")


class RecipeName(RequestBody):
    """The name of a recipe; null for the server's."""

    name: Word | None


class DuplicatesJob(RequestBody):
    """A search for duplicates; with `apply`, they are superseded."""

    strategy: Strategy = "keep_highest_confidence"
    paraphrases: Flag = Field(False, description="Whether paraphrases count; look before applying.")
    apply: Flag = Field(False, description="Whether to supersede; otherwise nothing is written.")
    keep: list[Id] | None = Field(
        None, max_length=MAX_BATCH, description="Only the groups in which one of these stays."
    )


class MaintenanceJob(RequestBody):
    """Maintenance: promote, demote, expire, summarise."""

    dry_run: Flag = False


class TuningJob(RequestBody):
    """A search for better parameters, judged by the feedback of the namespace."""

    recipe: Word | None = Field(None, description="The recipe to begin with; the one in use if left out.")
    grid: dict[str, list[Any]] | None = Field(
        None,
        max_length=10,
        description="By parameter, the values to try.",
        examples=[{"vector_weight": [0.3, 0.5]}],
    )
    metric: Word = "ndcg@10"
    thresholds: Literal["precision", "youden", "f1", "probability"] | None = Field(
        None, description="Tune the thresholds of the gate by this rule instead of a grid of parameters."
    )
    target: Annotated[float, Field(gt=0, lt=1)] = Field(
        0.9, description="The least precision, or probability, for these two rules."
    )
    save_as: Word | None = Field(None, description="Save the winner as a recipe of this name.")
    use: Flag = Field(False, description="Use it in this namespace from now on.")


class ReembedJob(RequestBody):
    """New vectors for everything, by the server's embedder."""

    dry_run: Flag = False
    keep_old: Flag = False
