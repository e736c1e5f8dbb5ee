"""Assignment of users to the variants of an experiment: stable, and without any state.

The experiment's and the user's name are hashed together (BLAKE2b) to a point between 0 and 1, and the weights
divide that line among the variants. Two experiments divide people independently of each other, which one hash
of the user alone would not do. Python's own ``hash`` is salted anew in every process and is of no use here.

Two rankings in one list: team-draft interleaving, which needs far fewer questions than A/B. Each ranking is a
team; in each round a coin says which picks first, and each takes its best item that is still there. A click
is a point for the team that picked the item. Both rankings face the same person with the same question at the
same moment, so what differs between people, which is most of the noise in an A/B comparison, is gone
(Radlinski, Kurup & Joachims, CIKM 2008; Chapelle et al., *ACM TOIS* 30(1), 2012).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from enum import IntEnum
from itertools import accumulate
from random import Random
from types import MappingProxyType
from typing import Any

from memorata._frozen import frozen
from memorata.learn.hypothesis import sign_evidence, sign_test
from memorata.model import checks
from memorata.model.errors import InvalidArgument

_SUM_TOLERANCE = 1e-9
"""How far from 1 weights may sum: what is left of ten tenths, and not a forgotten variant."""


@frozen
class Variant:
    """One of the things that are compared: a name, its share of the users, and the settings it changes."""

    name: str
    weight: float
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if not checks.text("name", self.name):
            raise InvalidArgument("name", self.name, "a name")
        object.__setattr__(self, "weight", checks.above("weight", self.weight, 0))
        if not isinstance(self.settings, Mapping):
            raise InvalidArgument("settings", self.settings, "a mapping of parameters to values")
        checks.texts("settings", self.settings)
        object.__setattr__(self, "settings", MappingProxyType(dict(self.settings)))


@frozen
class Experiment:
    """Some variants of a recipe's settings that users are divided among.

    - `name`: users are assigned by it.
    - `variants`: at least two, with names of their own and weights that sum to 1.

    >>> Experiment("meaning", (Variant("as it is", 0.5), Variant("more", 0.4)))
    Traceback (most recent call last):
    ...
    memorata.model.errors.InvalidArgument: variants must be variants whose weights sum to 1, got 0.9
    """

    name: str
    variants: Sequence[Variant]

    def __post_init__(self) -> None:
        if not checks.text("name", self.name):
            raise InvalidArgument("name", self.name, "a name")
        variants = self.variants
        if not isinstance(variants, Sequence) or not all(
            isinstance(variant, Variant) for variant in variants
        ):
            raise InvalidArgument("variants", variants, "a list of variants")
        if len(variants) < 2:
            raise InvalidArgument("variants", [variant.name for variant in variants], "at least two variants")
        names = [variant.name for variant in variants]
        if len(set(names)) < len(names):
            raise InvalidArgument("variants", names, "variants with names of their own")
        # Not by fsum, which has no answer where the sum is beyond every number.
        total = sum(variant.weight for variant in variants)
        if abs(total - 1) > _SUM_TOLERANCE:
            raise InvalidArgument("variants", total, "variants whose weights sum to 1")
        object.__setattr__(self, "variants", tuple(variants))

    def assigned(self, user: str) -> Variant:
        """Return the variant of a user; the same answer in every process, on every machine, for ever."""
        point = position(self.name, user)
        ends = accumulate(variant.weight for variant in self.variants)
        matching = (variant for variant, end in zip(self.variants, ends, strict=True) if point < end)
        # The last end may be a rounding short of 1, and a point beyond it is the last one's all the same.
        return next(matching, self.variants[-1])


def position(experiment: str, user: str) -> float:
    """Return where a user stands in an experiment, from 0 to below 1, evenly over users."""
    names = checks.writable("experiment", experiment), checks.writable("user", user)
    # The length comes first, so that "a" and "bc" are not taken for "ab" and "c".
    key = f"{len(names[0])}:{names[0]}{names[1]}".encode()
    number = int.from_bytes(hashlib.blake2b(key, digest_size=8).digest(), "big")
    return (number >> 11) / (1 << 53)


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


def team_draft(first: Sequence[str], second: Sequence[str], *, length: int, seed: int) -> Interleaved:
    """Interleave two rankings.

    - `first`, `second`: the rankings, best first, each item once in each.
    - `length`: how many items to show at most.
    - `seed`: of the coins; give each question its own, and the same one for the same question.

    Once a round starts with one team that has nothing left to pick, what follows belongs to neither.

    >>> shown = team_draft(["a", "b", "c"], ["b", "d", "a"], length=3, seed=1)
    >>> shown.ids, [team.name for team in shown.teams]
    (('a', 'b', 'd'), ['FIRST', 'SECOND', 'SECOND'])
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
