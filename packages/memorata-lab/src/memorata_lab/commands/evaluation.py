"""Evaluation: recipes run on data sets with labels, run files scored, compared and reported on."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TypedDict, Unpack

from typer import Argument, Option

from memorata.extend.commands import (
    FALSE,
    TRUE,
    Changes,
    Output,
    Session,
    counted,
    one_line,
    one_of,
    parameter_values,
    recipe_names,
)
from memorata.extend.errors import DatasetError, InvalidArgument

if TYPE_CHECKING:
    from memorata import Recipe
    from memorata.extend.embedding import Embedder, Reranker
    from memorata_lab.evaluate.dataset import Dataset, Question
    from memorata_lab.evaluate.run_file import Run
    from memorata_lab.evaluate.scores import Comparison
    from memorata_lab.evaluate.tables import ScoredRun, Section

DATASETS: Final = {
    "longmemeval": "LongMemEval, S, M or oracle: its JSON file.",
    "locomo": "LoCoMo: its JSON file.",
    "multihop": "MuSiQue, HotpotQA or 2WikiMultiHopQA: a file of questions with paragraphs.",
    "beir": "A folder of BEIR: corpus.jsonl, queries.jsonl, qrels/.",
    "smart": "A folder in SMART's format, such as Cranfield.",
    "facts": "Lines of a fact, a tab, and a question about it.",
    "jsonl": "JSON Lines of documents, queries and judgements of your own.",
}
"""The formats, named here too so that ``memorata --help`` need not load their readers; a test compares."""
_TURNS: Final = "LongMemEval: all turns, or those of the user only."
_OPTION: Final = "Of the format; repeatable."
_MEASURE: Final = "any@5, recall@5, mrr, …; repeatable."
_MACRO: Final = "Means over kinds of question instead of over questions."
RunPath = Annotated[Path, Argument(metavar="RUN", help="A run file, or a TREC run with --qrels.")]


class LabelOptions(TypedDict):
    """Which labels run files are scored with, and by which measures."""

    dataset: Annotated[
        tuple[str, Path] | None,
        Option(None, metavar="NAME PATH", help="The data set, where its labels are not beside the run."),
    ]
    qrels: Annotated[Path | None, Option(None, metavar="FILE", help="Labels in TREC's format instead.")]
    turns: Annotated[str | None, Option(None, help=_TURNS)]
    option: Annotated[list[str] | None, Option(None, metavar="NAME=VALUE", help=_OPTION)]
    measure: Annotated[list[str] | None, Option(None, "-m", help=_MEASURE)]


def _command_of(name: str, help_: str) -> Callable[..., None]:
    """Return the command that evaluates on one format."""
    command = partial(evaluate, name)
    command.__doc__ = help_
    return command


def evaluate(
    format: str,
    session: Session,
    path: Path = Argument(metavar="PATH", help="The file or folder of the data set."),
    recipe: list[str] | None = Option(
        None, "-r", help="A recipe; repeatable. Otherwise all.", autocompletion=recipe_names
    ),
    set: Changes = None,
    granularity: str = Option("turn", help="What is ranked: turn or session."),
    turns: str | None = Option(None, help=_TURNS),
    option: list[str] | None = Option(None, metavar="NAME=VALUE", help=_OPTION),
    limit_questions: int | None = Option(None, min=1, help="Only the first questions."),
    depth: int = Option(50, min=1, help="How many results are written down."),
    runs: Path = Option(Path("runs"), metavar="FOLDER", help="Where the run files go."),
    cache: Path | None = Option(None, metavar="FILE", help="The cache of vectors; else in --runs."),
    measure: list[str] | None = Option(None, "-m", help=_MEASURE),
    macro: bool = Option(False, help=_MACRO),
    again: bool = Option(False, help="Start over where there is a run already."),
) -> None:
    """Run recipes on a data set and measure them."""
    from memorata_lab.evaluate.dataset import GRANULARITIES, FirstQuestions
    from memorata_lab.evaluate.runner import run
    from memorata_lab.evaluate.tables import score_file, sections

    one_of("--granularity", granularity, GRANULARITIES)
    recipes = recipes_of(recipe or [], set or [], reranker=session.settings.reranker != "none")
    measures = measures_of(measure)
    dataset = dataset_of(format, path, turns, option or [])
    if limit_questions is not None:
        dataset = FirstQuestions(dataset, limit_questions)
    with (
        embedders(session, recipes, runs, cache) as (embedder, timed),
        progress_of(session.output, len(dataset)) as progress,
    ):
        try:
            files = run(
                dataset,
                recipes,
                embedder=embedder,
                timed=timed,
                reranker=reranker_of(session, recipes),
                folder=runs,
                granularity=granularity,
                depth=depth,
                again=again,
                progress=progress,
            )
        except KeyboardInterrupt:
            session.output.say(f"The results so far are in {runs}; run the same again to continue.", "")
            raise
        except DatasetError as error:
            if "this is another run" not in error.reason:
                raise
            raise DatasetError(error.path, error.line, f"{error.reason}; --again starts over") from error
    (section,) = sections([score_file(file.path, measures) for file in files])
    if session.output.json:
        session.output.data(section_json(section) | {"dropped": dict(dataset.dropped), "folder": str(runs)})
        return
    show_runs(session.output, section, macro=macro)
    dropped = [f"{number:,} left out: {why}" for why, number in dataset.dropped.items()]
    resumed = sum(file.known for file in files)
    before = [f"{counted(resumed, 'answer')} from before"] if resumed else []
    session.output.say(" · ".join([*section.facts, *dropped, *before]))
    session.output.say(f"The runs are in {runs}; memorata lab eval report {runs} makes a page of them.")


globals().update({name: _command_of(name, help_) for name, help_ in DATASETS.items()})


def suite(
    session: Session,
    folder: Path = Argument(metavar="FOLDER", help="A folder of sets, one .jsonl.gz file each."),
    recipe: list[str] | None = Option(None, "-r", help="A recipe; repeatable."),
    set: Changes = None,
    only: list[str] | None = Option(None, help="A set of the folder; repeatable."),
    limit_questions: int | None = Option(None, min=1, help="Of each haystack; always the same ones."),
    kinds: bool = Option(False, help="A line for each kind of question."),
    ablate: bool = Option(False, help="A line without each lever of the recipe."),
    cache: Path = Option(Path("embeddings.db"), metavar="FILE", help="The cache of vectors."),
) -> None:
    """Ask the questions of many sets: a line for each set and recipe, by default with the default's parts."""
    from memorata_lab.evaluate.suite import run_suite, suite_rows, without_levers

    default_recipes = ["balanced"] if ablate else ["bm25", "vector", "elastic", "fast", "balanced"]
    recipes = recipes_of(recipe or default_recipes, set or [])
    if ablate:
        recipes = [ablated for recipe_ in recipes for ablated in without_levers(recipe_)]
    with embedders(session, recipes, cache.parent, cache) as (embedder, _):
        run = partial(run_suite, sets=only or (), most_questions=limit_questions, timed=not ablate)
        results = list(run(folder, recipes, embedder, progress=session.output.say))
    rows = suite_rows(results, by_kind=kinds)
    session.output.table(
        ("set", "recipe", "questions", "hit@1", "hit@5", "nDCG@10", "mrr", "AUROC", "ms"),
        [
            (
                row.set,
                row.recipe,
                f"{row.questions:,}",
                *(f"{100 * value:.1f}" for value in (row.hit1, row.hit5, row.ndcg10, row.mrr)),
                "" if row.auroc is None else f"{row.auroc:.2f}",
                f"{row.milliseconds:.1f}",
            )
            for row in rows
        ],
        data={"rows": rows},
        note="AUROC: how often an answerable question has a higher confidence than another.",
    )


def score(
    session: Session, run: RunPath, macro: bool = Option(False, help=_MACRO), **labels: Unpack[LabelOptions]
) -> None:
    """Score a run file: with the labels beside it, or, of any other program, with labels that you name."""
    from memorata_lab.evaluate.tables import sections

    (section,) = sections(scored_runs([run], **labels))
    if session.output.json:
        session.output.data(section_json(section))
        return
    show_runs(session.output, section, macro=macro)
    session.output.say(" · ".join(section.facts))


def compare(
    session: Session,
    run: RunPath,
    baseline: Path = Argument(metavar="BASELINE", help="The run to compare with."),
    **labels: Unpack[LabelOptions],
) -> None:
    """Compare a run with another on the same questions, with intervals and p values."""
    from memorata_lab.evaluate.scores import compare as compared

    ours, theirs = scored_runs([run, baseline], **labels)
    comparison = compared(ours.scores, theirs.scores)
    if session.output.json:
        session.output.data(comparison.as_dict())
        return
    show_comparison(session.output, comparison)
    session.output.say(
        f"{ours.name} against {theirs.name} on {counted(comparison.questions, 'question')}; points, "
        "with 95 % intervals and p of a paired bootstrap."
    )


def report(
    session: Session,
    runs: list[Path] = Argument(metavar="RUNS", help="Run files, or folders of them."),
    output: Path = Option(Path("report"), "-o", metavar="FOLDER", help="Where the report goes."),
    **labels: Unpack[LabelOptions],
) -> None:
    """Write report.md and report.html about runs: tables, curves, kinds of question, time."""
    from memorata_lab.evaluate.report import write_report
    from memorata_lab.evaluate.tables import sections

    scored = scored_runs(run_files(runs), **labels)
    report_files = write_report(output, [section.best_first() for section in sections(scored)])
    files = list(map(str, report_files))
    about = f"about {counted(len(scored), 'run')}"
    session.output.result({"runs": len(scored), "files": files}, *files, notes=[about])


def scored_runs(
    paths: Sequence[Path],
    dataset: tuple[str, Path] | None,
    qrels: Path | None,
    turns: str | None,
    option: Sequence[str] | None,
    measure: Sequence[str] | None,
) -> list[ScoredRun]:
    """Read runs, find their labels as the options say or else beside them, and score them."""
    from memorata_lab.evaluate.run_file import is_trec, judged_by, kinds_of, read_run, run_reader
    from memorata_lab.evaluate.tables import labels_of, score_file

    measures = measures_of(measure)
    if dataset is not None and qrels is not None:
        raise InvalidArgument("--qrels", str(qrels), "left out when --dataset is given")
    if dataset is None and (turns is not None or option):
        raise InvalidArgument("--option", turns or (option or [""])[0], "given together with --dataset")
    for path in paths:
        if not path.is_file():
            raise DatasetError(path, None, "no such file")
    if qrels is not None:
        kinds: dict[str, str] = {}
        # The labels are read first, for they are what most often is wrong; the runs then tell the kinds.
        judged, read = judged_by(qrels, kinds), run_reader(qrels)
        runs = {path: read(path) for path in paths}
        kinds.update(kinds_of(runs.values()))
        return [score_file(path, measures, judged, runs.__getitem__) for path in paths]
    foreign = [path for path in paths if is_trec(path)]
    if foreign:
        raise DatasetError(foreign[0], None, "not a run of Memorata; a TREC run needs --qrels FILE")
    if dataset is None:
        return [score_file(path, measures, labels_of) for path in paths]
    opened = dataset_of(*dataset, turns, option or ())
    all_questions = [question for haystack in opened.haystacks() for question in haystack.questions]

    def questions(path: Path, run: Run) -> list[Question]:
        if run.header.sha256 != opened.sha256:
            raise DatasetError(path, 1, f"a run on other data ({run.header.dataset}) than {opened.name}")
        # A run on the first questions of a set says so in its name, and is measured on all of those.
        first = re.search(r", first (\d+) questions$", run.header.dataset)
        return all_questions[: int(first[1])] if first else all_questions

    return [score_file(path, measures, questions, read_run) for path in paths]


def run_files(paths: Sequence[Path]) -> list[Path]:
    """Return the files among `paths`, and the run files in the folders among them."""
    files: list[Path] = []
    for path in paths:
        found = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
        found = [file for file in found if file == path or not file.name.endswith(".labels.jsonl")]
        if not found:
            raise DatasetError(path, None, "a folder without run files (*.jsonl)")
        files += found
    return list(dict.fromkeys(files))


def recipes_of(names: Sequence[str], settings: Sequence[str], *, reranker: bool = False) -> list[Recipe]:
    """Return the recipes of those names, with parameters changed; if none is named, all that can be measured.

    Without a re-ranker those that ask for one cannot; those with samples rank as the recipe they follow.
    """
    from dataclasses import replace

    from memorata.extend.recall import RECIPES

    chosen = [RECIPES[one_of("--recipe", name, tuple(RECIPES))] for name in dict.fromkeys(names)]
    changes = parameter_values(settings)
    if not chosen:
        measurable = (recipe for recipe in RECIPES.values() if not recipe.samples)
        chosen = [recipe for recipe in measurable if reranker or not recipe.rerank_depth]
    if not changes:
        return chosen
    # A changed recipe is another one, in tables and in the names of files.
    marks = "+".join(f"{name}={value}" for name, value in changes.items())
    return [replace(recipe.changed(changes), name=f"{recipe.name}+{marks}") for recipe in chosen]


def measures_of(names: Sequence[str] | None) -> list[str]:
    """Return the measures of those names, the usual ones if none is named."""
    from memorata_lab.evaluate.metrics import measure
    from memorata_lab.evaluate.tables import MEASURES

    measures = list(dict.fromkeys(names or MEASURES))
    for name in measures:
        measure(name)
    return measures


def dataset_of(format: str, path: Path, turns: str | None, options: Sequence[str]) -> Dataset:
    """Return a data set, read with the options of its format."""
    from memorata.extend.model import nearest
    from memorata_lab.evaluate.datasets import READERS, open_dataset

    one_of("--dataset", format, tuple(READERS))
    parameters = inspect.signature(READERS[format]).parameters
    values: dict[str, Any] = {} if turns is None else {"turns": turns}
    for option in options:
        name, equals, value = option.partition("=")
        if not equals:
            raise InvalidArgument("--option", option, "name=value, such as turns=user")
        if name not in parameters:
            allowed = ", ".join(parameter for parameter in parameters if parameter != "path") or "it has none"
            expected = f"one of {format}'s ({allowed}){nearest(name, parameters)}"
            raise InvalidArgument("--option", name, expected)
        is_flag = isinstance(parameters[name].default, bool)
        if is_flag and value.lower() not in (*TRUE, *FALSE):
            raise InvalidArgument(f"--option {name}", value, "yes or no")
        values[name] = value.lower() in TRUE if is_flag else value
    return open_dataset(format, path, **values)


@contextmanager
def embedders(
    session: Session, recipes: Sequence[Recipe], runs: Path, cache: Path | None
) -> Iterator[tuple[Embedder | None, Embedder | None]]:
    """Give the embedder to run with, cached on disk, and the one behind it, to be timed."""
    from memorata.extend.embedding import LexicalEmbedder, choose
    from memorata_lab.evaluate.cached_embedder import CachedEmbedder

    if not any(recipe.vector_pool for recipe in recipes):
        yield None, None
        return
    settings = session.settings
    choice = choose(settings.embedder, settings.resources)
    if choice.note:
        session.output.say(f"Note: {choice.note}")
    if cache is None and isinstance(choice.embedder, LexicalEmbedder):
        # Hashing words is quicker than a look-up on disk.
        yield choice.embedder, choice.embedder
        return
    path = runs / "embeddings.db" if cache is None else cache
    path.parent.mkdir(parents=True, exist_ok=True)
    cached = CachedEmbedder(choice.embedder, path)
    try:
        yield cached, choice.embedder
    finally:
        cached.close()


def reranker_of(session: Session, recipes: Sequence[Recipe]) -> Reranker | None:
    """Return the re-ranker of the settings, if a recipe asks for one."""
    from memorata.extend.embedding import open_reranker

    if not any(recipe.rerank_depth for recipe in recipes):
        return None
    return open_reranker(session.settings.reranker, session.settings.resources)


@contextmanager
def progress_of(output: Output, haystacks: int) -> Iterator[Callable[[float, str], None]]:
    """Give a function that shows the progress: a bar at a terminal, a line for each tenth in a log."""
    from rich.progress import Progress, TimeElapsedColumn

    live = output.errors.is_terminal and not output.quiet
    columns = (*Progress.get_default_columns(), TimeElapsedColumn())
    with Progress(*columns, console=output.errors, transient=True, disable=not live) as progress:
        task = progress.add_task("remembering", total=haystacks)
        tenth = 0

        def advance(done: float, doing: str) -> None:
            nonlocal tenth
            progress.update(task, completed=done, description=doing)
            if not live and int(done / haystacks * 10) > tenth:
                tenth = int(done / haystacks * 10)
                output.say(f"{tenth * 10} % done")

        yield advance


def show_runs(output: Output, section: Section, *, macro: bool = False) -> None:
    """Show one row for each run: its measures, half the width of their intervals, and its time."""
    from memorata_lab.evaluate.scores import MeasureScore
    from memorata_lab.evaluate.significance import Interval

    def mean(score: MeasureScore) -> Interval:
        return score.macro if macro else score.micro

    names = list(section.runs[0].scores.measures)
    tops = {name: max(mean(run.scores.measures[name]).mean for run in section.runs) for name in names}
    heads = ["recipe", *names, "ms p50", "ms p95", "embedded"]
    rows: list[list[tuple[str, bool]]] = []
    for run in section.runs:
        cells = [(one_line(run.name), False)]
        for name in names:
            score = mean(run.scores.measures[name])
            best = len(section.runs) > 1 and score.mean == tops[name]
            cells.append((f"{score.mean * 100:.1f} ±{(score.high - score.low) * 50:.1f}", best))
        rows.append(cells + [(text, False) for text in times(run)])
    _table(output, heads, rows)
    over = "kinds of question" if macro else "questions"
    output.say(
        f"Means over {over} in percent, ± half of the 95 % interval. Milliseconds of a search; the last "
        "column is its median together with embedding the question."
    )


def show_comparison(output: Output, comparison: Comparison) -> None:
    """Show one row for each measure: over questions, over kinds, and in each kind."""
    from memorata_lab.evaluate.significance import Difference
    from memorata_lab.evaluate.tables import points

    def cell(gain: Difference) -> tuple[str, bool]:
        text = f"{points(gain.mean)} [{points(gain.low)}, {points(gain.high)}] p {gain.p:.3f}"
        # An interval without 0 in it is highlighted.
        return text, gain.low > 0 or gain.high < 0

    first = next(iter(comparison.measures.values()))
    kinds = list(first.kinds) if len(first.kinds) > 1 else []
    heads = [
        "measure",
        "questions",
        *(["mean of kinds"] if kinds else []),
        *(kind or "other" for kind in kinds),
    ]
    rows = []
    for name, difference in comparison.measures.items():
        of_kinds = [difference.macro, *(difference.kinds[kind] for kind in kinds)] if kinds else []
        rows.append([(name, False), *map(cell, (difference.micro, *of_kinds))])
    _table(output, heads, rows)


def times(run: ScoredRun) -> list[str]:
    """Return the median and the 95th percentile of a search, and its median with embedding the question."""
    latency, machine = run.scores.latency, run.machine
    if latency is None:
        return ["–"] * 3
    embedding: float | None = 0.0
    if run.scores.header.embedder:
        embedding = None if machine is None else machine.embedding_p50
    total = "–" if embedding is None else f"{latency.p50 + embedding:.1f}"
    return [f"{latency.p50:.2f}", f"{latency.p95:.2f}", total]


def section_json(section: Section) -> dict[str, Any]:
    """Return a section as plain data."""
    runs = []
    for run in section.runs:
        data = run.scores.as_dict()
        if data["abstention"] is not None:
            # The curves have a point for every question; here their areas are enough.
            data["abstention"]["risk_coverage"] = data["abstention"]["risk_coverage"]["area"]
            del data["abstention"]["roc"]
        runs.append({"recipe": run.name, "file": str(run.path), "machine": run.machine, **data})
    return {"dataset": section.dataset, "granularity": section.granularity, "runs": runs}


def _table(output: Output, heads: list[str], rows: list[list[tuple[str, bool]]]) -> None:
    if not output.terminal:
        output.line("\t".join(map(one_line, heads)))
        for row in rows:
            output.line("\t".join(text for text, _ in row))
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for number, head in enumerate(heads):
        table.add_column(one_line(head), justify="right" if number else "left", no_wrap=not number)
    for row in rows:
        table.add_row(*(Text(text, "bold green" if best else "") for text, best in row))
    output.show(table)
