"""Experiments in the database: users divided among variants of a recipe, or two variants in one list.

A recall in an experiment is made with the settings of the variant that its user belongs to, and the exposure
is noted beside the log. What users did comes from feedback: clicks and ratings.

Two variants can also be shown to every user in one list, by team-draft interleaving. Each ranking is a team;
in each round a coin says which picks first, and each takes its best item that is still there. A click is a
point for the team that picked the item. Both rankings face the same person with the same question at the same
moment, so what differs between people, which is most of the noise in an A/B comparison, is gone, and far
fewer queries are needed (Radlinski, Kurup & Joachims, CIKM 2008; Chapelle et al., *ACM TOIS* 30(1), 2012).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from enum import IntEnum
from random import Random
from typing import Any, Final

from memorata import Engine, Query, RecallResult, Recipe
from memorata.extend import frozen
from memorata.extend.errors import ExperimentNotFound, InvalidArgument
from memorata.extend.json import Json, picked, plain
from memorata.extend.log import Exposure, SavedSetting
from memorata.extend.model import Feedback, Signal, checks
from memorata.extend.recall import recipe_from
from memorata_lab.evaluate.significance import sign_evidence, sign_test
from memorata_lab.learn.ab_test import (
    Composite,
    Experiment,
    Observation,
    Recommendation,
    Variant,
    position,
    recommend,
)

EXPERIMENT: Final = "experiment"
"""The kind of saved setting."""
METHODS: Final = ("split", "interleave")
"""Divide users among variants, or show two variants in one list."""
_GOOD: Final = frozenset({Signal.CLICK, Signal.THUMBS_UP, Signal.RELEVANT})
_MAX_P: Final = 0.05
_MIN_DECIDED: Final = 20


class Team(IntEnum):
    """Which ranking picked an item."""

    FIRST = 1
    NEITHER = 0
    SECOND = -1


@frozen
class Interleaved:
    """One list made of two."""

    ids: tuple[str, ...]
    teams: tuple[Team, ...]


@frozen
class Preference:
    """Which of two rankings people preferred."""

    wins: int
    losses: int
    ties: int
    p: float
    always_valid_p: float


@frozen
class RunningExperiment:
    """An experiment as it is kept, with the recipe as it was then; `stopped` is None while it runs."""

    experiment: Experiment
    recipe: Recipe
    method: str
    least_users: int
    least_days: int
    started: datetime
    stopped: datetime | None = None


@frozen
class ExperimentStatus:
    """The status of an experiment: of users divided among variants, or of lists made of two variants."""

    running: RunningExperiment
    recommendation: Recommendation | None = None
    preference: Preference | None = None
    winner: str | None = None
    reason: str = ""


class Experiments:
    """The experiments of a database: created, recalled in, looked at, stopped.

    Parameters
    ----------
    engine
        Whose database.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> from memorata.engine import open
    >>> memory = open(":memory:", embedder="lexical", clock=lambda: datetime(2026, 5, 7, tzinfo=UTC))
    >>> experiments = Experiments(memory)
    >>> halves = (Variant("as it is", 0.5), Variant("more meaning", 0.5, {"vector_weight": 0.7}))
    >>> experiments.create("share", halves).method
    'split'
    >>> experiments.assign("share", "alice").name
    'as it is'
    >>> experiments.status("share").reason
    "no decision yet: 'as it is' has 0 users, 100 more are needed"
    >>> experiments.stop("share").running.stopped.year
    2026
    >>> memory.close()
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def create(
        self,
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
        name
            Of the experiment; one that was there before is refused.
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
        engine, path = self._engine, self._namespace(namespace)
        experiment = Experiment(name, variants)
        checks.one_of("method", method, METHODS)
        if method == "interleave" and len(experiment.variants) != 2:
            raise InvalidArgument("variants", len(experiment.variants), "exactly two variants to interleave")
        recipe = engine.admin.recipes.get(base, namespace=path)
        for variant in experiment.variants:
            recipe.changed(dict(variant.settings))
        running = RunningExperiment(
            experiment,
            recipe,
            method,
            checks.whole("least_users", least_users, 2),
            checks.whole("least_days", least_days, 1),
            engine.now(),
        )
        # Of two that take the same name at once, one is refused.
        with engine.store.together():
            existing = self._find(name, path)
            if existing is not None and existing.stopped is None:
                expected = "the name of an experiment that does not run yet; stop it first"
                raise InvalidArgument("name", name, expected)
            if existing is not None:
                expected = "a new name: exposures of the old one would count here, too"
                raise InvalidArgument("name", name, expected)
            engine.store.saved_settings.save(path, EXPERIMENT, name, _data(running), {}, running.started)
        return running

    def list(self, *, namespace: str | None = None) -> tuple[RunningExperiment, ...]:
        """Return all experiments of a namespace, the latest first."""
        latest: dict[str, SavedSetting] = {}
        for saved in self._engine.store.saved_settings.list(self._namespace(namespace), EXPERIMENT):
            latest.setdefault(saved.name, saved)
        return tuple(_read(saved) for saved in latest.values())

    def get(self, name: str, *, namespace: str | None = None) -> RunningExperiment:
        """Return an experiment, or raise :class:`ExperimentNotFound` with the names there are."""
        path = self._namespace(namespace)
        existing = self._find(name, path)
        if existing is None:
            names = tuple(running.experiment.name for running in self.list(namespace=path))
            raise ExperimentNotFound(name, path, names)
        return existing

    def assign(self, name: str, user: str, *, namespace: str | None = None) -> Variant:
        """Return the variant of a user: the same one always, on every machine."""
        return self.get(name, namespace=namespace).experiment.assigned(user)

    def recall(
        self,
        /,
        name: str,
        user: str,
        query: str | Query,
        *,
        namespace: str | None = None,
        **options: Any,  # noqa: ANN401
    ) -> RecallResult:
        """Recall as the variant of a user does, or with both variants in one list, and note the exposure.

        Parameters
        ----------
        name
            The experiment; a stopped one is refused.
        user
            The user of the recall.
        query
            What to look for.
        namespace
            Whose memories; None for the engine's.
        **options
            Other arguments of :meth:`~memorata.Engine.recall`; not the recipe, which the
            experiment sets.
        """
        engine, path = self._engine, self._namespace(namespace)
        running = self.get(name, namespace=path)
        if running.stopped is not None:
            raise InvalidArgument(
                "name", name, f"an experiment that runs; this one was stopped {running.stopped}"
            )
        if not engine.recall_log.how.recalls:
            raise InvalidArgument("log_recalls", False, "true: an experiment needs the log")
        checks.writable("user", user)
        if value := options.pop("recipe", None):
            raise InvalidArgument("recipe", value, "left out: the experiment sets it")
        if running.method == "interleave":
            return _interleaved(engine, running, user, query, path, options)
        variant = running.experiment.assigned(user)
        result = engine.recall(query, namespace=path, recipe=_recipe(running, variant), **options)
        exposure = Exposure(path, name, variant.name, user, result.id, engine.now(), len(result.hits))
        engine.recall_log.note_exposure(exposure)
        return result

    def status(self, name: str, *, namespace: str | None = None) -> ExperimentStatus:
        """Return how an experiment stands; looking does not change the odds, so look as often as you like."""
        engine, path = self._engine, self._namespace(namespace)
        running = self.get(name, namespace=path)
        engine.recall_log.flush()
        exposures = engine.store.exposures.list(path, name)
        feedback: dict[str, list[Feedback]] = {}
        for reaction in engine.admin.feedback.list(namespace=path):
            feedback.setdefault(reaction.feedback.recall_id, []).append(reaction.feedback)
        status = _preferred if running.method == "interleave" else _compared
        return status(running, exposures, feedback)

    def stop(self, name: str, *, namespace: str | None = None) -> ExperimentStatus:
        """Stop an experiment, and return its last status; recalls in it are refused from now on."""
        engine, path = self._engine, self._namespace(namespace)
        status = self.status(name, namespace=path)
        if status.running.stopped is not None:
            raise InvalidArgument(
                "name", name, f"an experiment that runs; it was stopped {status.running.stopped}"
            )
        ended = replace(status.running, stopped=engine.now())
        evidence = {"winner": status.winner, "reason": status.reason}
        engine.store.saved_settings.save(path, EXPERIMENT, name, _data(ended), evidence, engine.now())
        return replace(status, running=ended)

    def _namespace(self, namespace: str | None) -> str:
        return self._engine.namespace if namespace is None else namespace

    def _find(self, name: str, path: str) -> RunningExperiment | None:
        saved = self._engine.store.saved_settings.list(path, EXPERIMENT, checks.text("name", name))
        return _read(saved[0]) if saved else None


def winning_recipe(status: ExperimentStatus) -> Recipe | None:
    """Return the recipe of the winner, to be saved; None while there is none."""
    variants = {variant.name: variant for variant in status.running.experiment.variants}
    return None if status.winner is None else _recipe(status.running, variants[status.winner])


def _compared(
    running: RunningExperiment, exposures: Sequence[Exposure], feedback: Mapping[str, Sequence[Feedback]]
) -> ExperimentStatus:
    """Return how an experiment stands whose users are divided among its variants."""
    observations: dict[str, list[Observation]] = {variant.name: [] for variant in running.experiment.variants}
    for exposure in exposures:
        signals = feedback.get(exposure.recall_id, [])
        ratings = [signal.rating for signal in signals if signal.rating is not None]
        clicked = bool(exposure.results) and any(signal.signal in _GOOD for signal in signals)
        observations[exposure.variant].append(
            Observation(
                exposure.user, exposure.at, exposure.results, clicked, ratings[-1] if ratings else None
            )
        )
    rated = any(
        observation.rating is not None for variant in observations.values() for observation in variant
    )
    # Without a single rating satisfaction cannot count, and what can be measured has its weight.
    composite = Composite() if rated else Composite(2 / 3, 0.0, 1 / 3)
    recommendation = recommend(
        running.experiment,
        observations,
        composite=composite,
        least_users=running.least_users,
        least_days=running.least_days,
    )
    return ExperimentStatus(running, recommendation, None, recommendation.winner, recommendation.reason)


def _interleaved(
    engine: Engine,
    running: RunningExperiment,
    user: str,
    query: str | Query,
    path: str,
    options: Mapping[str, Any],
) -> RecallResult:
    ours, theirs = (_recipe(running, variant) for variant in running.experiment.variants)
    first = engine.recall(query, namespace=path, recipe=ours, **options)
    # One question was asked, and one list is shown: the log has it under the first.
    second = engine.scope(path, logged=False).recall(query, recipe=theirs, **options)
    hits = {hit.memory.id: hit for hit in (*second.hits, *first.hits)}
    name = running.experiment.name
    # The coins of a question follow from its user and its recall.
    seed = int(position(name, f"{user} {first.id}") * 2**53)
    lists = [[hit.memory.id for hit in variant.hits] for variant in (first, second)]
    mixed = team_draft(lists[0], lists[1], length=max(map(len, lists)), seed=seed)
    teams = {id_: int(team) for id_, team in zip(mixed.ids, mixed.teams, strict=True)}
    exposure = Exposure(path, name, "", user, first.id, engine.now(), len(mixed.ids), teams)
    engine.recall_log.note_exposure(exposure)
    return replace(
        first,
        hits=tuple(hits[id_] for id_ in mixed.ids),
        sessions=(),
        rejected=None if mixed.ids else first.rejected,
        degraded=tuple(dict.fromkeys((*first.degraded, *second.degraded))),
    )


def _preferred(
    running: RunningExperiment, exposures: Sequence[Exposure], feedback: Mapping[str, Sequence[Feedback]]
) -> ExperimentStatus:
    credits = []
    for exposure in exposures:
        shown = Interleaved(tuple(exposure.teams), tuple(Team(team) for team in exposure.teams.values()))
        liked = {
            reaction.memory_id
            for reaction in feedback.get(exposure.recall_id, [])
            if reaction.signal in _GOOD and reaction.memory_id in exposure.teams
        }
        credits.append(credit(shown, liked))
    outcome = preference(credits)
    names = [variant.name for variant in running.experiment.variants]
    decided = outcome.wins + outcome.losses
    last = max((exposure.at for exposure in exposures), default=None)
    days = 0 if last is None else (last.date() - running.started.date()).days + 1
    won, lost, ties = outcome.wins, outcome.losses, outcome.ties
    numbers = f"{names[0]!r} won {won} questions and {names[1]!r} {lost}, {ties} ties"
    if decided < _MIN_DECIDED:
        reason = f"no decision yet: {numbers}; {_MIN_DECIDED - decided} more that are no tie are needed"
    elif days < running.least_days:
        reason = f"no decision yet: {numbers}; {running.least_days - days} more days are needed"
    elif outcome.always_valid_p > _MAX_P:
        reason = f"no decision yet: {numbers} (p {outcome.always_valid_p:.3f}, however often one looks)"
    else:
        winner = names[0] if outcome.wins > outcome.losses else names[1]
        reason = f"winner: {numbers} (p {outcome.always_valid_p:.4f}, however often one looks)"
        return ExperimentStatus(running, None, outcome, winner, reason)
    return ExperimentStatus(running, None, outcome, None, reason)


def _recipe(running: RunningExperiment, variant: Variant) -> Recipe:
    return replace(running.recipe, **variant.settings)


def _data(running: RunningExperiment) -> dict[str, Any]:
    return {
        "variants": [
            {"name": variant.name, "weight": variant.weight, "settings": dict(variant.settings)}
            for variant in running.experiment.variants
        ],
        "recipe": running.recipe.as_dict(),
        "method": running.method,
        "least_users": running.least_users,
        "least_days": running.least_days,
        "started": running.started.isoformat(),
        "stopped": None if running.stopped is None else running.stopped.isoformat(),
    }


def _read(saved: SavedSetting) -> RunningExperiment:
    data = saved.data
    variants = tuple(
        Variant(variant["name"], variant["weight"], variant["settings"]) for variant in data["variants"]
    )
    stopped = data["stopped"]
    return RunningExperiment(
        Experiment(saved.name, variants),
        recipe_from(data["recipe"]),
        data["method"],
        data["least_users"],
        data["least_days"],
        datetime.fromisoformat(data["started"]),
        None if stopped is None else datetime.fromisoformat(stopped),
    )


def team_draft(first: Sequence[str], second: Sequence[str], *, length: int, seed: int) -> Interleaved:
    """Interleave two rankings, with the coins of a seed: each question should have its own.

    Once a round starts with one team that has nothing left to pick, what follows belongs to neither.
    """
    lists = _ranking("first", first), _ranking("second", second)
    limit = checks.whole("length", length)
    coins = Random(checks.whole("seed", seed))
    ids: list[str] = []
    teams: list[Team] = []
    shown: set[str] = set()
    places = [0, 0]

    def pick(side: int) -> str | None:
        ranking = lists[side]
        while places[side] < len(ranking) and ranking[places[side]] in shown:
            places[side] += 1
        return ranking[places[side]] if places[side] < len(ranking) else None

    while len(ids) < limit:
        starts = coins.getrandbits(1)
        drafting = pick(0) is not None, pick(1) is not None
        if not any(drafting):
            break
        for side in (starts, 1 - starts):
            item = pick(side)
            if item is not None and len(ids) < limit:
                ids.append(item)
                shown.add(item)
                teams.append((Team.FIRST, Team.SECOND)[side] if all(drafting) else Team.NEITHER)
    return Interleaved(tuple(ids), tuple(teams))


def credit(interleaved: Interleaved, clicked: Iterable[str]) -> int:
    """Return which ranking a question went to: 1 for the first, -1 for the second, 0 for a tie."""
    team_of = dict(zip(interleaved.ids, interleaved.teams, strict=True))
    points = 0
    for item in set(checks.texts("clicked", clicked)):
        if item not in team_of:
            raise InvalidArgument("clicked", item, "items that were shown")
        points += team_of[item]
    return (points > 0) - (points < 0)


def preference(credits: Iterable[int]) -> Preference:
    """Return which ranking won more questions, and whether that may be chance."""
    counts = {1: 0, -1: 0, 0: 0}
    for place, credit in enumerate(credits):
        if not isinstance(credit, int) or isinstance(credit, bool) or credit not in counts:
            raise InvalidArgument(f"credits[{place}]", credit, "1, 0 or -1")
        counts[credit] += 1
    wins, losses = counts[1], counts[-1]
    return Preference(wins, losses, counts[0], sign_test(wins, losses), sign_evidence(wins, losses))


def _ranking(argument: str, ranking: Sequence[str]) -> tuple[str, ...]:
    ids = checks.texts(argument, ranking)
    if len(set(ids)) < len(ids):
        raise InvalidArgument(argument, ids, "a ranking with each item once")
    return ids


def experiment_json(running: RunningExperiment) -> Json:
    """Return an experiment as JSON."""
    return {
        "name": running.experiment.name,
        "base": running.recipe.name,
        "variants": plain(running.experiment.variants),
        **picked(running, "method", "least_users", "least_days", "started", "stopped"),
    }


def experiment_status_json(status: ExperimentStatus) -> Json:
    """Return an experiment as JSON, with its state."""
    state = picked(status, "winner", "reason", "recommendation", "preference")
    return {**experiment_json(status.running), **state}
