"""The schemas of answers, as OpenAPI describes them; :mod:`memorata.extend.json` makes the answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from datetime import datetime
from typing import Any, TypeVar, cast, get_type_hints

from pydantic import BaseModel, Field, create_model

from memorata import Feedback, Memory, Place
from memorata.extend.duplicates import Contradiction, Run
from memorata.extend.model import Source
from memorata.extend.recall import Measure, RecalledPeriod, Section
from memorata.extend.transfer import ImportCounts, Imported
from memorata.extend.transfer import Undone as UndoneImport
from memorata_server.schemas import Tier, Variant

_Answer = TypeVar("_Answer", bound=BaseModel)


def fields_of(kind: type) -> Callable[[type[_Answer]], type[_Answer]]:
    """Give an answer the fields of a dataclass, in its order; those that the answer declares itself win."""

    def derived(answer: type[_Answer]) -> type[_Answer]:
        types = get_type_hints(kind)
        declared: dict[str, Any] = {field.name: (types[field.name], ...) for field in fields(kind)}
        declared |= {name: (field.annotation, field) for name, field in answer.model_fields.items()}
        return cast("type[_Answer]", create_model(answer.__name__, __doc__=answer.__doc__, **declared))

    return derived


def list_of(item: type[BaseModel], key: str, doc: str, name: str = "") -> type[BaseModel]:
    """Return an answer that is a list of items under one key, after which it is named unless by `name`."""
    declared: dict[str, Any] = {key: (list[item], ...)}  # type: ignore[valid-type]
    return create_model(name or f"{key.capitalize()}Answer", __doc__=doc, **declared)


@fields_of(Source)
class SourceAnswer(BaseModel):
    """The source of a memory."""


@fields_of(Place)
class PlaceAnswer(BaseModel):
    """Where it was."""


@fields_of(Memory)
class MemoryAnswer(BaseModel):
    """A memory."""

    tier: Tier
    source: SourceAnswer
    place: PlaceAnswer | None


class MemoriesAnswer(BaseModel):
    """Memories."""

    memories: list[MemoryAnswer]


class DoneAnswer(BaseModel):
    """How many items were changed."""

    done: int


class ForgetAnswer(DoneAnswer):
    """How many memories were forgotten, or in a dry run the ids of those that would be."""

    would_forget: list[str] | None = None


class PurgeAnswer(DoneAnswer):
    """How many memories were removed, or in a dry run the ids of those that would be."""

    would_purge: list[str] | None = None


class RememberedAnswer(MemoriesAnswer):
    """The memories, and how many of them existed already by their ids."""

    known: int


class MemoryPageAnswer(MemoriesAnswer):
    """Memories, the newest first, and the cursor of the next page."""

    cursor: str | None


class HitAnswer(BaseModel):
    """A memory that answers, its score, and how likely it answers."""

    id: str
    score: float = Field(description="Relative to the other candidates of the query; hits are ordered by it.")
    confidence: float = Field(description="How likely it answers the query, from 0 to 1, calibrated.")
    refused: bool = Field(description="Whether the gate refused it.")
    memory: MemoryAnswer
    reason: str | None = Field(None, description="The reason in one sentence; only if `explain`.")
    explanation: dict[str, Any] | None = Field(
        None, description="A tree whose parts make up exactly the score; only if `explain`."
    )


class SessionAnswer(BaseModel):
    """A session, its score, and the ids of its best memories."""

    session: str
    score: float
    hits: list[str]


class ShortfallAnswer(BaseModel):
    """A threshold that was missed."""

    measure: Measure = Field(
        description="A cosine, a share of the best match, a confidence, an agreement, a support, or how "
        "likely the memories answer."
    )
    value: float | None = Field(description="None for a similarity that was not measured.")
    least: float


class EarlierAnswer(BaseModel):
    """A hit that a newer memory contradicts."""

    id: str
    newer: str
    reason: str
    text: str = Field(description="The text of the newer one, if it is no hit and the query has no filter.")


class RejectedAnswer(BaseModel):
    """The best candidate that was rejected, and the thresholds it missed."""

    id: str
    score: float = Field(description="Relative to the other candidates: the best of weak ones may have 1.")
    reason: str
    missed: list[ShortfallAnswer]


class AgreementAnswer(BaseModel):
    """How far several samples of one query agree."""

    confidence: float
    support: dict[str, float] = Field(description="By memory, the share of the samples that returned it.")
    samples: list[str] = Field(description="The query of each sample.")
    refused: str = Field(description="Why nothing is shown; empty where something is.")


@fields_of(RecalledPeriod)
class PeriodAnswer(BaseModel):
    """The period that a query names, and what the recall did with it."""

    note: str = Field(description="What was done with it, in words.")


class RecallAnswer(BaseModel):
    """The result of a recall."""

    recall_id: str = Field(
        description="What feedback about a hit refers to; empty where recalls are not logged."
    )
    confidence: float = Field(description="How likely the query is about what is stored, from 0 to 1.")
    support: float = Field(
        description="How well the best candidate stands by itself, from 0 to 1: to compare queries by."
    )
    hits: list[HitAnswer]
    refused: list[HitAnswer] = Field(description="The hits that the gate refused; none of them is in `hits`.")
    sessions: list[SessionAnswer]
    degraded: list[str] = Field(description="The steps that could not run as they should.")
    rejected: RejectedAnswer | None
    history: list[EarlierAnswer]
    recipe: str
    embedder: str
    omitted: int = Field(description="How many hits did not fit in the budget.")
    milliseconds: dict[str, float]
    methods: dict[str, str] = Field(description="How each leg searched.")
    agreement: AgreementAnswer | None = Field(description="Of recipes that compare several searches.")
    period: PeriodAnswer | None = Field(description="None where the query names no period.")
    aliases: dict[str, str] = Field(
        description="Words of the query that were read as the name of a speaker, and of which one."
    )
    meant: list[str] = Field(description="The entities that pronouns of the query were taken to mean.")


class BriefingItemAnswer(BaseModel):
    """A memory of a briefing."""

    section: Section
    memory: MemoryAnswer


class BriefingAnswer(BaseModel):
    """What to know before the first query."""

    items: list[BriefingItemAnswer]
    text: str = Field(description="The same in lines.")
    tokens: int
    omitted: int = Field(description="How many memories did not fit in the budget.")


class RemovedAnswer(BaseModel):
    """How many were removed."""

    removed: int


@fields_of(Run)
class DuplicateRunAnswer(BaseModel):
    """A run that superseded duplicates."""


DuplicateRunsAnswer = list_of(DuplicateRunAnswer, "runs", "Runs, the latest first.", "DuplicateRunsAnswer")


class UndoneAnswer(BaseModel):
    """The memories that are current again, and those that stay superseded by something newer."""

    reinstated: list[str]
    left: list[str]


@fields_of(Contradiction)
class ContradictionAnswer(BaseModel):
    """A note that a newer memory may contradict an older one, and the decision."""


ContradictionsAnswer = list_of(
    ContradictionAnswer, "contradictions", "Contradictions, in the order in which they were noticed."
)


class SummaryAnswer(BaseModel):
    """A proposed summary, and the memories it was made from."""

    id: str
    content: str
    sources: list[str]


SummariesAnswer = list_of(SummaryAnswer, "summaries", "Proposed summaries.")


@fields_of(Feedback)
class FeedbackAnswer(BaseModel):
    """Feedback about a hit."""

    signal: str


class FeedbackListAnswer(BaseModel):
    """Feedback, in the order in which it was given."""

    feedback: list[FeedbackAnswer]
    more: bool


class LoggedRecallAnswer(BaseModel):
    """A logged recall: the query, and the ids of the hits shown, best first."""

    recall_id: str
    at: datetime
    query: str | None
    recipe: str
    embedder: str
    candidates: int
    shown: list[str]
    milliseconds: dict[str, float]


RecallLogAnswer = list_of(LoggedRecallAnswer, "recalls", "Recalls, the latest first.", "RecallLogAnswer")


class ExperimentAnswer(BaseModel):
    """An experiment, with its state in answers about one."""

    name: str
    base: str
    method: str
    variants: list[Variant]
    least_users: int
    least_days: int
    started: datetime
    stopped: datetime | None
    winner: str | None = None
    reason: str = ""
    recommendation: dict[str, Any] | None = None
    preference: dict[str, Any] | None = None


ExperimentsAnswer = list_of(ExperimentAnswer, "experiments", "Experiments, the latest first.")


class ParameterAnswer(BaseModel):
    """A parameter of a recipe, its value and its range."""

    name: str
    value: Any
    type: str
    low: float | None
    high: float | None
    choices: list[str]
    doc: str
    group: str


class RecipeAnswer(BaseModel):
    """A recipe and its parameters."""

    name: str
    doc: str
    parameters: list[ParameterAnswer]


class SavedRecipeAnswer(RecipeAnswer):
    """A saved recipe of a namespace, in its latest version, and the evidence for it."""

    evidence: dict[str, Any]
    saved_at: datetime
    versions: int
    in_use: bool


class RecipesAnswer(BaseModel):
    """The recipes, shipped and saved, and the one that is used where a query names none."""

    recipes: list[RecipeAnswer]
    saved: list[SavedRecipeAnswer]
    default: str


class LineProblem(BaseModel):
    """A line that could not be imported."""

    line: int
    problem: str


@fields_of(ImportCounts)
class ImportAnswer(BaseModel):
    """The result of an import: new memories, entities and relations, and how many existed already."""

    import_id: str
    failed: int
    problems: list[LineProblem]


@fields_of(Imported)
class ImportedAnswer(BaseModel):
    """An import that can be undone."""

    at: str


ImportsAnswer = list_of(ImportedAnswer, "imports", "The imports into a namespace that were not undone.")


@fields_of(UndoneImport)
class UndoneImportAnswer(BaseModel):
    """What undoing an import removed, or would: memories by namespace, and how many relations."""


class JobAnswer(BaseModel):
    """A job, as it is now."""

    id: str
    kind: str
    namespace: str
    created_at: datetime
    state: str
    done: int
    total: int | None
    note: str
    result: dict[str, Any] | None
    problem: str


JobsAnswer = list_of(JobAnswer, "jobs", "Jobs, the newest first.")
