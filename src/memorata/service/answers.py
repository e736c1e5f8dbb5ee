"""What answers hold, as OpenAPI describes it; :mod:`memorata.service.codec` makes them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field

from memorata.engine.briefing import Section
from memorata.engine.recall.result import Measure
from memorata.service.schemas import Tier, Variant


class SourceAnswer(BaseModel):
    """The source of a memory."""

    speaker: str
    session: str
    position: int | None
    link: str
    via: str


class PlaceAnswer(BaseModel):
    """Where it was."""

    lat: float
    lon: float
    name: str


class MemoryAnswer(BaseModel):
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
    source: SourceAnswer
    entities: list[str]
    place: PlaceAnswer | None
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


class MemoriesAnswer(BaseModel):
    """Memories."""

    memories: list[MemoryAnswer]


class DoneAnswer(BaseModel):
    """How many things were changed."""

    done: int


class ForgetAnswer(DoneAnswer):
    """How many memories were forgotten, or the ids of all that would be."""

    would_forget: list[str] | None = None


class PurgeAnswer(DoneAnswer):
    """How many memories were removed, or the ids of all that would be."""

    would_purge: list[str] | None = None


class RememberedAnswer(MemoriesAnswer):
    """What was remembered, and how many had been known already by their ids."""

    known: int


class MemoryPageAnswer(MemoriesAnswer):
    """Memories, the newest first, and where the list goes on."""

    cursor: str | None


class HitAnswer(BaseModel):
    """A memory that answers, its score, and how likely it answers."""

    id: str
    score: float = Field(description="Relative to the other candidates of the query; hits are ordered by it.")
    confidence: float = Field(description="How likely it answers the query, from 0 to 1, calibrated.")
    memory: MemoryAnswer
    reason: str | None = Field(None, description="Why it is here, in one sentence; only if `explain`.")
    explanation: dict[str, Any] | None = Field(
        None, description="A tree whose parts make up exactly the score; only if `explain`."
    )


class SessionAnswer(BaseModel):
    """A session that answers, and the ids of the memories that speak for it."""

    session: str
    score: float
    hits: list[str]


class ShortfallAnswer(BaseModel):
    """A threshold that was missed."""

    measure: Measure = Field(
        description="A cosine, a share of the best match, a confidence, an agreement, a support, or how "
        "likely one of the first five hits answers."
    )
    value: float | None = Field(description="None for a meaning that nobody has measured yet.")
    least: float


class EarlierAnswer(BaseModel):
    """A hit that a newer memory contradicts, as was noted."""

    id: str
    newer: str
    reason: str
    text: str = Field(description="What the newer one says, if it is no hit and nothing was filtered.")


class RejectedAnswer(BaseModel):
    """The best memory that was not good enough, and what it missed."""

    id: str
    score: float = Field(description="Relative to the other candidates: the best of a bad lot may have 1.")
    reason: str
    missed: list[ShortfallAnswer]


class AgreementAnswer(BaseModel):
    """How far several samples of one query agree."""

    confidence: float
    support: dict[str, float] = Field(description="By memory, the share of the samples that found it.")
    samples: list[str] = Field(description="How each was asked.")
    refused: str = Field(description="Why nothing is shown; empty where something is.")


class RecallAnswer(BaseModel):
    """The result of a recall."""

    recall_id: str = Field(
        description="What feedback about a hit refers to; empty where recalls are not logged."
    )
    confidence: float = Field(
        description="How likely one of the first five hits answers, from 0 to 1; 0 without hits."
    )
    support: float = Field(
        description="How well the best candidate stands by itself, from 0 to 1: to compare queries by."
    )
    hits: list[HitAnswer]
    sessions: list[SessionAnswer]
    degraded: list[str] = Field(description="What could not be done as it should.")
    rejected: RejectedAnswer | None
    history: list[EarlierAnswer]
    recipe: str
    embedder: str
    omitted: int = Field(description="How many hits did not fit in the budget.")
    milliseconds: dict[str, float]
    methods: dict[str, str] = Field(description="How the store searched, by vectors and words.")
    agreement: AgreementAnswer | None = Field(description="Of recipes that ask in several ways.")
    standing: list[MemoryAnswer] = Field(
        description="What holds whatever is asked, where that was asked for."
    )


class BriefingItemAnswer(BaseModel):
    """A memory of a briefing."""

    section: Section
    memory: MemoryAnswer


class BriefingAnswer(BaseModel):
    """What to know before anything is asked."""

    items: list[BriefingItemAnswer]
    text: str = Field(description="The same in lines.")
    tokens: int
    omitted: int = Field(description="How many memories did not fit in the budget.")


class RemovedAnswer(BaseModel):
    """How many there were."""

    removed: int


class RepeatAnswer(BaseModel):
    """That a memory says what another one says, and was superseded for that."""

    memory_id: str
    of: str
    kind: str
    reason: str
    at: datetime
    mentions: int
    confidence: float | None
    supported_at: datetime | None
    run: int | None


class RepeatsAnswer(BaseModel):
    """The repeats of a memory."""

    repeats: list[RepeatAnswer]


class DuplicateRunAnswer(BaseModel):
    """A run that superseded duplicates."""

    number: int
    started_at: datetime
    finished_at: datetime | None
    undone_at: datetime | None
    strategy: str
    repeats: int


class DuplicateRunsAnswer(BaseModel):
    """Runs, the latest first."""

    runs: list[DuplicateRunAnswer]


class UndoneAnswer(BaseModel):
    """The memories that are current again, and those that something newer has taken the place of."""

    reinstated: list[str]
    left: list[str]


class ContradictionAnswer(BaseModel):
    """A remark that a newer memory may contradict an older one, and what was decided."""

    newer: str
    older: str
    cue: str
    reason: str
    at: datetime
    verdict: str | None
    decided_by: str
    decided_because: str
    decided_at: datetime | None


class ContradictionsAnswer(BaseModel):
    """Contradictions, in the order in which they were noticed."""

    contradictions: list[ContradictionAnswer]


class SummaryAnswer(BaseModel):
    """A proposed summary, and the memories it was made from."""

    id: str
    content: str
    sources: list[str]


class SummariesAnswer(BaseModel):
    """Proposed summaries."""

    summaries: list[SummaryAnswer]


class FeedbackAnswer(BaseModel):
    """Feedback about a hit."""

    recall_id: str
    memory_id: str
    signal: str
    rating: int | None
    given_at: datetime


class FeedbackListAnswer(BaseModel):
    """Feedback, in the order in which it was given."""

    feedback: list[FeedbackAnswer]
    more: bool


class LoggedRecallAnswer(BaseModel):
    """A recall, as it was logged: the query, and the ids of what was shown, best first."""

    recall_id: str
    at: datetime
    query: str | None
    recipe: str
    embedder: str
    candidates: int
    shown: list[str]
    milliseconds: dict[str, float]


class RecallLogAnswer(BaseModel):
    """Recalls, the latest first."""

    recalls: list[LoggedRecallAnswer]


class ExperimentAnswer(BaseModel):
    """An experiment, and how it stands, in answers about one."""

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


class ExperimentsAnswer(BaseModel):
    """Experiments, the latest first."""

    experiments: list[ExperimentAnswer]


class ParameterAnswer(BaseModel):
    """One parameter of a recipe, and what it may be."""

    name: str
    value: Any
    type: str
    low: float | None
    high: float | None
    choices: list[str]
    doc: str
    group: str


class RecipeAnswer(BaseModel):
    """A way to recall, and every parameter of it."""

    name: str
    doc: str
    parameters: list[ParameterAnswer]


class SavedRecipeAnswer(RecipeAnswer):
    """A recipe that a namespace has saved, in its latest version, and what speaks for it."""

    evidence: dict[str, Any]
    saved_at: datetime
    versions: int
    in_use: bool


class RecipesAnswer(BaseModel):
    """The ways to recall, shipped and saved, and the one that is used where a question names none."""

    recipes: list[RecipeAnswer]
    saved: list[SavedRecipeAnswer]
    default: str


class LineProblem(BaseModel):
    """A line that could not be taken in."""

    line: int
    problem: str


class ImportAnswer(BaseModel):
    """What came of an import: new memories, entities and relations, and how many were there already."""

    imported: int
    entities: int
    relations: int
    known: int
    known_entities: int
    known_relations: int
    import_id: str
    failed: int
    problems: list[LineProblem]


class ImportedAnswer(BaseModel):
    """An import that can be undone."""

    id: str
    source: str
    at: str
    memories: int
    relations: int


class ImportsAnswer(BaseModel):
    """The imports into a namespace that were not undone."""

    imports: list[ImportedAnswer]


class UndoneImportAnswer(BaseModel):
    """What undoing an import took out, or would: memories by namespace, and how many relations."""

    memories: dict[str, list[str]]
    relations: int


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


class JobsAnswer(BaseModel):
    """Jobs, the newest first."""

    jobs: list[JobAnswer]
