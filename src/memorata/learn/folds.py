"""Holding data out: folds whose groups stay together, and folds within folds.

Questions of one conversation share their texts and their people. A setting that has seen some of them has
half seen the others, so a whole group is held out at a time (Stone, "Cross-validatory choice", *JRSS B* 36,
1974; for nesting, Varma & Simon, *BMC Bioinformatics* 7:91, 2006).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memorata._frozen import frozen
from memorata.model import checks
from memorata.model.checks import IntArray
from memorata.model.errors import NotEnoughData


@frozen(eq=False)
class Fold:
    """Which rows are learnt from and which are held out, as ascending positions.

    Attributes
    ----------
    learnt, held_out
        Together they are all the rows that were divided, each once.
    inner
        Folds of `learnt`, where they were asked for.
    """

    learnt: IntArray
    held_out: IntArray
    inner: tuple[Fold, ...] = ()


def grouped_folds(groups: Sequence[str], *, count: int = 5, seed: int = 0) -> tuple[Fold, ...]:
    """Divide rows into folds of about the same size; rows of one group are held out together.

    Parameters
    ----------
    groups
        The group of each row: a conversation, a user, or the question itself.
    count
        How many folds, at least 2; there must be as many groups.
    seed
        Where the dealing starts; the same seed gives the same folds.

    Notes
    -----
    Groups are shuffled, then dealt, largest first, each to the fold that has the fewest rows.

    Examples
    --------
    >>> first, second = grouped_folds(["a", "a", "b", "c"], count=2)
    >>> first.held_out.tolist(), second.held_out.tolist()
    ([0, 1], [2, 3])
    """
    names = checks.texts("groups", groups)
    return _dealt(names, np.arange(len(names)), checks.whole("count", count, 2), checks.whole("seed", seed))


def nested_folds(groups: Sequence[str], *, count: int = 5, inner: int = 4, seed: int = 0) -> tuple[Fold, ...]:
    """Divide rows into folds, and what each of them learns from into folds again.

    The inner ones choose, the outer ones judge the choosing: no row that judges has had a say.

    Parameters
    ----------
    groups, count, seed
        As for :func:`grouped_folds`; the inner positions are positions in `groups` too.
    inner
        How many folds within each.

    Examples
    --------
    >>> fold = nested_folds(["a", "b", "c", "d"], count=2, inner=2)[0]
    >>> fold.held_out.tolist(), [each.held_out.tolist() for each in fold.inner]
    ([1, 2], [[0], [3]])
    """
    names = checks.texts("groups", groups)
    within, start = checks.whole("inner", inner, 2), checks.whole("seed", seed)
    outer = _dealt(names, np.arange(len(names)), checks.whole("count", count, 2), start)
    return tuple(
        Fold(fold.learnt, fold.held_out, _dealt(names, fold.learnt, within, start + 1 + place))
        for place, fold in enumerate(outer)
    )


def _dealt(groups: tuple[str, ...], rows: IntArray, count: int, seed: int) -> tuple[Fold, ...]:
    members: dict[str, list[int]] = {}
    for row in rows.tolist():
        members.setdefault(groups[row], []).append(row)
    if len(members) < count:
        raise NotEnoughData("groups", len(members), count)
    names = list(members)
    shuffled = [names[place] for place in np.random.default_rng(seed).permutation(len(names))]
    hands: list[list[int]] = [[] for _ in range(count)]
    for name in sorted(shuffled, key=lambda each: -len(members[each])):
        min(hands, key=len).extend(members[name])
    folds = []
    for hand in hands:
        held_out = np.sort(np.array(hand, np.intp))
        folds.append(Fold(np.setdiff1d(rows, held_out, assume_unique=True), held_out))
    return tuple(folds)
