"""Scored runs, grouped into the sections of a report: those that can be compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from memorata._frozen import frozen
from memorata.evaluate.dataset import Question, gains_of, labels_name, read_labels
from memorata.evaluate.metrics import measure, recall_any
from memorata.evaluate.run_file import Machine, Run, read_machine, read_run
from memorata.evaluate.scores import Scores, score
from memorata.model.errors import DatasetError, InvalidArgument

MEASURES: Final = ("any@5", "any@10", "all@5", "mrr", "ndcg@10")
"""The default measures; the first is the one that charts and comparisons are about."""
DEPTHS: Final = (1, 2, 3, 5, 10, 20, 50)
"""Where a recall curve has its points, as far as the rankings reach."""
BASELINE: Final = "bm25"


@frozen
class ScoredRun:
    """A run file with its scores, its recall curve, and the machine it ran on."""

    name: str
    path: Path
    scores: Scores
    curve: tuple[tuple[int, float], ...]
    machine: Machine | None = None


@frozen
class Section:
    """Runs that can be compared: the same data, and the same things ranked."""

    dataset: str
    granularity: str
    runs: tuple[ScoredRun, ...]

    def best_first(self) -> Section:
        """Return the section with its runs in the order of the first measure."""

        def key(run: ScoredRun) -> float:
            return next(iter(run.scores.measures.values())).micro.mean

        return replace(self, runs=tuple(sorted(self.runs, key=key, reverse=True)))

    @property
    def baseline(self) -> ScoredRun | None:
        """The run by plain BM25, if there is one and something to compare it with."""
        if len(self.runs) < 2:
            return None
        plain = (run for run in self.runs if run.scores.header.recipe.get("name") == BASELINE)
        return next(plain, None)

    @property
    def facts(self) -> tuple[str, ...]:
        """What one has to know to read the figures."""
        first = self.runs[0].scores
        counts = first.counts
        counted = f"{counts.measured:,} of {counts.questions:,} questions are measured"
        left_out = [
            f"{number:,} {why}"
            for number, why in (
                (counts.unanswerable, "without an answer"),
                (counts.unlabelled, "without a label"),
            )
            if number
        ]
        missing = [
            f"{run.name} has no line for {run.scores.counts.missing:,}"
            for run in self.runs
            if run.scores.counts.missing
        ]
        embedders = sorted({run.scores.header.embedder for run in self.runs} - {""})
        codes = sorted({run.scores.header.code for run in self.runs} - {""})
        facts = ["; ".join([counted, *left_out]), f"data {first.header.sha256[:16]}"]
        facts += ["; ".join(missing)] if missing else []
        shallow = [
            f"{run.name} has the first {depth:,} results only, which is all that {', '.join(beyond)} can see"
            for run in self.runs
            for depth in [run.scores.header.recipe.get("depth")]
            if isinstance(depth, int) and (beyond := _beyond(run.scores.measures, depth))
        ]
        facts += ["; ".join(shallow)] if shallow else []
        facts += [f"meaning by {', '.join(embedders)}"] if embedders else []
        facts += [f"code {', '.join(codes)}"] if codes else []
        machines = sorted(
            {
                f"Python {machine.python}, {machine.system}, {machine.processors} processors"
                for run in self.runs
                if (machine := run.machine) is not None
            }
        )
        return (*facts, *machines)


def _beyond(measures: Iterable[str], depth: int) -> list[str]:
    """Return the measures that look further down than so many results."""
    cutoffs = {name: name.partition("@")[2] for name in measures}
    return [name for name, cutoff in cutoffs.items() if cutoff and int(cutoff) > depth]


def labels_of(path: Path, run: Run) -> tuple[Question, ...]:
    """Return the labels that lie beside a run."""
    beside = path.parent / labels_name(run.header.dataset, run.header.sha256)
    if not beside.is_file():
        raise DatasetError(
            path, None, f"its labels are not beside it ({beside.name}); name the data set it was run on"
        )
    return read_labels(beside)


def score_file(
    path: Path,
    measures: Sequence[str] = MEASURES,
    questions: Callable[[Path, Run], Iterable[Question]] = labels_of,
    read: Callable[[Path], Run] = read_run,
) -> ScoredRun:
    """Read a run, find its labels, and score it."""
    run = read(path)
    labelled = tuple(questions(path, run))
    for name in measures:
        measure(name)
    try:
        scores = score(run, labelled, measures, run.header.granularity)
    except InvalidArgument as error:
        # Of a folder of runs, the one that cannot be scored is named.
        raise DatasetError(path, None, f"cannot be scored: {error}") from error
    name = str(run.header.recipe.get("name") or path.name.removesuffix(".jsonl"))
    return ScoredRun(name, path, scores, _curve(run, labelled, scores), read_machine(path))


def sections(runs: Iterable[ScoredRun]) -> tuple[Section, ...]:
    """Return runs by what they can be compared with, with names that tell them apart."""
    groups: dict[tuple[str, str, str], list[ScoredRun]] = {}
    for run in runs:
        header = run.scores.header
        groups.setdefault((header.dataset, header.sha256, header.granularity), []).append(run)
    return tuple(
        Section(dataset, granularity, tuple(_disambiguated(alike)))
        for (dataset, _, granularity), alike in groups.items()
    )


def _disambiguated(runs: Sequence[ScoredRun]) -> list[ScoredRun]:
    """Return runs whose names differ: by the embedder where the recipe is the same, else by the file."""
    names = [run.name for run in runs]
    for marks in ([run.scores.header.embedder for run in runs], [run.path.as_posix() for run in runs]):
        counts = Counter(names)
        names = [
            f"{name} · {mark}" if counts[name] > 1 and mark else name
            for name, mark in zip(names, marks, strict=True)
        ]
    return [replace(run, name=name) for name, run in zip(names, runs, strict=True)]


def _curve(run: Run, questions: Sequence[Question], scores: Scores) -> tuple[tuple[int, float], ...]:
    granularity = run.header.granularity
    gains = {
        question.id: gains_of(question, granularity)
        for question in questions
        if question.id in scores.kind_of
    }
    rankings = {
        name: [item for item, _ in run.answers[name].ranking] if name in run.answers else [] for name in gains
    }
    deepest = max(map(len, rankings.values()), default=0)
    points = []
    for depth in (depth for depth in DEPTHS if depth <= max(deepest, 1)):
        answered = sum(recall_any(rankings[name], gains[name], depth) for name in gains)
        points.append((depth, answered / len(gains)))
    return tuple(points)
