"""The jobs that can be begun over HTTP: check, duplicates, maintain, tune, reembed.

What a job leaves behind names memories by their ids alone, so that it repeats nothing that is purged later.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from fastapi import APIRouter
from pydantic import Field
from starlette.responses import Response

from memorata.engine import Engine
from memorata.engine.saved_recipes import own_name
from memorata.http.asked import Everywhere, Working
from memorata.http.job_routes import JobShown, begun
from memorata.http.jobs import Job
from memorata.http.limits import BATCH, RESULTS
from memorata.http.shapes import Flag, Given, Id, Word
from memorata.learn.training_set import from_feedback
from memorata.learn.tuning import WORK, install, tune_weights
from memorata.service.codec import duplicates_json, plain

router = APIRouter(prefix="/v1/jobs", tags=["jobs"])

_BEGUN: Any = {202: {"model": JobShown}}
Strategy = Literal["keep_highest_confidence", "keep_most_recent", "merge", "keep_both"]


class Duplicates(Given):
    """A search for what was said twice; with `apply`, what was found is superseded."""

    strategy: Strategy = "keep_highest_confidence"
    paraphrases: Flag = Field(False, description="Whether other words for the same count. Look first.")
    apply: Flag = Field(False, description="Whether to supersede; otherwise nothing is written.")
    keep: list[Id] | None = Field(
        None, max_length=BATCH, description="Only the groups in which one of these stays."
    )


class Maintain(Given):
    """Upkeep by the rules of life."""

    dry_run: Flag = False


class Tune(Given):
    """A search for better parameters, judged by the feedback of the namespace."""

    recipe: Word | None = Field(None, description="The recipe to begin with; the one in use if left out.")
    grid: dict[str, list[Any]] | None = Field(
        None,
        max_length=10,
        description="By parameter, the values to try.",
        examples=[{"vector_weight": [0.3, 0.5]}],
    )
    metric: Word = "ndcg@10"
    save_as: Word | None = Field(None, description="Save what wins as a recipe of this name.")
    use: Flag = Field(False, description="Use it in this namespace from then on.")


class Reembed(Given):
    """New vectors for everything, by the server's embedder."""

    dry_run: Flag = False
    keep_old: Flag = False


@router.post("/check", status_code=202, response_model=None, responses=_BEGUN)
async def check(asked: Everywhere) -> Response:
    """Begin to look through the whole database for what is wrong with it; nothing is changed."""
    engine = asked.engine
    return begun(asked, "check", lambda job: {"problems": engine.admin.check()})


@router.post("/duplicates", status_code=202, response_model=None, responses=_BEGUN)
async def duplicates(asked: Working, wanted: Duplicates) -> Response:
    """Begin to look for what was said twice."""
    engine, whose = asked.engine, asked.namespace

    def work(job: Job) -> dict[str, Any]:
        def told(what: str, done: int, total: int) -> None:
            job.progress(done, total, what)

        found = engine.duplicates.find(
            strategy=wanted.strategy, paraphrases=wanted.paraphrases, namespace=whose, progress=told
        )
        groups = [each for each in found.groups if wanted.keep is None or each.keep.id in wanted.keep]
        result: dict[str, Any] = {
            "groups": [duplicates_json(each) for each in groups[:RESULTS]],
            "count": len(groups),
            "compared": found.compared,
            "run": None,
        }
        if wanted.apply:
            run = engine.duplicates.supersede(
                groups, strategy=wanted.strategy, namespace=whose, progress=told
            )
            result["run"] = plain(run)
        return result

    return begun(asked, "duplicates", work)


@router.post("/maintain", status_code=202, response_model=None, responses=_BEGUN)
async def maintain(asked: Working, wanted: Maintain) -> Response:
    """Begin to promote, demote, expire and summarise; nothing is removed."""
    engine, whose = asked.engine, asked.namespace

    def work(job: Job) -> dict[str, Any]:
        done: dict[str, Any] = engine.lifecycle.maintain(
            dry_run=wanted.dry_run,
            namespace=whose,
            progress=lambda step, count: job.progress(count, None, step),
        ).as_dict()
        for proposal in done["proposed"]:
            del proposal["content"]
        return done

    return begun(asked, "maintain", work)


@router.post("/tune", status_code=202, response_model=None, responses=_BEGUN)
async def tune(asked: Working, wanted: Tune) -> Response:
    """Begin to look for better parameters of a recipe; what chance explains is refused."""
    # What could be known to fail is told now, and not after minutes of work.
    await asked.run(lambda: asked.engine.recipes.get(wanted.recipe, namespace=asked.namespace))
    if wanted.save_as is not None:
        own_name("save_as", wanted.save_as)
    return begun(asked, "tune", _tuning(asked.engine, asked.namespace, wanted))


@router.post("/reembed", status_code=202, response_model=None, responses=_BEGUN)
async def reembed(asked: Everywhere, wanted: Reembed) -> Response:
    """Begin to embed everything with the server's embedder; searches go on meanwhile."""
    engine = asked.engine

    def work(job: Job) -> dict[str, Any]:
        done = engine.admin.reembed(
            dry_run=wanted.dry_run,
            keep_old=wanted.keep_old,
            progress=lambda done, total: job.progress(done, total),
        )
        return {**plain(done), "failed": len(done.failed)}

    return begun(asked, "reembed", work)


def _tuning(engine: Engine, whose: str, wanted: Tune) -> Callable[[Job], dict[str, Any]]:
    def work(job: Job) -> dict[str, Any]:
        base = engine.recipes.get(wanted.recipe, namespace=whose)
        with engine.leases.hold(WORK, whose) as held:
            job.progress(0, None, "reading feedback")
            material = from_feedback(engine, namespace=whose).under(held)
            job.progress(0, None, f"trying settings on {len(material.questions)} questions")
            tuned = tune_weights(material, base, wanted.grid, metric=wanted.metric)
            held.renew()
            saved = None
            if wanted.save_as is not None:
                saved = install(engine, tuned, wanted.save_as, use=wanted.use, namespace=whose)
        return {
            "accepted": tuned.verdict.accepted,
            "reason": tuned.verdict.reason,
            "evidence": plain(tuned.evidence()),
            "scores": [{"setting": plain(setting), "mean": plain(mean)} for setting, mean in tuned.scores],
            "saved": None if saved is None else saved.recipe.name,
        }

    return work
