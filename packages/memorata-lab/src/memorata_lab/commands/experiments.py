"""Experiments: variants of a recipe, compared with users."""

from __future__ import annotations

import math
from typing import Annotated

from typer import Argument, Option

from memorata.extend.commands import Session, options, parameter_values, speaker_line, text_of
from memorata.extend.errors import NOT_FOUND, InvalidArgument
from memorata.extend.json import recall_json
from memorata_lab.learn.ab_test import Variant
from memorata_lab.learn.experiments import (
    Experiments,
    ExperimentStatus,
    experiment_json,
    experiment_status_json,
)

Name = Annotated[str, Argument(metavar="NAME", help="The experiment.")]
User = Annotated[str, Argument(metavar="USER", help="The user who recalls.")]


def create(
    session: Session,
    name: Name,
    variant: list[str] | None = Option(
        None,
        metavar="NAME:WEIGHT[:SETTINGS]",
        help="A variant, its share of users, and what it changes: more:0.5:vector_weight=0.7; repeatable.",
    ),
    base: options.RecipeName = None,
    interleave: bool = Option(False, help="Show every user two variants in one list."),
    users: int = Option(100, help="Least users of each variant before a winner is named."),
    days: int = Option(7, help="Least days before a winner is named."),
) -> None:
    """Start an experiment: at least two variants whose weights sum to 1."""
    variants = [_variant(specification) for specification in variant or []]
    with session.memory(create=True) as engine:
        running = Experiments(engine).create(
            name,
            variants,
            base=base,
            method="interleave" if interleave else "split",
            least_users=users,
            least_days=days,
        )
    session.output.result(experiment_json(running), f"{name} runs since {running.started:%Y-%m-%d %H:%M} UTC")


def assign(session: Session, name: Name, user: User) -> None:
    """Show which variant a user belongs to: always the same one."""
    with session.memory() as engine:
        variant = Experiments(engine).assign(name, user)
    session.output.result(
        {"user": user, "variant": variant.name, "settings": dict(variant.settings)}, variant.name
    )


def recall(session: Session, name: Name, user: User, query: options.Query, limit: options.Limit = 10) -> None:
    """Recall by the variant of a user, and record the exposure."""
    with session.memory(embed=True) as engine:
        result = Experiments(engine).recall(name, user, text_of(query), limit=limit)
    lines = [f"{hit.confidence:.2f}\t{hit.memory.id}\t{speaker_line(hit.memory)}" for hit in result]
    session.output.result(recall_json(result), *lines, notes=[f"recall {result.id}"])
    if not result.hits:
        session.leave(NOT_FOUND)


def status(
    session: Session,
    name: str | None = Argument(None, metavar="[NAME]", help="The experiment; all of them without."),
) -> None:
    """Show the state of an experiment; looking often does not make a wrong winner likelier."""
    with session.memory() as engine:
        if name is not None:
            _show(session, Experiments(engine).status(name))
            return
        running = Experiments(engine).list()
    rows = [
        (
            state.experiment.name,
            state.method,
            f"{state.started:%Y-%m-%d}",
            "running" if state.stopped is None else f"stopped {state.stopped:%Y-%m-%d}",
            ", ".join(variant.name for variant in state.experiment.variants),
        )
        for state in running
    ]
    if not rows and not session.output.json:
        session.output.say("There is no experiment yet; memorata lab experiment create starts one.", "")
        return
    heads = ("experiment", "method", "since", "state", "variants")
    data = {"experiments": [experiment_json(state) for state in running]}
    session.output.table(heads, rows, data=data)


def stop(session: Session, name: Name) -> None:
    """Stop an experiment, and show its last state."""
    with session.memory() as engine:
        _show(session, Experiments(engine).stop(name))


def _show(session: Session, state: ExperimentStatus) -> None:
    if session.output.json:
        session.output.data(experiment_status_json(state))
        return
    session.output.line(state.reason)
    if state.recommendation is None:
        return
    rows = [
        (
            name,
            str(measure.users),
            str(measure.questions),
            _figure(measure.click_through, 3),
            _figure(measure.satisfaction, 2),
            _figure(measure.zero_results, 3),
            _figure(measure.mean_results, 1),
            _figure(measure.worth, 4),
        )
        for name, measure in state.recommendation.measures.items()
    ]
    heads = ("variant", "users", "questions", "clicked", "rating", "no result", "results", "worth")
    session.output.table(heads, rows)
    for comparison in state.recommendation.comparisons:
        session.output.say(f"against {comparison.other}: worth {comparison.worth}, however often one looks")


def _figure(number: float, digits: int) -> str:
    """Return a measure; a dash where nothing was measured yet."""
    return "–" if math.isnan(number) else f"{number:.{digits}f}"


def _variant(text: str) -> Variant:
    """Return a variant from ``NAME:WEIGHT`` or ``NAME:WEIGHT:name=value,…``."""
    name, _, rest = text.partition(":")
    weight, _, settings = rest.partition(":")
    try:
        share = float(weight)
    except ValueError as error:
        raise InvalidArgument(
            "--variant", text, "NAME:WEIGHT[:SETTINGS], such as more:0.5:vector_weight=0.7"
        ) from error
    return Variant(name, share, parameter_values([setting for setting in settings.split(",") if setting]))
