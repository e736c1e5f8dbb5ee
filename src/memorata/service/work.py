"""The long work that interfaces start as jobs: duplicates, maintenance, tuning, re-embedding.

What a job leaves behind names memories by their ids alone, so that it repeats nothing that is purged later.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from memorata.engine import Engine
from memorata.engine.recipes.saved import SavedRecipe
from memorata.learn.gate import TunedThresholds, tune_gate
from memorata.learn.training_set import from_feedback
from memorata.learn.tuning import WORK, Tuned, TuningResult, install, tune_weights
from memorata.service.codec import Json, duplicates_json, plain
from memorata.service.schemas import MAX_RESULTS

if TYPE_CHECKING:
    from memorata.service.schemas import DuplicatesJob, MaintenanceJob, ReembedJob, TuningJob

_Tuned = TypeVar("_Tuned", bound=TuningResult)
Progress = Callable[[int, int | None, str], None]
"""Told how much is done, how much there is, if that is known, and what is being done."""


def find_duplicates(engine: Engine, namespace: str, request: DuplicatesJob, progress: Progress) -> Json:
    """Look for duplicates, and supersede them if the request says so."""

    def report(step: str, done: int, total: int) -> None:
        progress(done, total, step)

    duplicates = engine.duplicates.find(
        strategy=request.strategy, paraphrases=request.paraphrases, namespace=namespace, progress=report
    )
    groups = [group for group in duplicates.groups if request.keep is None or group.keep.id in request.keep]
    run = None
    if request.apply:
        run = engine.duplicates.supersede(
            groups, strategy=request.strategy, namespace=namespace, progress=report
        )
    return {
        "groups": [duplicates_json(group) for group in groups[:MAX_RESULTS]],
        "count": len(groups),
        "compared": duplicates.compared,
        "run": plain(run),
    }


def maintain(engine: Engine, namespace: str, request: MaintenanceJob, progress: Progress) -> Json:
    """Promote, demote, expire and summarise; nothing is removed."""
    done: Json = engine.lifecycle.maintain(
        dry_run=request.dry_run, namespace=namespace, progress=lambda step, count: progress(count, None, step)
    ).as_dict()
    for proposal in done["proposed"]:
        del proposal["content"]
    return done


def tune(
    engine: Engine,
    namespace: str,
    progress: Progress,
    search: Callable[..., _Tuned],
    *,
    recipe: str | None = None,
    save_as: str | None = None,
    use: bool = False,
    **options: Any,  # noqa: ANN401 - of the search
) -> tuple[_Tuned, SavedRecipe | None]:
    """Search for better parameters of a recipe, judged by feedback, and save what wins; all under a lease."""
    base = engine.recipes.get(recipe, namespace=namespace)
    with engine.leases.hold(WORK, namespace) as held:
        progress(0, None, "reading feedback")
        material = from_feedback(engine, namespace=namespace).under(held)
        progress(0, None, f"trying settings on {len(material.questions)} questions")
        tuned = search(material, base, **options)
        held.renew()
        saved = None
        if save_as is not None:
            saved = install(engine, tuned, save_as, use=use, namespace=namespace)
    return tuned, saved


def tune_grid(engine: Engine, namespace: str, request: TuningJob, progress: Progress) -> Json:
    """Try a grid of parameters, or look for thresholds, and save what wins if the request names a recipe."""
    search: Callable[..., Tuned | TunedThresholds] = tune_weights
    options: dict[str, Any] = {"grid": request.grid, "metric": request.metric}
    if request.thresholds is not None:
        search = partial(tune_gate, engine)
        options = {"method": request.thresholds, "target": request.target}
    tuned, saved = tune(
        engine,
        namespace,
        progress,
        search,
        recipe=request.recipe,
        save_as=request.save_as,
        use=request.use,
        **options,
    )
    return {
        "accepted": tuned.verdict.accepted,
        "reason": tuned.verdict.reason,
        "evidence": plain(tuned.evidence()),
        "scores": [{"setting": plain(setting), "mean": plain(mean)} for setting, mean in tuned.scores],
        "saved": None if saved is None else saved.recipe.name,
    }


def reembed(engine: Engine, request: ReembedJob, progress: Progress) -> Json:
    """Embed everything with the engine's embedder; searches go on meanwhile."""
    done = engine.admin.reembed(
        dry_run=request.dry_run,
        keep_old=request.keep_old,
        progress=lambda done, total: progress(done, total, ""),
    )
    return {**plain(done), "failed": len(done.failed)}
