"""Tuning as long work with progress: a search by feedback under a lease, and what wins saved."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from memorata import Engine
from memorata.extend.json import Json, plain
from memorata.extend.recall import SavedRecipe
from memorata_lab.learn.thresholds import TunedThresholds, tune_gate
from memorata_lab.learn.training_set import from_feedback
from memorata_lab.learn.tuning import WORK, Tuned, TuningResult, install, tune_weights

if TYPE_CHECKING:
    from memorata_server.jobs import Progress
    from memorata_server.schemas import TuningJob

_Tuned = TypeVar("_Tuned", bound=TuningResult)


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
    base = engine.admin.recipes.get(recipe, namespace=namespace)
    with engine.leases.hold(WORK, namespace) as lease:
        progress("reading feedback", 0)
        training_set = from_feedback(engine, namespace=namespace).under(lease)
        progress(f"trying settings on {len(training_set.questions)} questions", 0)
        tuned = search(training_set, base, **options)
        lease.renew()
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
