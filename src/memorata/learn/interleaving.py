"""Two rankings in one list: team-draft interleaving, which needs far fewer questions than A/B.

Two teams pick in turns, as children do for football: a coin says who picks first in each round, and each team
takes its best item that is still there. A click is a point for the team that picked the item. Both rankings
face the same person with the same question at the same moment, so what differs between people, which is most
of the noise in an A/B comparison, is gone (Radlinski, Kurup & Joachims, CIKM 2008; Chapelle et al., *ACM
TOIS* 30(1), 2012).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum
from random import Random

from memorata._frozen import frozen
from memorata.learn.hypothesis import sign_evidence, sign_test
from memorata.model import checks
from memorata.model.errors import InvalidArgument


class Team(IntEnum):
    """Who picked an item."""

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
        left = pick(0) is not None, pick(1) is not None
        if not any(left):
            break
        for side in (starts, 1 - starts):
            item = pick(side)
            if item is not None and len(ids) < limit:
                ids.append(item)
                shown.add(item)
                teams.append((Team.FIRST, Team.SECOND)[side] if all(left) else Team.NEITHER)
    return Interleaved(tuple(ids), tuple(teams))


def credit(interleaved: Interleaved, clicked: Iterable[str]) -> int:
    """Return which ranking a question went to: 1 for the first, -1 for the second, 0 for a tie."""
    whose = dict(zip(interleaved.ids, interleaved.teams, strict=True))
    points = 0
    for item in set(checks.texts("clicked", clicked)):
        if item not in whose:
            raise InvalidArgument("clicked", item, "items that were shown")
        points += whose[item]
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
