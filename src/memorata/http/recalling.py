"""Recall over HTTP: the right few memories for a question, and why."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import AliasChoices, BaseModel, Field, model_validator
from starlette.responses import Response

from memorata.engine.shortfall import Measure
from memorata.http.asked import Reading
from memorata.http.limits import QUESTION, RESULTS
from memorata.http.shapes import Conditions, Flag, Given, MemoryShown, PlaceGiven, Time, Word
from memorata.http.tracing import SEARCH
from memorata.model.former_names import both_given
from memorata.model.period import Period
from memorata.service.codec import recall_json

router = APIRouter(prefix="/v1", tags=["recall"])
MOST_PARAMETERS = 100


class PeriodGiven(Given):
    """The time a question is about."""

    start: Time
    end: Time


class Question(Given):
    """A question, and how to answer it."""

    question: str = Field(
        max_length=QUESTION,
        validation_alias=AliasChoices("question", "text"),
        description="What to look for. It was called `text` before, which is still understood.",
        examples=["what does Anna drink?"],
    )
    limit: Annotated[int, Field(strict=True, ge=0, le=RESULTS)] = 10
    sessions: Flag = Field(False, description="Rank sessions instead of single memories.")
    recipe: Word | None = Field(None, description="How to search: see /v1/recipes.")
    parameters: dict[str, Any] = Field(
        {}, max_length=MOST_PARAMETERS, description="Parameters of the recipe to change for this question."
    )
    filter: Conditions | None = None
    as_of: Time | None = Field(None, description="Answer with what was believed then.")
    true_at: Time | None = Field(None, description="Answer with what held in the world then.")
    period: PeriodGiven | None = Field(None, description="The time the question is about.")
    near: PlaceGiven | None = Field(None, description="Memories from near there count more.")
    budget: Annotated[int, Field(strict=True, ge=0, le=10_000_000)] | None = Field(
        None, description="How many tokens the hits may take together."
    )
    explain: Flag = Field(False, description="Say of every hit why it has its score.")
    fresh: Flag = Field(
        False, description="Know all that was written before, where a replica may be a moment behind."
    )

    @model_validator(mode="before")
    @classmethod
    def _by_one_name(cls, given: Any) -> Any:  # noqa: ANN401 - whatever came
        if isinstance(given, dict) and {"question", "text"} <= given.keys():
            raise both_given("text", "question", given["text"])
        return given

    def options(self) -> dict[str, Any]:
        """Return what else is asked for, as the engine takes it; not the recipe."""
        period, near = self.period, self.near
        return {
            "limit": self.limit,
            "sessions": self.sessions,
            "filter": self.filter,
            "as_of": self.as_of,
            "true_at": self.true_at,
            "period": None if period is None else Period(period.start, period.end),
            "near": None if near is None else near.place(),
            "budget": self.budget,
            "fresh": self.fresh,
        }


class HitShown(BaseModel):
    """A memory that answers, and its score."""

    id: str
    score: float
    memory: MemoryShown
    explanation: dict[str, Any] | None = Field(
        None, description="A tree whose parts make up exactly the score; only where it was asked for."
    )


class SessionShown(BaseModel):
    """A session that answers, and the ids of the memories that speak for it."""

    session: str
    score: float
    hits: list[str]


class ShortfallShown(BaseModel):
    """A threshold that was missed."""

    measure: Measure = Field(description="A cosine, a share of the best possible match, or a confidence.")
    value: float | None = Field(description="None for a meaning that nobody has measured yet.")
    least: float


class RejectedShown(BaseModel):
    """The best memory that was not good enough, and what it missed."""

    id: str
    score: float = Field(description="Relative to the other candidates: the best of a bad lot may have 1.")
    reason: str
    missed: list[ShortfallShown]


class RecallShown(BaseModel):
    """The answer to a question."""

    recall_id: str = Field(
        description="What feedback about a hit refers to; empty where recalls are not logged."
    )
    support: float = Field(
        description="How well the best candidate stands by itself, from 0 to 1: to compare questions by."
    )
    hits: list[HitShown]
    sessions: list[SessionShown]
    degraded: list[str] = Field(description="What could not be done as it should.")
    rejected: RejectedShown | None
    recipe: str
    embedder: str
    omitted: int = Field(description="How many hits did not fit in the budget.")
    milliseconds: dict[str, float]
    methods: dict[str, str] = Field(description="How the store searched, by vectors and words.")


@router.post("/recall", response_model=None, responses={200: {"model": RecallShown}})
async def recall(asked: Reading, question: Question) -> Response:
    """Find the right few memories for a question."""

    def work() -> dict[str, Any]:
        found = asked.engine.recall(
            question.question,
            namespace=asked.namespace,
            recipe=question.recipe,
            changes=question.parameters or None,
            **question.options(),
        )
        return recall_json(found, explain=question.explain)

    return await asked.look(work, SEARCH)
