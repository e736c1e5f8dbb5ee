"""The experiments dashboard: what is being compared, how it stands, and whether one may say so yet.

The numbers hold however often one looks (:mod:`memorata.learn.hypothesis`), so the page may be open all day.
"""

from __future__ import annotations

from typing import Any, Final

from starlette.responses import Response

from memorata._frozen import frozen
from memorata.engine.recipes.recipe import PARAMETERS
from memorata.learn.assignment import Variant
from memorata.learn.experiments import (
    METHODS,
    ExperimentStatus,
    winning_recipe,
)
from memorata.model.errors import InvalidArgument
from memorata.web.controls import read_changes
from memorata.web.values import Values
from memorata.web.visit import Room, Visit

_FIRST: Final = "as it is"


@frozen
class Standing:
    """An experiment as it is shown."""

    status: ExperimentStatus
    variants: tuple[Variant, ...]


def dashboard(visit: Visit) -> Response:
    """Show every experiment of the namespace."""
    engine, namespace = visit.engine, visit.namespace
    standings = tuple(
        Standing(
            engine.experiments.status(each.experiment.name, namespace=namespace),
            tuple(each.experiment.variants),
        )
        for each in engine.experiments.list(namespace=namespace)
    )
    return visit.page(
        "experiments.html",
        standings=standings,
        recipe=engine.recipes.get(namespace=namespace),
        methods=METHODS,
        parameters=tuple(each.name for each in PARAMETERS if each.name != "analyser"),
        logged=engine.recall_log.how.recalls,
    )


def create(visit: Visit) -> Response:
    """Start an experiment: the recipe as it is against one with some parameters changed."""
    values = visit.values
    base = visit.engine.recipes.get(namespace=visit.namespace)
    changes = read_changes(base, _settings(values))
    if not changes:
        raise InvalidArgument("settings", values.text("settings"), "a change, such as vector_weight=0.7")
    share = values.number("share", 0.5)
    weight = 0.5 if share is None else share
    variants = (Variant(_FIRST, 1 - weight), Variant(values.text("variant", "changed"), weight, changes))
    visit.engine.experiments.create(
        values.text("name"),
        variants,
        method=values.text("method", METHODS[0]),
        least_users=values.whole("users", 100, 2),
        least_days=values.whole("days", 7, 1),
        namespace=visit.namespace,
    )
    return visit.go(visit.url("/experiments"))


def stop(visit: Visit) -> Response:
    """Stop an experiment."""
    visit.engine.experiments.stop(visit.values.text("name"), namespace=visit.namespace)
    return visit.go(visit.url("/experiments"))


def keep(visit: Visit) -> Response:
    """Save the recipe of the winner, and use it from now on."""
    engine, name = visit.engine, visit.values.text("name")
    status = engine.experiments.status(name, namespace=visit.namespace)
    recipe = winning_recipe(status)
    if recipe is None:
        raise InvalidArgument("name", name, f"an experiment with a winner; {status.reason}")
    evidence: dict[str, Any] = {"by": "experiment", "experiment": name, "reason": status.reason}
    saved = visit.values.text("recipe")
    engine.recipes.save(saved, recipe, evidence=evidence, namespace=visit.namespace)
    engine.recipes.use(saved, namespace=visit.namespace)
    return visit.go(visit.url("/settings") + "#recipes")


def _settings(values: Values) -> dict[str, list[str]]:
    """Return the changes that were written as ``name=value``, one a line or with commas between."""
    settings: dict[str, list[str]] = {}
    known = {each.name for each in PARAMETERS}
    for part in values.text("settings").replace("\n", ",").split(","):
        if part.strip():
            name, found, value = (piece.strip() for piece in part.partition("="))
            if not found or name not in known:
                raise InvalidArgument("settings", part.strip(), "a parameter of a recipe, =, and its value")
            settings[name] = [value]
    return settings


ROOMS: Final = (
    Room("/experiments", dashboard),
    Room("/experiments", create, "POST"),
    Room("/experiments/stop", stop, "POST"),
    Room("/experiments/keep", keep, "POST"),
)
