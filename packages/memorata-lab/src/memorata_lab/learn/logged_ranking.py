"""Logged recalls ranked again by another recipe, with the pipeline of a recall on the logged candidates.

What the legs found was logged, and so was all that the later steps look at. So everything from the fusion on
is simply run again: shares, fusion, session, speaker, confidence, quality, fading, time, gate, repeats. What
a recipe says about searching (:data:`SEARCH_PARAMETERS`) stays as it was when the recall was logged, for it
would find other candidates; so do variety and re-rankers, which need vectors and texts that are not in the
log.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, Final

import numpy as np

from memorata import Recipe
from memorata.extend import frozen
from memorata.extend.errors import InvalidArgument
from memorata.extend.log import DAY, NEAR, RANK, UNCHANGED_COLUMNS, LoggedRecall
from memorata.extend.model import FloatArray, IntArray, Period, Place
from memorata.extend.recall import (
    GEO,
    GRAPH,
    LEXICAL,
    PARAMETERS,
    RECORD,
    SOFT,
    SPEAKER,
    TEMPORAL,
    VECTOR,
    ExtraLeg,
    LegCandidates,
    Legs,
    ParsedQuery,
    Ranked,
    RecallContext,
    Records,
    RuleClassifier,
    fuse,
    rank_candidates,
)

SEARCH_PARAMETERS: Final = tuple(parameter.name for parameter in PARAMETERS if parameter.search)
"""The parameters of a recipe that a replay leaves as they were."""
REPLAYABLE: Final = tuple(parameter.name for parameter in PARAMETERS if not parameter.search)
"""Those it can change."""
_CLASSIFIER: Final = RuleClassifier()
_SOMEWHERE: Final = Place(0.0, 0.0)
"""That a place was asked for; how far each candidate is from it is in the log."""


def checked_changes(changes: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return changes of a recipe that a replay can make, or say which it cannot and why."""
    for name in changes:
        if name in SEARCH_PARAMETERS:
            possible = ", ".join(REPLAYABLE)
            raise InvalidArgument("parameter", name, f"one that needs no search, such as {possible}")
    return changes


def logged_recipe(recall: LoggedRecall) -> Recipe:
    """Return the recipe that a recall was made with."""
    return _recipe_of(tuple(recall.recipe.items()))


def as_replayed(recipe: Recipe, recall: LoggedRecall) -> Recipe:
    """Return a recipe with everything about searching as it was in a logged recall."""
    return _replayed(recipe, logged_recipe(recall))


def search_changes(recipe: Recipe, base: Recipe) -> tuple[str, ...]:
    """Return the parameters of a recipe that need another search than a base recipe makes."""
    return tuple(name for name in SEARCH_PARAMETERS if getattr(base, name) != getattr(recipe, name))


# A tuner ranks the same few recalls by one recipe after the other, and checking sixty parameters takes half
# as long as ranking by them.
@lru_cache(maxsize=256)
def _recipe_of(logged: tuple[tuple[str, Any], ...]) -> Recipe:
    names = {parameter.name for parameter in PARAMETERS}
    values = dict(logged)
    own = {name: value for name, value in values.items() if name in names}
    return Recipe(name=str(values.get("name", "")), **own)


@lru_cache(maxsize=256)
def _replayed(recipe: Recipe, logged: Recipe) -> Recipe:
    logged_values = {name: getattr(logged, name) for name in SEARCH_PARAMETERS}
    return replace(recipe, **logged_values | {"diversity": "none", "rerank_depth": 0})


def _replayable(recipe: Recipe, recall: LoggedRecall) -> None:
    """Raise where a recipe ranks by what is not in the log."""
    if recipe.weighting == "category" and recipe.confidence not in ("none", "multiplicative"):
        raise InvalidArgument("weighting", "category", "another one: the log has no categories of memories")
    if recall.query is None and reads_query(recipe):
        raise InvalidArgument(
            "recipe", recipe.name, f"one that needs no question: the log has none of recall {recall.id}"
        )


def reads_query(recipe: Recipe) -> bool:
    """Return whether a recipe ranks by the words of the query, which a log without queries cannot give."""
    return recipe.legs_by_query or recipe.weighting == "query"


def kept_as_logged(recipe: Recipe, recalls: Iterable[LoggedRecall]) -> tuple[str, ...]:
    """Return the parameters in which a recipe asks for another search than some recall was made with."""
    by_recipe = {id(recall.recipe): recall for recall in recalls}
    differing = {
        name for recall in by_recipe.values() for name in search_changes(recipe, logged_recipe(recall))
    }
    return tuple(name for name in SEARCH_PARAMETERS if name in differing)


def ranked_again(recall: LoggedRecall, recipe: Recipe) -> Ranked:
    """Return how a recipe would have ranked what a recall found.

    Slots are numbered anew, in the same order, so that equal scores come out as they would have.
    """
    replayed = as_replayed(recipe, recall)
    logged = _logged_candidates(recall)
    context = _context(recall, logged, replayed)
    nothing = LegCandidates(np.zeros(0, np.intp), np.zeros(0))
    legs = Legs(logged.legs.get(VECTOR, nothing), logged.legs.get(LEXICAL, nothing))
    if SOFT in logged.legs:
        legs = replace(legs, soft=logged.legs[SOFT])
    if "unread" in logged.columns:
        legs = replace(legs, unread=np.flatnonzero(logged.columns["unread"] > 0))
    for name, weight in ((TEMPORAL, replayed.time_weight), (GEO, replayed.place_weight)):
        if name in logged.legs:
            legs = legs.with_leg(ExtraLeg(name, logged.legs[name], weight))
    candidates = fuse(replayed, context, legs)
    if GRAPH in logged.legs and replayed.graph_weight:
        origins = candidates.slots[: replayed.graph_seeds if replayed.graph in ("names", "walk") else 0]
        legs = legs.with_leg(ExtraLeg(GRAPH, logged.legs[GRAPH], replayed.graph_weight, origins))
        candidates = fuse(replayed, context, legs)
    return rank_candidates(replayed, context, candidates)


def order_of(recall: LoggedRecall, recipe: Recipe) -> IntArray:
    """Return all candidates of a recall by position in the log, as a recipe would rank them.

    Those that pass come first, in the order in which they would be shown; then the others, by score.
    """
    if not len(recall.values):
        return np.zeros(0, np.intp)
    ranked = ranked_again(recall, recipe)
    if ranked.trace is None:
        return np.arange(len(recall.values))
    everything = ranked.trace.slots
    passes, is_candidate = np.zeros((2, len(recall.values)), np.bool_)
    passes[ranked.slots], is_candidate[everything] = True, True
    # What only a leg with no weight found is no candidate of this recipe, and comes last.
    missing = np.flatnonzero(~is_candidate)
    order = np.concatenate([ranked.slots, everything[~passes[everything]], missing])
    positions: IntArray = _logged_candidates(recall).positions[order]
    return positions


def ranking(recall: LoggedRecall, recipe: Recipe) -> tuple[str, ...]:
    """Return the ids of all candidates of a recall, as a recipe would rank them."""
    return tuple(recall.ids[place] for place in order_of(recall, recipe).tolist())


def query_group(recall: LoggedRecall) -> str:
    """Return the group of a recall: recalls of the same query are one.

    Where the log has no queries, those ask the same that found the same, as near by meaning and by words.
    """
    if recall.query is not None or not recall.ids:
        return " ".join((recall.query or "").casefold().split()) or recall.id
    by_id = sorted(range(len(recall.ids)), key=recall.ids.__getitem__)
    digest = hashlib.blake2b("\0".join(recall.ids[place] for place in by_id).encode(), digest_size=16)
    for leg in (VECTOR, LEXICAL):
        digest.update(recall.column(leg)[by_id].tobytes())
    return f"found {digest.hexdigest()}"


class _LoggedView:
    """As much of a view as the steps after the candidate search need."""

    def __init__(self, records: Records) -> None:
        self._records = records

    def records(self, slots: IntArray) -> Records:
        return self._records[slots]


def _context(recall: LoggedRecall, candidates: _LoggedCandidates, recipe: Recipe) -> RecallContext:
    logged = recall.situation
    period = logged["period"]
    _replayable(recipe, recall)
    return RecallContext(
        view=_LoggedView(candidates.records),  # type: ignore[arg-type]
        query=ParsedQuery(recall.query or "", {}, (), ()),
        classifier=_CLASSIFIER,
        vector=np.zeros(1, np.float32) if logged["meant"] else None,
        least_similarity=recipe.similarity_for(logged["noise"]),
        noise=logged["noise"],
        familiarity=logged.get("familiarity", 1.0),
        reliability=logged.get("reliability", 1.0),
        now=recall.at,
        period=None if period is None else _period(period),
        about_time=logged["about_time"],
        continues=logged.get("continues", False),
        near=candidates.columns.get(NEAR),
        here=_SOMEWHERE if logged["here"] else None,
    )


@frozen(eq=False)
class _LoggedCandidates:
    """What every recipe ranks of a recall: its candidates by slot, and where each stands in the log."""

    positions: IntArray
    columns: Mapping[str, FloatArray]
    records: Records
    legs: Mapping[str, LegCandidates]


# A tuner ranks the same recalls by one recipe after the other, and this takes half of the time. What is
# kept of a recall with a hundred candidates takes 35 kB.
@lru_cache(maxsize=512)
def _logged_candidates(recall: LoggedRecall) -> _LoggedCandidates:
    positions = recall.slots.argsort(kind="stable")
    recall = replace(recall, slots=recall.slots[positions], values=recall.values[positions])
    columns = {name: recall.column(name).astype(np.float64) for name in recall.columns}
    ceiling = float(recall.situation["ceiling"])
    legs: dict[str, LegCandidates] = {
        name: _leg(columns, name, ceiling if name == LEXICAL else 0.0)
        for name in (VECTOR, LEXICAL, SOFT, TEMPORAL, GEO, GRAPH)
        if name in columns
    }
    records = _records(recall)
    for leg in legs.values():
        leg.slots.flags.writeable = leg.scores.flags.writeable = False
    for array in (records, *columns.values()):
        array.flags.writeable = False
    return _LoggedCandidates(positions, columns, records, legs)


def _records(recall: LoggedRecall) -> Records:
    """Return the records of the candidates, as far as ranking looks at them."""
    records = np.zeros(len(recall.values), RECORD)
    now = recall.at.timestamp()
    for name in UNCHANGED_COLUMNS:
        records[name] = np.nan_to_num(recall.column(name))
    records["created"] = now - recall.column("age").astype(np.float64) * DAY
    records["event"] = now - recall.column("event").astype(np.float64) * DAY
    records["role"] = np.nan_to_num(recall.column("machine"))
    records["session"] = np.nan_to_num(recall.column("session"), nan=-1)
    # Recalls that were logged before this was asked are taken for conversations, as they were then.
    records["position"] = recall.column("position") if "position" in recall.columns else -1
    records["lengths"][:, SPEAKER] = recall.column("spoken") > 0 if "spoken" in recall.columns else 1
    repeats = recall.column("repeat")
    alone = np.isnan(repeats)
    # Contents that occur once get numbers of their own, above those of the repeats.
    records["fingerprint"] = np.where(
        alone, len(repeats) + np.arange(len(repeats)), np.nan_to_num(repeats)
    ).astype(np.uint64)
    return records


def _leg(columns: Mapping[str, FloatArray], name: str, ceiling: float) -> LegCandidates:
    """Return the candidates of a leg, in their logged order."""
    column = columns[name]
    slots = np.flatnonzero(~np.isnan(column))
    rank = columns.get(f"{name}{RANK}", -column)
    order = rank[slots].argsort(kind="stable")
    return LegCandidates(slots[order], column[slots][order], ceiling=ceiling)


def _period(data: Mapping[str, Any]) -> Period:
    start, end = datetime.fromisoformat(data["start"]), datetime.fromisoformat(data["end"])
    return Period(start, end, timedelta(seconds=data["tolerance"]))
