"""Experiments and tuning over HTTP."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path
from starlette.responses import Response

from memorata.extend.errors import InvalidArgument
from memorata.extend.json import Json, recall_json
from memorata.extend.recall import own_name
from memorata_lab.jobs import tune_grid
from memorata_lab.learn.ab_test import Variant
from memorata_lab.learn.experiments import Experiments, experiment_json, experiment_status_json
from memorata_server import answers, schemas
from memorata_server.http.context import (
    ReadContext,
    UnkeyedWriteContext,
    WriteContext,
    described,
    read_route,
    write_route,
)
from memorata_server.http.errors import api_router
from memorata_server.http.jobs import start
from memorata_server.http.telemetry import SEARCH, UPDATE
from memorata_server.schemas import MAX_WORD

router = api_router("/v1", "experiments")

Name = Annotated[str, Path(max_length=MAX_WORD)]


@read_route(router.get, "/experiments", answers.ExperimentsAnswer)
def list_experiments(context: ReadContext) -> Json:
    """List the experiments of a namespace."""
    return {"experiments": list(map(experiment_json, Experiments(context.engine).list()))}


@write_route(router.post, "/experiments", answers.ExperimentAnswer, UPDATE, status=201)
def begin_experiment(context: WriteContext, body: schemas.NewExperiment) -> Json:
    """Begin an experiment: variants of a recipe that users are divided among, or that meet in one list."""
    fields = body.set_fields() | {"variants": [Variant(**variant.model_dump()) for variant in body.variants]}
    return experiment_json(Experiments(context.engine).create(**fields))


@read_route(router.get, "/experiments/{name}", answers.ExperimentAnswer)
def get_experiment(context: ReadContext, name: Name) -> Json:
    """Tell how an experiment stands; looking does not change the odds."""
    return experiment_status_json(Experiments(context.engine).status(name))


@write_route(router.post, "/experiments/{name}/stop", answers.ExperimentAnswer, UPDATE, log_first=True)
def stop_experiment(context: WriteContext, name: Name) -> Json:
    """Stop an experiment, and tell how it stood."""
    return experiment_status_json(Experiments(context.engine).stop(name))


@read_route(router.post, "/experiments/{name}/recall", answers.RecallAnswer, SEARCH)
def recall_in_experiment(
    context: UnkeyedWriteContext, name: Name, body: schemas.ExperimentRecallRequest
) -> Json:
    """Recall with the variant of a user, and log the exposure."""
    if body.recipe is not None or body.parameters:
        raise InvalidArgument("recipe", body.recipe, "left out: the experiment sets it")
    arguments = body.arguments() | {"recipe": None}
    result = Experiments(context.engine).recall(name, body.user, **arguments)
    return recall_json(result, explain=body.explain)


@router.post("/jobs/tune", **described(answers.JobAnswer, 202))
async def start_tune(context: UnkeyedWriteContext, body: schemas.TuningJob) -> Response:
    """Start a search for better parameters of a recipe; what chance explains is refused."""
    # What is bound to fail fails now, and not after minutes of work.
    await context.run(lambda: context.engine.admin.recipes.get(body.recipe, namespace=context.namespace))
    if body.save_as is not None:
        own_name("save_as", body.save_as)
    return start(context, "tune", tune_grid, body)
