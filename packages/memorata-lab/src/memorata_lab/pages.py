"""The tuning lab and the experiments dashboard: judge hits, tune on the judgements, compare, keep what wins.

A recall made here is logged, so that its judgements can be learnt from. Tuning is a job over all feedback
(:mod:`memorata_lab.learn.tuning`); what wins on held-out queries can be installed as a recipe, and rolled
back. The numbers of experiments hold however often one looks (:mod:`memorata_lab.evaluate.significance`), so
the page may be open all day.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final, TypeAlias

from starlette.responses import Response

from memorata.extend import frozen
from memorata.extend.access import LOCAL
from memorata.extend.errors import InvalidArgument, RecallNotFound
from memorata.extend.log import LoggedRecall
from memorata.extend.model import Feedback, Memory, checks
from memorata_lab.jobs import tune as run_tuning
from memorata_lab.learn.ab_test import Variant
from memorata_lab.learn.experiments import METHODS, Experiments, winning_recipe
from memorata_lab.learn.thresholds import TunedThresholds, tune_gate
from memorata_lab.learn.training_set import from_feedback, relevance
from memorata_lab.learn.tuning import Tuned, install, tune_families, tune_recipe, tune_weights
from memorata_lab.learn.validation import MIN_GROUPS
from memorata_server.jobs import Job
from memorata_server.web.context import PageContext, PageRoute
from memorata_server.web.forms import controls, read_changes

_KIND: Final = "tuning"
_Result: TypeAlias = Tuned | TunedThresholds
_WAYS: Final[dict[str, tuple[str, Callable[..., _Result]]]] = {
    "share": ("The share of meaning, in tenths", tune_weights),
    "recipe": ("Which shipped recipe, and its share of meaning", tune_families),
    "many": ("Six weights at once", tune_recipe),
    "similarity": ("The least similarity, for a precision of 90 %", tune_gate),
    "gate": ("The least similarity and the least confidence, by F1", partial(tune_gate, method="f1")),
}
_WAYS_WITH_ENGINE: Final = ("similarity", "gate")
"""The ways that need to know the embedder."""
_MAX_HITS: Final = 30


@frozen
class Judged:
    """A hit of a logged recall, and what people said about it: relevant, not, or nothing."""

    place: int
    memory: Memory
    relevant: bool | None


PAGES: Final = (("/lab", "Lab"), ("/experiments", "Experiments"))
"""What the top of every page leads to."""


def lab(context: PageContext) -> Response:
    """Show the lab."""
    engine = context.engine
    training_set = from_feedback(engine)
    recall = context.values.text("recall")
    return context.page(
        "lab.html",
        query=(_logged(context, recall).query or "") if recall else "",
        recall=recall,
        hits=_hits(context, recall) if recall else (),
        logged=engine.recall_log.how.recalls,
        questions=len(set(training_set.groups)),
        needed=MIN_GROUPS,
        reactions=len(engine.admin.feedback.list()),
        latest=engine.admin.feedback.recalls(limit=8),
        ways={name: text for name, (text, _) in _WAYS.items()},
        recipe=engine.admin.recipes.get(),
        **_outcome(context),
    )


def ask(context: PageContext) -> Response:
    """Run a recall that is logged, and show its hits to be judged."""
    if not context.engine.recall_log.how.recalls:
        raise InvalidArgument("log_recalls", False, "true: what is not logged cannot be learnt from")
    result = context.engine.recall(context.values.text("q"))
    return context.go(context.url("/lab", recall=result.id))


def judge(context: PageContext) -> Response:
    """Take down whether a hit was relevant."""
    values = context.values
    recall, memory = values.text("recall"), values.text("memory")
    context.engine.admin.feedback.record(recall, memory, "relevant", values.text("relevant"))
    if context.fragment:
        hit = next((hit for hit in _hits(context, recall) if hit.memory.id == memory), None)
        if hit is not None:
            return context.page("lab_hit.html", hit=hit, recall=recall)
    return context.go(context.url("/lab", recall=recall))


def tune(context: PageContext) -> Response:
    """Start to look for better settings."""
    way = checks.one_of("way", context.values.text("way"), tuple(_WAYS))
    engine, namespace = context.engine, context.namespace

    def search(job: Job) -> _Result:
        tuner = _WAYS[way][1]
        return run_tuning(
            engine, namespace, job.progress, partial(tuner, engine) if way in _WAYS_WITH_ENGINE else tuner
        )[0]

    context.jobs.start_once(_KIND, context.namespace, LOCAL.name, search)
    return outcome(context) if context.fragment else context.go(context.url("/lab") + "#outcome")


def outcome(context: PageContext) -> Response:
    """Show how the tuning stands."""
    return context.page("lab_outcome.html", **_outcome(context))


def keep(context: PageContext) -> Response:
    """Install what the last tuning found, if it won."""
    job = context.jobs.last(_KIND, context.namespace)
    if job is None or not isinstance(job.result, Tuned | TunedThresholds):
        raise InvalidArgument("tuning", None, "done: there is nothing to install")
    values = context.values
    saved = install(context.engine, job.result, values.text("name"), use=values.flag("use"))
    if saved is None:
        raise InvalidArgument("tuning", job.result.verdict.reason, "a win; this was refused")
    context.jobs.drop(_KIND, context.namespace)
    return context.go(context.url("/settings") + "#recipes")


def _outcome(context: PageContext) -> dict[str, Any]:
    job = context.jobs.last(_KIND, context.namespace)
    tuned = job.result if job is not None and isinstance(job.result, Tuned | TunedThresholds) else None
    return {"job": job, "tuned": tuned, "plot": None if tuned is None else _drawn(tuned)}


def _drawn(tuned: _Result) -> Plot | None:
    """Return a drawing of a grid of one parameter, with what is in use and what was found."""
    names = {name for setting, _ in tuned.scores for name in setting}
    if len(names) != 1:
        return None
    name = names.pop()
    points = {float(setting[name]): score for setting, score in tuned.scores}
    now, chosen = float(getattr(tuned.base, name)), float(getattr(tuned.recipe, name))
    marks = {"in use": now} if now == chosen else {"in use": now, "found": chosen}
    return plotted(sorted(points.items()), name.replace("_", " "), tuned.metric, marks)


def _hits(context: PageContext, recall: str) -> tuple[Judged, ...]:
    logged = _logged(context, recall)
    ids = [logged.ids[place] for place in logged.shown][:_MAX_HITS]
    memories = context.engine.store.get(context.namespace, ids) if ids else []
    feedback: dict[str, list[Feedback]] = {}
    for reaction in context.engine.admin.feedback.list():
        if reaction.feedback.recall_id == recall:
            feedback.setdefault(reaction.feedback.memory_id, []).append(reaction.feedback)
    return tuple(
        Judged(place, memory, relevance(feedback.get(memory.id, [])))
        for place, memory in enumerate(memories, 1)
    )


def _logged(context: PageContext, recall: str) -> LoggedRecall:
    recalls = context.engine.admin.feedback.recalls(ids=(recall,))
    if not recalls:
        raise RecallNotFound(recall, context.namespace)
    return recalls[0]


WIDTH: Final = 480.0
HEIGHT: Final = 180.0
_LEFT_MARGIN: Final = 56.0
_RIGHT_MARGIN: Final = 14.0
_BOTTOM_MARGIN: Final = 34.0
_SLACK_SHARE: Final = 0.12


@frozen
class Mark:
    """A point that has a name."""

    label: str
    x: float
    y: float
    value: float
    height: float


@frozen
class Tick:
    """A number beside an axis, and where it stands along it."""

    text: str
    at: float


@frozen
class Plot:
    """A drawing: the line and its points in drawing units, what is marked, and the numbers at the axes."""

    line: str
    points: tuple[Mark, ...]
    marks: tuple[Mark, ...]
    across: tuple[Tick, ...]
    upwards: tuple[Tick, ...]
    x_label: str
    y_label: str
    width: float = WIDTH
    height: float = HEIGHT


def plotted(
    points: Sequence[tuple[float, float]], x_label: str, y_label: str, marks: Mapping[str, float]
) -> Plot | None:
    """Return a drawing of points in the order of their first coordinate; None with fewer than two.

    `marks` names some of the points, by their first coordinate.
    """
    if len(points) < 2:
        return None
    xs, ys = [x for x, _ in points], [y for _, y in points]
    # A flat line is drawn in the middle.
    slack = (max(ys) - min(ys)) * _SLACK_SHARE or 0.01
    low, high = min(ys) - slack, max(ys) + slack

    def across(x: float) -> float:
        return _LEFT_MARGIN + (x - xs[0]) / (xs[-1] - xs[0]) * (WIDTH - _LEFT_MARGIN - _RIGHT_MARGIN)

    def upwards(y: float) -> float:
        return HEIGHT - _BOTTOM_MARGIN - (y - low) / (high - low) * (HEIGHT - _BOTTOM_MARGIN - _RIGHT_MARGIN)

    drawn = tuple(Mark("", across(x), upwards(y), x, y) for x, y in points)
    named = [(label, point) for label, at in marks.items() for point in drawn if point.value == at]
    marked = tuple(replace(point, label=label) for label, point in named)
    return Plot(
        " ".join(f"{point.x:.1f},{point.y:.1f}" for point in drawn),
        drawn,
        marked,
        tuple(Tick(f"{x:g}", across(x)) for x in (xs[0], xs[len(xs) // 2], xs[-1])),
        tuple(Tick(f"{y:.3f}", upwards(y)) for y in (min(ys), max(ys))),
        x_label,
        y_label,
    )


_FIRST: Final = "as it is"


def dashboard(context: PageContext) -> Response:
    """Show every experiment of the namespace."""
    engine = context.engine
    names = [running.experiment.name for running in Experiments(engine).list()]
    recipe = engine.admin.recipes.get()
    return context.page(
        "experiments.html",
        experiments=[Experiments(engine).status(name) for name in names],
        recipe=recipe,
        methods=METHODS,
        groups=controls(recipe, {}),
        logged=engine.recall_log.how.recalls,
    )


def create(context: PageContext) -> Response:
    """Start an experiment: the recipe as it is against one with some parameters changed."""
    values = context.values
    base = context.engine.admin.recipes.get()
    changes = read_changes(base, values)
    if not changes:
        raise InvalidArgument("settings", base.name, "a recipe with at least one control turned")
    share = values.number("share", 0.5)
    weight = 0.5 if share is None else share
    variants = (Variant(_FIRST, 1 - weight), Variant(values.text("variant", "changed"), weight, changes))
    Experiments(context.engine).create(
        values.text("name"),
        variants,
        method=values.text("method", METHODS[0]),
        least_users=values.whole("users", 100, 2),
        least_days=values.whole("days", 7, 1),
    )
    return context.go(context.url("/experiments"))


def stop(context: PageContext) -> Response:
    """Stop an experiment."""
    Experiments(context.engine).stop(context.values.text("name"))
    return context.go(context.url("/experiments"))


def keep_winner(context: PageContext) -> Response:
    """Save the recipe of the winner, and use it from now on."""
    engine, name = context.engine, context.values.text("name")
    status = Experiments(engine).status(name)
    recipe = winning_recipe(status)
    if recipe is None:
        raise InvalidArgument("name", name, f"an experiment with a winner; {status.reason}")
    evidence: dict[str, Any] = {"by": "experiment", "experiment": name, "reason": status.reason}
    saved = context.values.text("recipe")
    engine.admin.recipes.save(saved, recipe, evidence=evidence)
    engine.admin.recipes.use(saved)
    return context.go(context.url("/settings") + "#recipes")


ROUTES: Final = (
    PageRoute("/lab", lab),
    PageRoute("/lab/outcome", outcome),
    PageRoute("/lab/ask", ask, "POST"),
    PageRoute("/lab/judge", judge, "POST"),
    PageRoute("/lab/tune", tune, "POST"),
    PageRoute("/lab/install", keep, "POST"),
    PageRoute("/experiments", dashboard),
    PageRoute("/experiments", create, "POST"),
    PageRoute("/experiments/stop", stop, "POST"),
    PageRoute("/experiments/keep", keep_winner, "POST"),
)
