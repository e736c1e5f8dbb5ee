"""The tuning lab: say what was relevant, let the numbers find better settings, keep what wins.

A question that is asked here is logged, so that what is said about its hits can be learnt from. Tuning runs
as a job over everything people said (:mod:`memorata.learn.tuning`); what wins on questions it was not
chosen on can be installed as a recipe, and rolled back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from starlette.responses import Response

from memorata._frozen import frozen
from memorata.engine.access import LOCAL
from memorata.learn.training_set import from_feedback, relevance
from memorata.learn.tuning import Tuned, install, tune_families, tune_recipe, tune_weights
from memorata.learn.validation import MIN_GROUPS
from memorata.model import checks
from memorata.model.errors import InvalidArgument, RecallNotFound
from memorata.model.feedback import Feedback
from memorata.model.memory import Memory
from memorata.service import work
from memorata.service.jobs import Job
from memorata.store.logged_recall import LoggedRecall
from memorata.web.plotting import Plot, plotted
from memorata.web.visit import Room, Visit

_KIND: Final = "tuning"
_WAYS: Final[dict[str, tuple[str, Callable[..., Tuned]]]] = {
    "share": ("The share of meaning, in tenths", tune_weights),
    "recipe": ("Which shipped recipe, and its share of meaning", tune_families),
    "many": ("Six weights at once", tune_recipe),
}
_JUDGED: Final = 30


@frozen
class Judged:
    """A hit of a logged recall, and what people said about it: relevant, not, or nothing."""

    place: int
    memory: Memory
    relevant: bool | None


def lab(visit: Visit) -> Response:
    """Show the lab."""
    engine = visit.engine
    material = from_feedback(engine, namespace=visit.namespace)
    recall = visit.values.text("recall")
    return visit.page(
        "lab.html",
        question=_question(visit, recall) if recall else "",
        recall=recall,
        hits=_hits(visit, recall) if recall else (),
        logged=engine.recall_log.how.recalls,
        questions=len(set(material.groups)),
        needed=MIN_GROUPS,
        reactions=len(engine.feedback.list(namespace=visit.namespace)),
        latest=engine.feedback.recalls(namespace=visit.namespace, limit=8),
        ways={name: text for name, (text, _) in _WAYS.items()},
        recipe=engine.recipes.get(namespace=visit.namespace),
        **_outcome(visit),
    )


def ask(visit: Visit) -> Response:
    """Ask a question that is logged, and show its hits to be judged."""
    if not visit.engine.recall_log.how.recalls:
        raise InvalidArgument("log_recalls", False, "true: what is not logged cannot be learnt from")
    found = visit.engine.recall(visit.values.text("q"), namespace=visit.namespace)
    return visit.go(visit.url("/lab", recall=found.id))


def judge(visit: Visit) -> Response:
    """Take down whether a hit was relevant."""
    values = visit.values
    recall, memory = values.text("recall"), values.text("memory")
    visit.engine.feedback.record(
        recall, memory, "relevant", values.text("relevant"), namespace=visit.namespace
    )
    if visit.fragment:
        hit = next((each for each in _hits(visit, recall) if each.memory.id == memory), None)
        if hit is not None:
            return visit.page("lab_hit.html", hit=hit, recall=recall)
    return visit.go(visit.url("/lab", recall=recall))


def tune(visit: Visit) -> Response:
    """Start to look for better settings."""
    way = checks.one_of("way", visit.values.text("way"), tuple(_WAYS))
    engine, namespace = visit.engine, visit.namespace

    def search(job: Job) -> Tuned:
        return work.tune(engine, namespace, job.progress, _WAYS[way][1])[0]

    visit.jobs.start_once(_KIND, visit.namespace, LOCAL.name, search)
    return outcome(visit) if visit.fragment else visit.go(visit.url("/lab") + "#outcome")


def outcome(visit: Visit) -> Response:
    """Show how the tuning stands."""
    return visit.page("lab_outcome.html", **_outcome(visit))


def keep(visit: Visit) -> Response:
    """Install what the last tuning found, if it won."""
    job = visit.jobs.last(_KIND, visit.namespace)
    if job is None or not isinstance(job.result, Tuned):
        raise InvalidArgument("tuning", None, "done: there is nothing to install")
    values = visit.values
    saved = install(
        visit.engine,
        job.result,
        values.text("name"),
        use=values.flag("use"),
        namespace=visit.namespace,
    )
    if saved is None:
        raise InvalidArgument("tuning", job.result.verdict.reason, "a win; this was refused")
    visit.jobs.drop(_KIND, visit.namespace)
    return visit.go(visit.url("/settings") + "#recipes")


def _outcome(visit: Visit) -> dict[str, Any]:
    job = visit.jobs.last(_KIND, visit.namespace)
    tuned = job.result if job is not None and isinstance(job.result, Tuned) else None
    return {"job": job, "tuned": tuned, "plot": None if tuned is None else _drawn(tuned)}


def _drawn(tuned: Tuned) -> Plot | None:
    """Return a drawing of a grid of one parameter, with what is in use and what was found."""
    names = {name for setting, _ in tuned.scores for name in setting}
    if len(names) != 1:
        return None
    name = names.pop()
    points = {float(setting[name]): score for setting, score in tuned.scores}
    now, found = float(getattr(tuned.base, name)), float(getattr(tuned.recipe, name))
    marks = {"in use": now} if now == found else {"in use": now, "found": found}
    return plotted(sorted(points.items()), name.replace("_", " "), tuned.metric, marks)


def _question(visit: Visit, recall: str) -> str:
    return _logged(visit, recall).query or ""


def _hits(visit: Visit, recall: str) -> tuple[Judged, ...]:
    logged = _logged(visit, recall)
    ids = [logged.ids[place] for place in logged.shown][:_JUDGED]
    memories = visit.engine.store.get(visit.namespace, ids) if ids else []
    said: dict[str, list[Feedback]] = {}
    for reaction in visit.engine.feedback.list(namespace=visit.namespace):
        if reaction.feedback.recall_id == recall:
            said.setdefault(reaction.feedback.memory_id, []).append(reaction.feedback)
    return tuple(
        Judged(place, memory, relevance(said.get(memory.id, []))) for place, memory in enumerate(memories, 1)
    )


def _logged(visit: Visit, recall: str) -> LoggedRecall:
    found = visit.engine.feedback.recalls(namespace=visit.namespace, ids=(recall,))
    if not found:
        raise RecallNotFound(recall, visit.namespace)
    return found[0]


ROOMS: Final = (
    Room("/lab", lab),
    Room("/lab/outcome", outcome),
    Room("/lab/ask", ask, "POST"),
    Room("/lab/judge", judge, "POST"),
    Room("/lab/tune", tune, "POST"),
    Room("/lab/install", keep, "POST"),
)
