"""Learning over HTTP: feedback about hits, the log of recalls, and experiments."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field
from starlette.responses import Response

from memorata.http.asked import Reading, Working, Writing
from memorata.http.limits import RESULTS, WORD
from memorata.http.recalling import Question, RecallShown
from memorata.http.shapes import Given, Id, Number, Time, Whole, Word
from memorata.http.tracing import SEARCH, UPDATE
from memorata.learn.assignment import Variant
from memorata.model.errors import InvalidArgument
from memorata.service.codec import (
    experiment_json,
    experiment_status_json,
    logged_recall_json,
    plain,
    recall_json,
)

router = APIRouter(prefix="/v1", tags=["learning"])

Name = Annotated[str, Path(max_length=WORD)]


class FeedbackGiven(Given):
    """What a hit was worth."""

    recall_id: Id
    memory_id: Id
    kind: Literal["thumbs", "rating", "relevant", "click"]
    value: Whole | Word | None = Field(
        None, description="up or down; 1 to 5; yes or no; nothing for a click.", union_mode="left_to_right"
    )


class FeedbackShown(BaseModel):
    """What was said about a hit."""

    recall_id: str
    memory_id: str
    signal: str
    rating: int | None
    given_at: datetime


class FeedbacksShown(BaseModel):
    """What was said about hits, in the order in which it was said."""

    feedback: list[FeedbackShown]
    more: bool


class LoggedShown(BaseModel):
    """A recall, as it was logged: what was asked, and the ids of what was shown, best first."""

    recall_id: str
    at: datetime
    query: str | None
    recipe: str
    embedder: str
    candidates: int
    shown: list[str]
    milliseconds: dict[str, float]


class LogShown(BaseModel):
    """Recalls, the latest first."""

    recalls: list[LoggedShown]


class VariantGiven(Given):
    """One of the ways to recall that are compared."""

    name: Word
    weight: Number = Field(description="Its share of the users; all shares make 1.")
    settings: dict[str, Any] = Field({}, description="Parameters of the recipe that it changes.")


class ExperimentGiven(Given):
    """An experiment to begin."""

    name: Word
    variants: list[VariantGiven] = Field(min_length=2, max_length=10)
    base: Word | None = Field(None, description="The recipe that the variants change.")
    method: Literal["split", "interleave"] = "split"
    least_users: Annotated[int, Field(strict=True, ge=2)] = 100
    least_days: Annotated[int, Field(strict=True, ge=1)] = 7


class ExperimentShown(BaseModel):
    """An experiment, and how it stands where that was asked for."""

    name: str
    base: str
    method: str
    variants: list[VariantGiven]
    least_users: int
    least_days: int
    started: datetime
    stopped: datetime | None
    winner: str | None = None
    reason: str = ""
    recommendation: dict[str, Any] | None = None
    preference: dict[str, Any] | None = None


class ExperimentsShown(BaseModel):
    """Experiments, the latest first."""

    experiments: list[ExperimentShown]


class QuestionInExperiment(Question):
    """A question of a user who takes part in an experiment."""

    user: Word


@router.post("/feedback", status_code=201, response_model=None, responses={201: {"model": FeedbackShown}})
async def feedback(asked: Writing, said: FeedbackGiven) -> Response:
    """Say what a hit was worth; the `id` of a recall and of a memory in it say which hit."""

    def work() -> Any:  # noqa: ANN401
        given = asked.engine.feedback.record(
            said.recall_id, said.memory_id, said.kind, said.value, namespace=asked.namespace
        )
        return plain(given)

    return await asked.write(work, UPDATE, status=201, log_first=True)


@router.get("/feedback", response_model=None, responses={200: {"model": FeedbacksShown}})
async def feedbacks(
    asked: Reading,
    since: Annotated[Time | None, Query()] = None,
    limit: Annotated[int, Query(ge=1, le=RESULTS)] = 100,
) -> Response:
    """Return what was said about hits."""

    def work() -> Any:  # noqa: ANN401
        found = asked.engine.feedback.list(namespace=asked.namespace, since=since)
        return {"feedback": [plain(each.feedback) for each in found[:limit]], "more": len(found) > limit}

    return await asked.look(work)


@router.get("/recalls", response_model=None, responses={200: {"model": LogShown}})
async def recalls(
    asked: Reading,
    since: Annotated[Time | None, Query()] = None,
    limit: Annotated[int, Query(ge=1, le=RESULTS)] = 50,
) -> Response:
    """Return the recalls that were logged."""

    def work() -> Any:  # noqa: ANN401
        found = asked.engine.feedback.recalls(namespace=asked.namespace, since=since, limit=limit)
        return {"recalls": [logged_recall_json(each) for each in found]}

    return await asked.look(work)


@router.get("/experiments", response_model=None, responses={200: {"model": ExperimentsShown}})
async def experiments(asked: Reading) -> Response:
    """List the experiments of a namespace."""

    def work() -> Any:  # noqa: ANN401
        found = asked.engine.experiments.list(namespace=asked.namespace)
        return {"experiments": [experiment_json(each) for each in found]}

    return await asked.look(work)


@router.post(
    "/experiments", status_code=201, response_model=None, responses={201: {"model": ExperimentShown}}
)
async def begin(asked: Writing, given: ExperimentGiven) -> Response:
    """Begin an experiment: variants of a recipe that users are divided among, or that meet in one list."""

    def work() -> Any:  # noqa: ANN401
        variants = [Variant(each.name, each.weight, each.settings) for each in given.variants]
        made = asked.engine.experiments.create(
            given.name,
            variants,
            base=given.base,
            method=given.method,
            least_users=given.least_users,
            least_days=given.least_days,
            namespace=asked.namespace,
        )
        return experiment_json(made)

    return await asked.write(work, UPDATE, status=201)


@router.get("/experiments/{name}", response_model=None, responses={200: {"model": ExperimentShown}})
async def status(asked: Reading, name: Name) -> Response:
    """Tell how an experiment stands; looking does not change the odds."""

    def work() -> Any:  # noqa: ANN401
        return experiment_status_json(asked.engine.experiments.status(name, namespace=asked.namespace))

    return await asked.look(work)


@router.post("/experiments/{name}/stop", response_model=None, responses={200: {"model": ExperimentShown}})
async def stop(asked: Writing, name: Name) -> Response:
    """Stop an experiment, and tell how it stood."""

    def work() -> Any:  # noqa: ANN401
        return experiment_status_json(asked.engine.experiments.stop(name, namespace=asked.namespace))

    return await asked.write(work, UPDATE, log_first=True)


@router.post("/experiments/{name}/recall", response_model=None, responses={200: {"model": RecallShown}})
async def recall(asked: Working, name: Name, question: QuestionInExperiment) -> Response:
    """Recall as the variant of a user does, and note who saw what."""
    if question.recipe is not None or question.parameters:
        raise InvalidArgument("recipe", question.recipe, "left out: the experiment sets it")

    def work() -> Any:  # noqa: ANN401
        found = asked.engine.experiments.recall(
            name,
            question.user,
            question.question,
            namespace=asked.namespace,
            **question.options(),
        )
        return recall_json(found, explain=question.explain)

    return await asked.look(work, SEARCH)
