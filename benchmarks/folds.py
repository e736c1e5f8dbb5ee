"""Do the parameters of our default hold on conversations they were not chosen on? Cross-validation of levers.

Each lever is taken away, halved and doubled by itself, and a few settings are drawn that turn all of them at
once. A fold (a whole conversation of LoCoMo; a fifth of MuSiQue's or of LongMemEval's questions) is held out,
the best setting by mean nDCG@10 is picked on the rest and judged on the fold (Stone 1974;
:mod:`memorata_lab.learn.validation`). LongMemEval is turned by the same levers as LoCoMo, and ranks
sessions. So the picked row has seen none of the questions it is measured on; the shipped row was chosen by
people who had seen them all, which is what this checks.

Run ``python -m benchmarks.folds --cache vectors.db``; ``--only musique`` for one set.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from rich.console import Console

from benchmarks.quality import FOLDER, SETS, measured
from memorata.engine import RECIPES
from memorata.model.checks import FloatArray
from memorata_lab.evaluate.significance import paired_bootstrap
from memorata_lab.learn.search import GridScores
from memorata_lab.learn.validation import Fold, grouped_folds, judge

Changes = Mapping[str, float]
SHIPPED = "shipped"
CHOSEN_BY = "ndcg@10"


def turned(parameter: str, *values: float) -> tuple[Changes, ...]:
    """Return one change for each value of a parameter."""
    return tuple({parameter: value} for value in values)


@dataclass(frozen=True, slots=True)
class Check:
    """A set, its folds, and the levers that are turned: for each the changes to try, the first without it.

    `joint` settings turn every lever at once, each to a value drawn from its own and the shipped one.
    """

    count: int
    by_haystack: bool
    levers: Mapping[str, Sequence[Changes]]
    joint: int
    measures: Sequence[str]


_OF_CONVERSATIONS: Mapping[str, Sequence[Changes]] = {
    "meaning": turned("vector_weight", 0.0, 0.35, 0.65),
    "context": ({"context_before": 0.0, "context_after": 0.0, "complete": True},),
    "context before": turned("context_before", 0.0, 0.35, 1.0),
    "context after": turned("context_after", 0.0, 0.15, 0.3, 0.6),
    "context by length": turned("context_words", 1000.0, 15.0),
    "session": turned("session_weight", 0.0, 0.1, 0.4),
    "machine": turned("machine_weight", 1.0),
    "b": turned("b", 0.75, 0.3),
    "k1": turned("k1", 1.2, 0.6),
    "speaker": turned("speaker_weight", 0.0, 0.75, 3.0),
    "speakers apart": turned("speakers_apart", False),
    "speakers in meaning": turned("speaker_share", 1.0),
    "date words": turned("dates_weight", 0.0, 0.75, 3.0),
    "time": turned("temporal_boost", 0.0, 0.1, 0.4),
    "shared names": turned("graph_weight", 0.0),
}

CHECKS: Mapping[str, Check] = {
    "locomo": Check(
        count=4,
        by_haystack=True,
        levers=_OF_CONVERSATIONS,
        joint=12,
        measures=(CHOSEN_BY, "any@5", "mrr"),
    ),
    "longmemeval": Check(
        count=5,
        by_haystack=False,
        levers=_OF_CONVERSATIONS,
        joint=12,
        measures=(CHOSEN_BY, "all@5", "mrr"),
    ),
    "musique": Check(
        count=5,
        by_haystack=False,
        levers={
            "meaning": turned("vector_weight", 0.0, 0.35, 0.4, 0.6, 0.65),
            "shared names": turned("graph_weight", 0.0, 0.12, 0.5),
        },
        joint=6,
        measures=(CHOSEN_BY, "recall@5", "recall@10"),
    ),
}


def settings(check: Check, seed: int = 0) -> dict[str, Changes]:
    """Return everything that is tried by what it changes, the shipped setting first.

    Examples
    --------
    >>> tried = settings(CHECKS["musique"])
    >>> len(tried), tried["vector_weight 0.6"], "joint 6" in tried
    (15, {'vector_weight': 0.6}, True)
    """
    random = np.random.default_rng(seed)
    tried: dict[str, Changes] = {SHIPPED: {}}
    for options in check.levers.values():
        tried |= {label(changes): changes for changes in options}
    for number in range(1, check.joint + 1):
        drawn: dict[str, float] = {}
        for options in check.levers.values():
            drawn |= ({}, *options)[random.integers(len(options) + 1)]
        tried[f"joint {number}"] = drawn
    return tried


def label(changes: Changes) -> str:
    """Return a change in words.

    Examples
    --------
    >>> label({"b": 0.3}), label({})
    ('b 0.3', 'shipped')
    """
    return ", ".join(f"{name} {value:g}" for name, value in changes.items()) or SHIPPED


def held_out(values: FloatArray, rows: Sequence[int], folds: Sequence[Fold]) -> FloatArray:
    """Return for each question the value of the row that was picked for its fold.

    Examples
    --------
    >>> folds = [Fold(np.array([1]), np.array([0])), Fold(np.array([0]), np.array([1]))]
    >>> held_out(np.array([[0.1, 0.2], [0.3, 0.4]]), [1, 0], folds).tolist()
    [0.3, 0.2]
    """
    joined = np.empty(values.shape[1])
    for row, fold in zip(rows, folds, strict=True):
        joined[fold.held_out] = values[row, fold.held_out]
    return joined


def gap(ours: FloatArray, theirs: FloatArray) -> str:
    """Return a difference with its interval, in points."""
    found = paired_bootstrap(ours, theirs)
    return f"{100 * found.mean:+.1f}: {100 * found.low:+.1f} to {100 * found.high:+.1f}"


def report(name: str, data: Path, cache: Path, seed: int) -> Iterator[str]:
    """Yield the Markdown of one set."""
    check, tried = CHECKS[name], settings(CHECKS[name], seed)
    recipes = [replace(RECIPES["balanced"].changed(each), name=name_of) for name_of, each in tried.items()]
    dataset, found = measured(replace(SETS[name], measures=check.measures), data, recipes, cache)
    names, questions = list(tried), list(found[SHIPPED].kind_of)
    stack_of = {each.id: stack.id for stack in dataset.haystacks() for each in stack.questions}
    groups = [stack_of[each] if check.by_haystack else each for each in questions]
    folds = grouped_folds(groups, count=check.count, seed=seed)
    tables = {
        measure: np.array([[found[each].values[measure][q] for q in questions] for each in names])
        for measure in check.measures
    }
    grid = GridScores(tuple(tried.values()), tables[CHOSEN_BY])
    picks = [grid.best(fold.learnt) for fold in folds]
    verdict = judge(
        grid.settings[grid.best()],
        [grid.settings[each] for each in picks],
        [grid.values[each] for each in picks],
        grid.values[0],
        folds,
        questions,
        tried=grid.values,
        picked=grid.best(),
        seed=seed,
    )
    yield f"### {name}: {len(folds)} folds, {len(names)} settings, {len(questions)} questions"
    yield ""
    yield f"Picking anew for each fold: {verdict.reason}."
    yield ""
    yield "| fold | questions | picked on the others | gain there | gain on the fold |"
    yield "|---|---|---|---|---|"
    for number, (pick, fold) in enumerate(zip(picks, verdict.folds, strict=True), 1):
        yield (
            f"| {number} | {fold.questions} | {names[pick]}: {label(fold.setting)} | "
            f"{100 * fold.learnt_gain:+.1f} | {100 * fold.held_out_gain:+.1f} |"
        )
    yield ""
    yield "In brackets the difference from what is shipped, 95 % interval (paired bootstrap):"
    yield ""
    yield "| | " + " | ".join(check.measures) + " |"
    yield "|---" * (len(check.measures) + 1) + "|"
    shipped = [f"{100 * table[0].mean():.1f}" for table in tables.values()]
    yield f"| {SHIPPED} | " + " | ".join(shipped) + " |"
    cells = [held_out(table, picks, folds) for table in tables.values()]
    yield _row("picked, out of fold", cells, tables)
    for place in range(1, len(names)):
        yield _row(names[place], [table[place] for table in tables.values()], tables)
    yield ""
    yield (
        "Each lever by itself: its value picked on the other folds, and what that is worth on the fold it "
        "has not seen, against the lever taken away:"
    )
    yield ""
    yield f"| lever | picked | {CHOSEN_BY} against none | folds that gain | shipped against none |"
    yield "|---|---|---|---|---|"
    for lever, options in check.levers.items():
        rows = [0, *(names.index(label(changes)) for changes in options)]
        own = [rows[GridScores(grid.settings, grid.values[rows]).best(fold.learnt)] for fold in folds]
        none, mine = grid.values[rows[1]], held_out(grid.values, own, folds)
        gaining = sum(float((mine - none)[fold.held_out].mean()) > 0 for fold in folds)
        yield (
            f"| {lever} | {'; '.join(names[each] for each in dict.fromkeys(own))} | {gap(mine, none)} | "
            f"{gaining} of {len(folds)} | {gap(grid.values[0], none)} |"
        )
    yield ""


def _row(name: str, values: Sequence[FloatArray], tables: Mapping[str, FloatArray]) -> str:
    cells = [
        f"{100 * value.mean():.1f} ({gap(value, table[0])})"
        for value, table in zip(values, tables.values(), strict=True)
    ]
    return f"| {name} | " + " | ".join(cells) + " |"


def main() -> None:
    """Measure, and print Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=FOLDER, help="the folder of the evaluation data")
    parser.add_argument("--cache", type=Path, required=True, help="the file that keeps vectors")
    parser.add_argument("--only", nargs="*", choices=list(CHECKS), default=list(CHECKS))
    parser.add_argument("--seed", type=int, default=0, help="of the joint settings and the bootstrap")
    arguments = parser.parse_args()
    out = Console(file=sys.stdout, width=500, highlight=False, markup=False, soft_wrap=True)
    for name in arguments.only:
        for line in report(name, arguments.data, arguments.cache, arguments.seed):
            out.print(line)


if __name__ == "__main__":
    main()
