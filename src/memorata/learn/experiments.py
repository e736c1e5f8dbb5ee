"""Experiments that are kept in the database: made, taken part in, looked at as often as one likes, stopped.

A recall in an experiment is made with the settings of the variant its user belongs to, and who saw what is
noted beside the log. What they did comes from feedback: clicks and ratings. Instead of dividing users, two
variants can also be shown to everybody in one list (team draft), which needs far fewer questions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from memorata._frozen import frozen
from memorata.engine import Engine, Recall
from memorata.engine.recipe import Recipe
from memorata.engine.recipe_verbs import recipe_from
from memorata.learn.assignment import Experiment, Variant, position
from memorata.learn.interleaving import Interleaved, Preference, Team, credit, preference, team_draft
from memorata.learn.measures import Composite, Observation
from memorata.learn.recommendation import Recommendation, recommend
from memorata.model import checks
from memorata.model.errors import ExperimentNotFound, InvalidArgument
from memorata.model.feedback import Feedback, Signal
from memorata.model.former_names import formerly
from memorata.store.recall_log import Lesson, Sighting

EXPERIMENT: Final = "experiment"
"""The kind of lesson."""
METHODS: Final = ("split", "interleave")
"""Divide users among variants, or show two variants in one list."""
_GOOD: Final = frozenset({Signal.CLICK, Signal.THUMBS_UP, Signal.RELEVANT})
_ALWAYS_VALID: Final = 0.05
_LEAST_QUESTIONS: Final = 20


@frozen
class RunningExperiment:
    """An experiment as it is kept.

    Attributes
    ----------
    experiment
        Its name and variants.
    recipe
        The recipe that the variants change, as it was when the experiment began.
    method
        One of :data:`METHODS`.
    least_users, least_days
        Before these no winner is named.
    started, stopped
        When; `stopped` is None while it runs.
    """

    experiment: Experiment
    recipe: Recipe
    method: str
    least_users: int
    least_days: int
    started: datetime
    stopped: datetime | None = None


@frozen
class ExperimentStatus:
    """How an experiment stands: of users who were divided, or of lists in which two variants met."""

    running: RunningExperiment
    recommendation: Recommendation | None = None
    preference: Preference | None = None
    winner: str | None = None
    reason: str = ""


def create_experiment(
    engine: Engine,
    name: str,
    variants: Sequence[Variant],
    *,
    base: str | None = None,
    method: str = "split",
    least_users: int = 100,
    least_days: int = 7,
    namespace: str | None = None,
) -> RunningExperiment:
    """Start an experiment.

    Parameters
    ----------
    engine
        Whose database.
    name
        Of the experiment; one that runs already is refused.
    variants
        At least two, whose weights sum to 1; their settings are parameters of the recipe.
    base
        The name of the recipe they change; None for the one in use.
    method
        ``"split"`` or ``"interleave"``, which takes exactly two variants.
    least_users, least_days
        Before these no winner is named.
    namespace
        Whose; None for the engine's.
    """
    path = engine.namespace if namespace is None else namespace
    given = Experiment(name, variants)
    checks.one_of("method", method, METHODS)
    if method == "interleave" and len(given.variants) != 2:
        raise InvalidArgument("variants", len(given.variants), "exactly two variants to interleave")
    recipe = engine.recipe_named(base, namespace=path)
    for variant in given.variants:
        recipe.changed(dict(variant.settings))
    made = RunningExperiment(
        given,
        recipe,
        method,
        checks.whole("least_users", least_users, 2),
        checks.whole("least_days", least_days, 1),
        engine.moment,
    )
    # Of two who take the same name at once, one is told that it is taken.
    with engine.store.together():
        running = _found(engine, name, path)
        if running is not None and running.stopped is None:
            expected = "the name of an experiment that does not run yet; stop it first"
            raise InvalidArgument("name", name, expected)
        if running is not None:
            expected = "a new name: who saw what in the old one would count here, too"
            raise InvalidArgument("name", name, expected)
        engine.store.keep_lesson(path, EXPERIMENT, name, _data(made), {}, made.started)
    return made


def experiments(engine: Engine, *, namespace: str | None = None) -> tuple[RunningExperiment, ...]:
    """Return all experiments of a namespace, the latest first."""
    path = engine.namespace if namespace is None else namespace
    latest: dict[str, Lesson] = {}
    for each in engine.store.lessons(path, EXPERIMENT):
        latest.setdefault(each.name, each)
    return tuple(_read(each) for each in latest.values())


def assign(engine: Engine, name: str, user: str, *, namespace: str | None = None) -> Variant:
    """Return the variant of a user: the same one always, on every machine."""
    return experiment_named(engine, name, namespace=namespace).experiment.assigned(user)


@formerly("text", "question")
def recall_in_experiment(
    engine: Engine,
    name: str,
    user: str,
    question: str,
    *,
    namespace: str | None = None,
    **options: Any,  # noqa: ANN401
) -> Recall:
    """Recall as the variant of a user does, or with both variants in one list, and note who saw what.

    Parameters
    ----------
    engine
        Whose memories.
    name
        The experiment; a stopped one is refused.
    user
        Who asks.
    question
        What to look for; called `text` before, which is still understood.
    namespace
        Whose memories; None for the engine's.
    **options
        Other arguments of :meth:`~memorata.Engine.recall`; not the recipe or changes of it, which the
        experiment sets.
    """
    path = engine.namespace if namespace is None else namespace
    running = experiment_named(engine, name, namespace=path)
    if running.stopped is not None:
        raise InvalidArgument(
            "name", name, f"an experiment that runs; this one was stopped {running.stopped}"
        )
    if not engine.recall_log.how.recalls:
        raise InvalidArgument("log_recalls", False, "true: an experiment needs the log")
    checks.writable("user", user)
    for option in ("recipe", "changes"):
        if options.get(option):
            raise InvalidArgument(option, options[option], "left out: the experiment says how to recall")
    options = {option: value for option, value in options.items() if option not in ("recipe", "changes")}
    if running.method == "interleave":
        return _interleaved(engine, running, user, question, path, options)
    variant = running.experiment.assigned(user)
    found = engine.recall(question, namespace=path, recipe=_recipe(running, variant), **options)
    seen = Sighting(path, name, variant.name, user, found.id, engine.moment, len(found.hits))
    engine.recall_log.sighted(seen)
    return found


def experiment_status(engine: Engine, name: str, *, namespace: str | None = None) -> ExperimentStatus:
    """Return how an experiment stands; looking does not change the odds, so look as often as you like."""
    path = engine.namespace if namespace is None else namespace
    running = experiment_named(engine, name, namespace=path)
    engine.recall_log.flush()
    seen = engine.store.sightings(path, name)
    said: dict[str, list[Feedback]] = {}
    for reaction in engine.reactions(namespace=path):
        said.setdefault(reaction.feedback.recall_id, []).append(reaction.feedback)
    if running.method == "interleave":
        return _preferred(running, seen, said)
    observations: dict[str, list[Observation]] = {variant.name: [] for variant in running.experiment.variants}
    for each in seen:
        reactions = said.get(each.recall_id, [])
        ratings = [feedback.rating for feedback in reactions if feedback.rating is not None]
        clicked = bool(each.results) and any(feedback.signal in _GOOD for feedback in reactions)
        observations[each.variant].append(
            Observation(each.user, each.at, each.results, clicked, ratings[-1] if ratings else None)
        )
    rated = any(one.rating is not None for every in observations.values() for one in every)
    # Without a single rating satisfaction cannot count, and what can be measured has its weight.
    composite = Composite() if rated else Composite(2 / 3, 0.0, 1 / 3)
    found = recommend(
        running.experiment,
        observations,
        composite=composite,
        least_users=running.least_users,
        least_days=running.least_days,
    )
    return ExperimentStatus(running, found, None, found.winner, found.reason)


def stop_experiment(engine: Engine, name: str, *, namespace: str | None = None) -> ExperimentStatus:
    """Stop an experiment, and return how it stood; nobody takes part in it any more."""
    path = engine.namespace if namespace is None else namespace
    status = experiment_status(engine, name, namespace=path)
    if status.running.stopped is not None:
        raise InvalidArgument(
            "name", name, f"an experiment that runs; it was stopped {status.running.stopped}"
        )
    ended = replace(status.running, stopped=engine.moment)
    evidence = {"winner": status.winner, "reason": status.reason}
    engine.store.keep_lesson(path, EXPERIMENT, name, _data(ended), evidence, engine.moment)
    return replace(status, running=ended)


def experiment_named(engine: Engine, name: str, *, namespace: str | None = None) -> RunningExperiment:
    """Return an experiment, or raise with the names there are."""
    path = engine.namespace if namespace is None else namespace
    found = _found(engine, name, path)
    if found is None:
        known = tuple(each.experiment.name for each in experiments(engine, namespace=path))
        raise ExperimentNotFound(name, path, known)
    return found


def winning_recipe(status: ExperimentStatus) -> Recipe | None:
    """Return the recipe of the winner, to be saved; None while there is none."""
    variants = {each.name: each for each in status.running.experiment.variants}
    return None if status.winner is None else _recipe(status.running, variants[status.winner])


def _interleaved(
    engine: Engine, running: RunningExperiment, user: str, text: str, path: str, options: Mapping[str, Any]
) -> Recall:
    ours, theirs = (_recipe(running, variant) for variant in running.experiment.variants)
    first = engine.recall(text, namespace=path, recipe=ours, **options)
    # One question was asked, and one list is shown: the log has it under the first.
    with engine.recall_log.aside():
        second = engine.recall(text, namespace=path, recipe=theirs, **options)
    hits = {hit.memory.id: hit for hit in (*second.hits, *first.hits)}
    name = running.experiment.name
    # The coins of a question follow from who asks it and which recall it is.
    seed = int(position(name, f"{user} {first.id}") * 2**53)
    lists = [[hit.memory.id for hit in each.hits] for each in (first, second)]
    mixed = team_draft(lists[0], lists[1], length=max(map(len, lists)), seed=seed)
    teams = {id_: int(team) for id_, team in zip(mixed.ids, mixed.teams, strict=True)}
    seen = Sighting(path, name, "", user, first.id, engine.moment, len(mixed.ids), teams)
    engine.recall_log.sighted(seen)
    return replace(
        first,
        hits=tuple(hits[id_] for id_ in mixed.ids),
        sessions=(),
        rejected=None if mixed.ids else first.rejected,
        degraded=tuple(dict.fromkeys((*first.degraded, *second.degraded))),
    )


def _preferred(
    running: RunningExperiment, seen: Sequence[Sighting], said: Mapping[str, Sequence[Feedback]]
) -> ExperimentStatus:
    credits = []
    for each in seen:
        shown = Interleaved(tuple(each.teams), tuple(Team(team) for team in each.teams.values()))
        liked = {
            feedback.memory_id
            for feedback in said.get(each.recall_id, [])
            if feedback.signal in _GOOD and feedback.memory_id in each.teams
        }
        credits.append(credit(shown, liked))
    found = preference(credits)
    names = [variant.name for variant in running.experiment.variants]
    decided = found.wins + found.losses
    days = (max(each.at for each in seen).date() - running.started.date()).days + 1 if seen else 0
    numbers = f"{names[0]!r} won {found.wins} questions and {names[1]!r} {found.losses}, {found.ties} ties"
    if decided < _LEAST_QUESTIONS:
        reason = f"no decision yet: {numbers}; {_LEAST_QUESTIONS - decided} more that are no tie are needed"
    elif days < running.least_days:
        reason = f"no decision yet: {numbers}; {running.least_days - days} more days are needed"
    elif found.always_valid_p > _ALWAYS_VALID:
        reason = f"no decision yet: {numbers} (p {found.always_valid_p:.3f}, however often one looks)"
    else:
        winner = names[0] if found.wins > found.losses else names[1]
        reason = f"winner: {numbers} (p {found.always_valid_p:.4f}, however often one looks)"
        return ExperimentStatus(running, None, found, winner, reason)
    return ExperimentStatus(running, None, found, None, reason)


def _recipe(running: RunningExperiment, variant: Variant) -> Recipe:
    return running.recipe.changed(dict(variant.settings))


def _found(engine: Engine, name: str, path: str) -> RunningExperiment | None:
    found = engine.store.lessons(path, EXPERIMENT, checks.text("name", name))
    return _read(found[0]) if found else None


def _data(running: RunningExperiment) -> dict[str, Any]:
    return {
        "variants": [
            {"name": each.name, "weight": each.weight, "settings": dict(each.settings)}
            for each in running.experiment.variants
        ],
        "recipe": running.recipe.as_dict(),
        "method": running.method,
        "least_users": running.least_users,
        "least_days": running.least_days,
        "started": running.started.isoformat(),
        "stopped": None if running.stopped is None else running.stopped.isoformat(),
    }


def _read(lesson: Lesson) -> RunningExperiment:
    data = lesson.data
    variants = tuple(Variant(each["name"], each["weight"], each["settings"]) for each in data["variants"])
    stopped = data["stopped"]
    return RunningExperiment(
        Experiment(lesson.name, variants),
        recipe_from(data["recipe"]),
        data["method"],
        data["least_users"],
        data["least_days"],
        datetime.fromisoformat(data["started"]),
        None if stopped is None else datetime.fromisoformat(stopped),
    )
