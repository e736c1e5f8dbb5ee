"""Experiments with the users of a memory: create, assign, recall, status, stop."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from memorata.cli import options
from memorata.cli.command import Session
from memorata.cli.options import parameter_values, text_of
from memorata.cli.output import interval, speaker_line
from memorata.model.errors import InvalidArgument
from memorata.service.errors import NOT_FOUND

if TYPE_CHECKING:
    from memorata.learn.ab_test import Variant
    from memorata.learn.experiments import ExperimentStatus

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
    from memorata.service.codec import experiment_json

    variants = [_variant(specification) for specification in variant or []]
    with session.memory(create=True) as engine:
        running = engine.experiments.create(
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
        variant = engine.experiments.assign(name, user)
    session.output.result(
        {"user": user, "variant": variant.name, "settings": dict(variant.settings)}, variant.name
    )


def recall(session: Session, name: Name, user: User, query: options.Query, limit: options.Limit = 10) -> None:
    """Recall by the variant of a user, and record the exposure."""
    from memorata.service.codec import recall_json

    with session.memory(embed=True) as engine:
        result = engine.experiments.recall(name, user, text_of(query), limit=limit)
    lines = [f"{hit.score:.4f}\t{hit.memory.id}\t{speaker_line(hit.memory)}" for hit in result]
    session.output.result(recall_json(result), *lines)
    if not session.output.json:
        session.output.say(f"recall {result.id}")
    if not result.hits:
        session.leave(NOT_FOUND)


def status(
    session: Session,
    name: str | None = Argument(None, metavar="[NAME]", help="The experiment; all of them without."),
) -> None:
    """Show the state of an experiment; looking often does not make a wrong winner likelier."""
    from memorata.service.codec import experiment_json

    with session.memory() as engine:
        if name is not None:
            _show(session, engine.experiments.status(name))
            return
        running = engine.experiments.list()
    if session.output.json:
        session.output.data({"experiments": [experiment_json(state) for state in running]})
        return
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
    if not rows:
        session.output.say("There is no experiment yet; memorata experiment create starts one.", "")
        return
    session.output.table(("experiment", "method", "since", "state", "variants"), rows)


def stop(session: Session, name: Name) -> None:
    """Stop an experiment, and show its last state."""
    with session.memory() as engine:
        _show(session, engine.experiments.stop(name))


def _show(session: Session, state: ExperimentStatus) -> None:
    from memorata.service.codec import experiment_status_json

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
        session.output.say(
            f"against {comparison.other}: worth {interval(comparison.worth)}, however often one looks"
        )


def _figure(number: float, digits: int) -> str:
    """Return a measure; a dash where nothing was measured yet."""
    return "–" if math.isnan(number) else f"{number:.{digits}f}"


def _variant(text: str) -> Variant:
    """Return a variant from ``NAME:WEIGHT`` or ``NAME:WEIGHT:name=value,…``."""
    from memorata.learn.ab_test import Variant

    name, _, rest = text.partition(":")
    weight, _, settings = rest.partition(":")
    try:
        share = float(weight)
    except ValueError as error:
        raise InvalidArgument(
            "--variant", text, "NAME:WEIGHT[:SETTINGS], such as more:0.5:vector_weight=0.7"
        ) from error
    return Variant(name, share, parameter_values([setting for setting in settings.split(",") if setting]))
