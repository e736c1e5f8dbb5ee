"""Learning over HTTP: feedback about hits, the log of recalls, and experiments."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from memorata.http.context import (
    ReadContext,
    UnkeyedWriteContext,
    WriteContext,
    answers,
    read_route,
    write_route,
)
from memorata.http.errors import RESPONSES
from memorata.http.telemetry import SEARCH, UPDATE
from memorata.learn.ab_test import Variant
from memorata.model.errors import InvalidArgument
from memorata.service.answers import (
    ExperimentAnswer,
    ExperimentsAnswer,
    FeedbackAnswer,
    FeedbackListAnswer,
    RecallAnswer,
    RecallLogAnswer,
)
from memorata.service.codec import (
    Json,
    experiment_json,
    experiment_status_json,
    logged_recall_json,
    plain,
    recall_json,
)
from memorata.service.schemas import (
    MAX_RESULTS,
    MAX_WORD,
    ExperimentRecallRequest,
    NewExperiment,
    NewFeedback,
    Time,
)

router = APIRouter(prefix="/v1", tags=["learning"], responses=RESPONSES)

Name = Annotated[str, Path(max_length=MAX_WORD)]


@write_route(router.post, "/feedback", FeedbackAnswer, UPDATE, status=201, log_first=True)
def record_feedback(context: WriteContext, body: NewFeedback) -> Json:
    """Record feedback about a hit, which is named by the ids of its recall and its memory."""
    feedback = context.engine.feedback.record(
        body.recall_id, body.memory_id, body.kind, body.value, namespace=context.namespace
    )
    answer: Json = plain(feedback)
    return answer


@read_route(router.get, "/feedback", FeedbackListAnswer)
def list_feedback(
    context: ReadContext,
    since: Annotated[Time | None, Query()] = None,
    limit: Annotated[int, Query(ge=1, le=MAX_RESULTS)] = 100,
) -> Json:
    """Return feedback."""
    reactions = context.engine.feedback.list(namespace=context.namespace, since=since)
    return {
        "feedback": [plain(reaction.feedback) for reaction in reactions[:limit]],
        "more": len(reactions) > limit,
    }


@read_route(router.get, "/recalls", RecallLogAnswer)
def recalls(
    context: ReadContext,
    since: Annotated[Time | None, Query()] = None,
    limit: Annotated[int, Query(ge=1, le=MAX_RESULTS)] = 50,
) -> Json:
    """Return the recalls that were logged."""
    logged = context.engine.feedback.recalls(namespace=context.namespace, since=since, limit=limit)
    return {"recalls": [logged_recall_json(recall) for recall in logged]}


@read_route(router.get, "/experiments", ExperimentsAnswer)
def experiments(context: ReadContext) -> Json:
    """List the experiments of a namespace."""
    running = context.engine.experiments.list(namespace=context.namespace)
    return {"experiments": [experiment_json(state) for state in running]}


@write_route(router.post, "/experiments", ExperimentAnswer, UPDATE, status=201)
def begin(context: WriteContext, body: NewExperiment) -> Json:
    """Begin an experiment: variants of a recipe that users are divided among, or that meet in one list."""
    variants = [Variant(variant.name, variant.weight, variant.settings) for variant in body.variants]
    experiment = context.engine.experiments.create(
        body.name,
        variants,
        base=body.base,
        method=body.method,
        least_users=body.least_users,
        least_days=body.least_days,
        namespace=context.namespace,
    )
    return experiment_json(experiment)


@read_route(router.get, "/experiments/{name}", ExperimentAnswer)
def status(context: ReadContext, name: Name) -> Json:
    """Tell how an experiment stands; looking does not change the odds."""
    return experiment_status_json(context.engine.experiments.status(name, namespace=context.namespace))


@write_route(router.post, "/experiments/{name}/stop", ExperimentAnswer, UPDATE, log_first=True)
def stop(context: WriteContext, name: Name) -> Json:
    """Stop an experiment, and tell how it stood."""
    return experiment_status_json(context.engine.experiments.stop(name, namespace=context.namespace))


@router.post("/experiments/{name}/recall", **answers(RecallAnswer))
async def recall(context: UnkeyedWriteContext, name: Name, body: ExperimentRecallRequest) -> Response:
    """Recall with the variant of a user, and log the exposure."""
    if body.recipe is not None or body.parameters:
        raise InvalidArgument("recipe", body.recipe, "left out: the experiment sets it")

    def work() -> Json:
        result = context.engine.experiments.recall(
            name,
            body.user,
            body.query,
            namespace=context.namespace,
            **body.options(),
        )
        return recall_json(result, explain=body.explain)

    return await context.read(work, SEARCH)
