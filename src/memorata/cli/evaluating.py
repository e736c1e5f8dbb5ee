"""How good is it? Data sets run with every recipe, run files scored, compared and reported on."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from memorata.cli.arguments import chosen
from memorata.cli.command import command
from memorata.cli.evaluation_inputs import (
    dataset_of,
    embedders,
    measures_of,
    progress_of,
    recipes_of,
    reranker_of,
    run_files,
    scored_runs,
)
from memorata.cli.evaluation_tables import as_json, show_comparison, show_runs
from memorata.cli.flags import Group
from memorata.cli.output import counted
from memorata.cli.recalling import Changes, recipe_names
from memorata.cli.session import Session

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

Data = Annotated[Path, typer.Argument(metavar="PATH", help="The file or folder of the data set.")]
Recipes = Annotated[
    list[str] | None,
    typer.Option("--recipe", "-r", help="A recipe; repeatable. Otherwise all.", autocompletion=recipe_names),
]
Granularity = Annotated[str, typer.Option("--granularity", help="What is ranked: turn or session.")]
Turns = Annotated[
    str | None, typer.Option("--turns", help="LongMemEval: all turns, or those of the user only.")
]
Options = Annotated[
    list[str] | None,
    typer.Option("--option", metavar="NAME=VALUE", help="An option of the format; repeatable."),
]
LimitQuestions = Annotated[
    int | None, typer.Option("--limit-questions", min=1, help="Only the first so many questions.")
]
Depth = Annotated[int, typer.Option("--depth", min=1, help="How many results are written down.")]
Runs = Annotated[Path, typer.Option("--runs", metavar="FOLDER", help="Where the run files go.")]
Cache = Annotated[
    Path | None, typer.Option("--cache", metavar="FILE", help="Where vectors are kept; in --runs otherwise.")
]
Measures = Annotated[
    list[str] | None,
    typer.Option("--measure", "-m", help="any@5, all@5, recall@5, mrr, ndcg@10, …; repeatable."),
]
Macro = Annotated[
    bool, typer.Option("--macro", help="Means over kinds of question instead of over questions.")
]
Again = Annotated[bool, typer.Option("--again", help="Start over where there is a run already.")]
RunPath = Annotated[Path, typer.Argument(metavar="RUN", help="A run file, or a TREC run with --qrels.")]
Baseline = Annotated[Path, typer.Argument(metavar="BASELINE", help="The run to compare with.")]
RunPaths = Annotated[list[Path], typer.Argument(metavar="RUNS", help="Run files, or folders of them.")]
Against = Annotated[
    tuple[str, Path] | None,
    typer.Option(
        "--dataset", metavar="NAME PATH", help="The data set, where its labels are not beside the run."
    ),
]
Qrels = Annotated[
    Path | None, typer.Option("--qrels", metavar="FILE", help="Labels in TREC's format instead.")
]
Folder = Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where the report goes.")]


def register(app: typer.Typer) -> None:
    """Add the group of commands to the application."""
    group = typer.Typer(
        cls=Group, no_args_is_help=True, help="Measure how good the recipes are, on data with labels."
    )
    for name, help_ in DATASETS.items():
        command(group, name, "Data sets")(_command_for(name, help_))
    command(group, "score", "Run files")(score)
    command(group, "compare", "Run files")(compare)
    command(group, "report", "Run files")(report)
    app.add_typer(group, name="eval", rich_help_panel="Look after it")


def _command_for(name: str, help_: str) -> Callable[..., None]:
    """Return the command that evaluates on one format."""

    def evaluate_format(session: Session, **arguments: Any) -> None:  # noqa: ANN401 - as declared
        evaluate(session, name, **arguments)

    functools.update_wrapper(evaluate_format, evaluate)
    evaluate_format.__doc__ = help_
    signature = inspect.signature(evaluate, eval_str=True)
    taken = [parameter for parameter in signature.parameters.values() if parameter.name != "format"]
    evaluate_format.__signature__ = signature.replace(parameters=taken)  # type: ignore[attr-defined]
    return evaluate_format


def evaluate(
    session: Session,
    format: str,
    path: Data,
    recipe: Recipes = None,
    set: Changes = None,
    granularity: Granularity = "turn",
    turns: Turns = None,
    option: Options = None,
    limit_questions: LimitQuestions = None,
    depth: Depth = 50,
    runs: Runs = Path("runs"),
    cache: Cache = None,
    measure: Measures = None,
    macro: Macro = False,
    again: Again = False,
) -> None:
    """Run recipes on a data set and say how good they are."""
    from memorata.evaluate.dataset import GRANULARITIES, FirstQuestions
    from memorata.evaluate.runner import run
    from memorata.evaluate.sections import score_file, sections
    from memorata.model.errors import DatasetError

    chosen("--granularity", granularity, GRANULARITIES)
    recipes = recipes_of(recipe or [], set or [])
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
            session.output.say(f"What was answered so far is in {runs}; run the same again to go on.", "")
            raise
        except DatasetError as error:
            if "this is another run" in error.reason:
                raise DatasetError(error.path, error.line, f"{error.reason}; --again starts over") from error
            raise
    (section,) = sections([score_file(file.path, measures) for file in files])
    if session.output.json:
        found = as_json(section) | {"dropped": dict(dataset.dropped), "folder": str(runs)}
        session.output.data(found)
        return
    show_runs(session.output, section, macro=macro)
    dropped = [f"{number:,} left out: {why}" for why, number in dataset.dropped.items()]
    known = sum(file.known for file in files)
    resumed = [f"{counted(known, 'answer')} from before"] if known else []
    session.output.say(" · ".join([*section.facts, *dropped, *resumed]))
    session.output.say(f"The runs are in {runs}; memorata eval report {runs} makes a page of them.")


def score(
    session: Session,
    run: RunPath,
    dataset: Against = None,
    qrels: Qrels = None,
    turns: Turns = None,
    option: Options = None,
    measure: Measures = None,
    macro: Macro = False,
) -> None:
    """Score a run file: ours with the labels beside it, or anybody's with labels that you name."""
    from memorata.evaluate.sections import sections

    found = scored_runs([run], dataset, qrels, turns, option or [], measure)
    (section,) = sections(found)
    if session.output.json:
        session.output.data(as_json(section))
        return
    show_runs(session.output, section, macro=macro)
    session.output.say(" · ".join(section.facts))


def compare(
    session: Session,
    run: RunPath,
    baseline: Baseline,
    dataset: Against = None,
    qrels: Qrels = None,
    turns: Turns = None,
    option: Options = None,
    measure: Measures = None,
) -> None:
    """Say how much better a run is than another on the same questions, and how sure that is."""
    from memorata.evaluate.scores import compare as compared

    ours, theirs = scored_runs([run, baseline], dataset, qrels, turns, option or [], measure)
    found = compared(ours.scores, theirs.scores)
    if session.output.json:
        session.output.data(found.as_dict())
        return
    show_comparison(session.output, found)
    session.output.say(
        f"{ours.name} against {theirs.name} on {counted(found.questions, 'question')}; points, with 95 % "
        "intervals and p of a paired bootstrap."
    )


def report(
    session: Session,
    runs: RunPaths,
    output: Folder = Path("report"),
    dataset: Against = None,
    qrels: Qrels = None,
    turns: Turns = None,
    option: Options = None,
    measure: Measures = None,
) -> None:
    """Write report.md and report.html about runs: tables, curves, kinds of question, time."""
    from memorata.evaluate.report import write_report
    from memorata.evaluate.sections import sections

    found = scored_runs(run_files(runs), dataset, qrels, turns, option or [], measure)
    written = write_report(output, [section.best_first() for section in sections(found)])
    if session.output.json:
        session.output.data({"runs": len(found), "files": list(map(str, written))})
        return
    for path in written:
        session.output.line(str(path))
    session.output.say(f"about {counted(len(found), 'run')}")
