"""Compare variants with the people who use them: experiment create, assign, recall, status, stop."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

import typer

from memorata.cli.arguments import changes, words
from memorata.cli.command import command
from memorata.cli.failures import NOTHING
from memorata.cli.flags import Group
from memorata.cli.learning import PANEL
from memorata.cli.learning_output import interval, table
from memorata.cli.output import one_line
from memorata.cli.recalling import Question, RecipeName
from memorata.cli.session import Session

if TYPE_CHECKING:
    from memorata.learn.assignment import Variant
    from memorata.learn.experiments import ExperimentStatus

Name = Annotated[str, typer.Argument(metavar="NAME", help="The experiment.")]
OneOrAll = Annotated[
    str | None, typer.Argument(metavar="[NAME]", help="The experiment; all of them without.")
]
User = Annotated[str, typer.Argument(metavar="USER", help="Who asks.")]
Variants = Annotated[
    list[str] | None,
    typer.Option(
        "--variant",
        metavar="NAME:WEIGHT[:SETTINGS]",
        help="A variant, its share of users, and what it changes: more:0.5:vector_weight=0.7; repeatable.",
    ),
]
Interleave = Annotated[bool, typer.Option("--interleave", help="Show two variants to everybody in one list.")]
Users = Annotated[int, typer.Option("--users", help="Least users of each variant before a winner is named.")]
Days = Annotated[int, typer.Option("--days", help="Least days before a winner is named.")]
Limit = Annotated[int, typer.Option("--limit", "-l", help="How many at most.")]


def register(app: typer.Typer) -> None:
    """Add the group of commands to the application."""
    group = typer.Typer(
        cls=Group, no_args_is_help=True, help="Compare variants with the people who use them."
    )
    command(group, "create")(create)
    command(group, "assign")(assign)
    command(group, "recall")(recall)
    command(group, "status")(status)
    command(group, "stop")(stop)
    app.add_typer(group, name="experiment", rich_help_panel=PANEL)


def create(
    session: Session,
    name: Name,
    variant: Variants = None,
    base: RecipeName = None,
    interleave: Interleave = False,
    users: Users = 100,
    days: Days = 7,
) -> None:
    """Start an experiment: at least two variants whose weights sum to 1."""
    from memorata.service.codec import experiment_json

    given = [_variant(each) for each in variant or []]
    with session.memory(create=True) as engine:
        made = engine.experiments.create(
            name,
            given,
            base=base,
            method="interleave" if interleave else "split",
            least_users=users,
            least_days=days,
        )
    if session.output.json:
        session.output.data(experiment_json(made))
    else:
        session.output.line(f"{name} runs since {made.started:%Y-%m-%d %H:%M} UTC")


def assign(session: Session, name: Name, user: User) -> None:
    """Say which variant a user belongs to: always the same one."""
    with session.memory() as engine:
        found = engine.experiments.assign(name, user)
    if session.output.json:
        session.output.data({"user": user, "variant": found.name, "settings": dict(found.settings)})
    else:
        session.output.line(found.name)


def recall(session: Session, name: Name, user: User, question: Question, limit: Limit = 10) -> None:
    """Recall as the variant of a user does, and note who saw what."""
    from memorata.service.codec import recall_json

    with session.memory(embed=True) as engine:
        found = engine.experiments.recall(name, user, words(question), limit=limit)
    if session.output.json:
        session.output.data(recall_json(found))
    else:
        for hit in found:
            session.output.line(f"{hit.score:.4f}\t{hit.memory.id}\t{one_line(hit.memory.content)}")
        session.output.say(f"recall {found.id}")
    if not found.hits:
        session.leave(NOTHING)


def status(session: Session, name: OneOrAll = None) -> None:
    """Show how an experiment stands; looking often does not change the odds of being wrong."""
    from memorata.service.codec import experiment_json

    with session.memory() as engine:
        if name is not None:
            _show(session, engine.experiments.status(name))
            return
        found = engine.experiments.list()
    if session.output.json:
        session.output.data({"experiments": [experiment_json(each) for each in found]})
        return
    rows = [
        (
            each.experiment.name,
            each.method,
            f"{each.started:%Y-%m-%d}",
            "running" if each.stopped is None else f"stopped {each.stopped:%Y-%m-%d}",
            ", ".join(one.name for one in each.experiment.variants),
        )
        for each in found
    ]
    if not rows:
        session.output.say("There is no experiment yet; memorata experiment create starts one.", "")
        return
    table(session, ("experiment", "method", "since", "state", "variants"), rows)


def stop(session: Session, name: Name) -> None:
    """Stop an experiment, and show how it stood."""
    with session.memory() as engine:
        _show(session, engine.experiments.stop(name))


def _show(session: Session, found: ExperimentStatus) -> None:
    from memorata.service.codec import experiment_status_json

    if session.output.json:
        session.output.data(experiment_status_json(found))
        return
    session.output.line(found.reason)
    if found.recommendation is None:
        return
    rows = [
        (
            name,
            str(each.users),
            str(each.questions),
            _figure(each.click_through, 3),
            _figure(each.satisfaction, 2),
            _figure(each.zero_results, 3),
            _figure(each.mean_results, 1),
            _figure(each.worth, 4),
        )
        for name, each in found.recommendation.measures.items()
    ]
    heads = ("variant", "users", "questions", "clicked", "rating", "no result", "results", "worth")
    table(session, heads, rows)
    for each in found.recommendation.comparisons:
        session.output.say(f"against {each.other}: worth {interval(each.worth)}, however often one looks")


def _figure(number: float, digits: int) -> str:
    """Return a measure as people read it; a dash where nothing was measured yet."""
    return "–" if math.isnan(number) else f"{number:.{digits}f}"


def _variant(text: str) -> Variant:
    """Return a variant from ``NAME:WEIGHT`` or ``NAME:WEIGHT:name=value,…``.

    Examples
    --------
    >>> _variant("more:0.5:vector_weight=0.7,deduplicate=no").settings["vector_weight"]
    0.7
    """
    from memorata.engine import PARAMETERS
    from memorata.learn.assignment import Variant
    from memorata.model.errors import InvalidArgument

    name, _, rest = text.partition(":")
    weight, _, settings = rest.partition(":")
    try:
        share = float(weight)
    except ValueError as error:
        raise InvalidArgument(
            "--variant", text, "NAME:WEIGHT[:SETTINGS], such as more:0.5:vector_weight=0.7"
        ) from error
    changed = changes([each for each in settings.split(",") if each], PARAMETERS)
    return Variant(name, share, changed)
