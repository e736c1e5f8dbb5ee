"""The experiments dashboard: what is being compared, how it stands, and whether one may say so yet.

The numbers hold however often one looks (:mod:`memorata.learn.hypothesis`), so the page may be open all day.
"""

from __future__ import annotations

from typing import Any, Final

from starlette.responses import Response

from memorata._frozen import frozen
from memorata.learn.assignment import Variant
from memorata.learn.experiments import (
    METHODS,
    ExperimentStatus,
    winning_recipe,
)
from memorata.model.errors import InvalidArgument
from memorata.web.context import PageContext, PageRoute
from memorata.web.controls import controls, read_changes

_FIRST: Final = "as it is"


@frozen
class Standing:
    """An experiment as it is shown."""

    status: ExperimentStatus
    variants: tuple[Variant, ...]


def dashboard(context: PageContext) -> Response:
    """Show every experiment of the namespace."""
    engine, namespace = context.engine, context.namespace
    standings = tuple(
        Standing(
            engine.experiments.status(running.experiment.name, namespace=namespace),
            tuple(running.experiment.variants),
        )
        for running in engine.experiments.list(namespace=namespace)
    )
    return context.page(
        "experiments.html",
        standings=standings,
        recipe=engine.recipes.get(namespace=namespace),
        methods=METHODS,
        groups=controls(engine.recipes.get(namespace=namespace), {}),
        logged=engine.recall_log.how.recalls,
    )


def create(context: PageContext) -> Response:
    """Start an experiment: the recipe as it is against one with some parameters changed."""
    values = context.values
    base = context.engine.recipes.get(namespace=context.namespace)
    changes = read_changes(base, values)
    if not changes:
        raise InvalidArgument("settings", base.name, "a recipe with at least one control turned")
    share = values.number("share", 0.5)
    weight = 0.5 if share is None else share
    variants = (Variant(_FIRST, 1 - weight), Variant(values.text("variant", "changed"), weight, changes))
    context.engine.experiments.create(
        values.text("name"),
        variants,
        method=values.text("method", METHODS[0]),
        least_users=values.whole("users", 100, 2),
        least_days=values.whole("days", 7, 1),
        namespace=context.namespace,
    )
    return context.go(context.url("/experiments"))


def stop(context: PageContext) -> Response:
    """Stop an experiment."""
    context.engine.experiments.stop(context.values.text("name"), namespace=context.namespace)
    return context.go(context.url("/experiments"))


def keep(context: PageContext) -> Response:
    """Save the recipe of the winner, and use it from now on."""
    engine, name = context.engine, context.values.text("name")
    status = engine.experiments.status(name, namespace=context.namespace)
    recipe = winning_recipe(status)
    if recipe is None:
        raise InvalidArgument("name", name, f"an experiment with a winner; {status.reason}")
    evidence: dict[str, Any] = {"by": "experiment", "experiment": name, "reason": status.reason}
    saved = context.values.text("recipe")
    engine.recipes.save(saved, recipe, evidence=evidence, namespace=context.namespace)
    engine.recipes.use(saved, namespace=context.namespace)
    return context.go(context.url("/settings") + "#recipes")


ROUTES: Final = (
    PageRoute("/experiments", dashboard),
    PageRoute("/experiments", create, "POST"),
    PageRoute("/experiments/stop", stop, "POST"),
    PageRoute("/experiments/keep", keep, "POST"),
)
