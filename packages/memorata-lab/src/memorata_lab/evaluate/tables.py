"""Scored runs grouped into the sections of a report, and its tables, as data and as Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from memorata.extend import frozen
from memorata.extend.errors import DatasetError, InvalidArgument
from memorata_lab.evaluate.dataset import Question, gains_of, labels_name, read_labels
from memorata_lab.evaluate.metrics import measure, recall_any
from memorata_lab.evaluate.run_file import Machine, Run, read_machine, read_run
from memorata_lab.evaluate.scores import Scores, compare, score
from memorata_lab.evaluate.significance import Difference, Interval


@frozen
class Cell:
    """What stands in a place of a table, how sure it is, and whether it is the best of its column."""

    text: str
    detail: str = ""
    best: bool = False


@frozen
class Table:
    """A table: a title, the heads of its columns, rows, and how to read it."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""


def tables(section: Section) -> tuple[Table, ...]:
    """Return the tables of a section that have something to say."""
    results = (quality(section), by_kind(section), differences(section), cost(section), abstention(section))
    return tuple(table for table in results if table is not None)


def markdown(sections: Sequence[Section]) -> str:
    """Return the report in Markdown."""
    parts = ["# Evaluation"]
    for section in sections:
        parts.append(f"## {_escaped(section.dataset)}, by {section.granularity}")
        parts.append("\n".join(f"- {_escaped(fact)}" for fact in section.facts))
        for table in tables(section):
            parts += [f"### {_escaped(table.title)}", markdown_table(table)]
            parts += [table.note] if table.note else []
    return "\n\n".join(parts) + "\n"


def markdown_table(table: Table) -> str:
    """Return a table in Markdown; the best of a column is bold."""
    heads = " | ".join(map(_escaped, table.heads))
    rule = "|".join(["---", *["---:"] * (len(table.heads) - 1)])
    rows = ["| " + " | ".join(map(_markdown_cell, row)) + " |" for row in table.rows]
    return "\n".join([f"| {heads} |", f"|{rule}|", *rows])


def percent(value: float) -> str:
    """Return a share in percent, with one decimal."""
    return f"{value * 100:.1f}"


def points(difference: float) -> str:
    """Return a difference of shares in points, with its sign; what rounds to nothing has none."""
    text = f"{difference * 100:+.1f}"
    return text if text.strip("+-0.") else "0.0"


def interval(mean: Interval) -> str:
    """Return the interval of a mean, in percent."""
    return f"[{percent(mean.low)}, {percent(mean.high)}]"


def quality(section: Section) -> Table:
    """Return every measure of every run with its interval."""
    names = list(section.runs[0].scores.measures)
    columns = [[run.scores.measures[name].micro for run in section.runs] for name in names]
    return Table(
        "Quality",
        ("recipe", *names),
        _rows(section.runs, columns, interval),
        "Means over questions in percent, with 95 % bootstrap intervals. The best of each column is marked.",
    )


def by_kind(section: Section) -> Table | None:
    """Return the first measure by kind of question, and its mean over kinds."""
    kinds = section.runs[0].scores.kinds
    if len(kinds) < 2:
        return None
    main = next(iter(section.runs[0].scores.measures))
    scores = [run.scores.measures[main] for run in section.runs]
    columns = [[score.kinds[kind] for score in scores] for kind in kinds]
    columns.append([score.macro for score in scores])
    heads = (*(f"{kind or 'other'} ({count})" for kind, count in kinds.items()), "mean of kinds")
    return Table(
        f"{main} by kind of question",
        ("recipe", *heads),
        _rows(section.runs, columns, lambda interval: ""),
        "How many questions there are of each kind stands in brackets.",
    )


def differences(section: Section) -> Table | None:
    """Return how far each run is from plain BM25 on the same questions."""
    plain = section.baseline
    if plain is None:
        return None
    others = [run for run in section.runs if run is not plain]
    compared = [compare(run.scores, plain.scores).measures for run in others]
    rows = tuple(
        (Cell(run.name), *(_difference(difference.micro) for difference in comparison.values()))
        for run, comparison in zip(others, compared, strict=True)
    )
    return Table(
        f"Difference from {plain.name}",
        ("recipe", *compared[0]),
        rows,
        "Points, with 95 % intervals and p of a paired bootstrap over the same questions. The p values are "
        "of each comparison by itself; of many, a few are low by chance.",
    )


def cost(section: Section) -> Table | None:
    """Return how long a question takes, without and with its vector, and the memory of the process."""
    rows = []
    for run in section.runs:
        times, machine = run.scores.latency, run.machine
        if times is None:
            continue
        embedding = None if machine is None or not run.scores.header.embedder else machine.embedding_p50
        rows.append(
            (
                Cell(run.name),
                *(Cell(f"{quantile:.2f}") for quantile in (times.p50, times.p95, times.p99)),
                Cell(f"{times.p50 + (embedding or 0.0):.2f}" if _knows(run) else "–"),
                Cell(_megabytes(run)),
            )
        )
    if not rows:
        return None
    return Table(
        "Time and memory",
        ("recipe", "p50 ms", "p95 ms", "p99 ms", "p50 with embedding", "peak MB"),
        tuple(rows),
        "Milliseconds to search once the question's vector is there; embedding is measured by itself. "
        "The memory is that of the whole evaluating process, which runs all recipes.",
    )


def abstention(section: Section) -> Table | None:
    """Return how well runs know what they do not know."""
    rows = []
    for run in section.runs:
        scores = run.scores.abstention
        if scores is not None:
            rows.append(
                (
                    Cell(run.name),
                    Cell(percent(scores.auroc)),
                    Cell(f"{scores.abstained_unanswerable} of {scores.unanswerable}"),
                    Cell(f"{scores.abstained_answerable} of {scores.answerable}"),
                )
            )
    if not rows:
        return None
    return Table(
        "Abstention",
        ("recipe", "AUROC", "rightly silent", "wrongly silent"),
        tuple(rows),
        "How well the best score tells questions with an answer from those without (50 is chance), and how "
        "often the recipe's own gate let nothing through.",
    )


def _rows(
    runs: Sequence[ScoredRun], columns: Sequence[Sequence[Interval]], detail: Callable[[Interval], str]
) -> tuple[tuple[Cell, ...], ...]:
    tops = [max(cell.mean for cell in column) for column in columns]
    return tuple(
        (
            Cell(run.name),
            *(
                # Where one run stands alone, nothing is best.
                Cell(
                    percent(column[row].mean), detail(column[row]), len(runs) > 1 and column[row].mean == top
                )
                for column, top in zip(columns, tops, strict=True)
            ),
        )
        for row, run in enumerate(runs)
    )


def _difference(gap: Difference) -> Cell:
    p = "< .001" if gap.p < 0.001 else f"{gap.p:.3f}".removeprefix("0")
    return Cell(points(gap.mean), f"[{points(gap.low)}, {points(gap.high)}] p {p}")


def _knows(run: ScoredRun) -> bool:
    """Return whether the time of embedding is known, or none was needed."""
    if not run.scores.header.embedder:
        return True
    return run.machine is not None and run.machine.embedding_p50 is not None


def _megabytes(run: ScoredRun) -> str:
    if run.machine is None or run.machine.peak_megabytes is None:
        return "–"
    return f"{run.machine.peak_megabytes:,.0f}"


def _markdown_cell(cell: Cell) -> str:
    text = f"**{_escaped(cell.text)}**" if cell.best else _escaped(cell.text)
    return f"{text} {_escaped(cell.detail)}" if cell.detail else text


def _escaped(text: str) -> str:
    """Return a text that Markdown takes for nothing but text."""
    flat = " ".join(text.split())
    for mark in "\\|*`<":
        flat = flat.replace(mark, f"\\{mark}")
    return flat


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

    @property
    def recipe(self) -> object:
        """The name of its recipe, as the header has it."""
        return self.scores.header.recipe.get("name")


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
        plain = (run for run in self.runs if run.recipe == BASELINE)
        return next(plain, None)

    @property
    def facts(self) -> tuple[str, ...]:
        """What one has to know to read the figures."""
        first, headers = self.runs[0].scores, [run.scores.header for run in self.runs]
        counts = first.counts
        counted = [f"{counts.measured:,} of {counts.questions:,} questions are measured"]
        left_out = ((counts.unanswerable, "without an answer"), (counts.unlabelled, "without a label"))
        counted += [f"{number:,} {why}" for number, why in left_out if number]
        missing = [
            f"{run.name} has no line for {run.scores.counts.missing:,}"
            for run in self.runs
            if run.scores.counts.missing
        ]
        shallow = [
            f"{run.name} has the first {depth:,} results only, which is all that {', '.join(beyond)} can see"
            for run in self.runs
            for depth in [run.scores.header.recipe.get("depth")]
            if isinstance(depth, int) and (beyond := _beyond(run.scores.measures, depth))
        ]
        embedders = ", ".join(sorted({header.embedder for header in headers} - {""}))
        codes = ", ".join(sorted({header.code for header in headers} - {""}))
        machines = {
            f"Python {machine.python}, {machine.system}, {machine.processors} processors"
            for run in self.runs
            if (machine := run.machine) is not None
        }
        facts = [
            "; ".join(counted),
            f"data {first.header.sha256[:16]}",
            "; ".join(missing),
            "; ".join(shallow),
        ]
        facts += [f"meaning by {embedders}" if embedders else "", f"code {codes}" if codes else ""]
        return (*filter(None, facts), *sorted(machines))


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
