"""What an evaluation is made of, from what people type: data sets, recipes, measures, run files."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from memorata.cli.arguments import changes, chosen
from memorata.cli.output import Output
from memorata.cli.session import Session

if TYPE_CHECKING:
    from memorata.embed.port import Embedder, Reranker
    from memorata.engine import Recipe
    from memorata.evaluate.dataset import Dataset, Question
    from memorata.evaluate.run_file import Run
    from memorata.evaluate.sections import ScoredRun

_ON: Final = ("true", "yes", "on", "1")
_OFF: Final = ("false", "no", "off", "0")


def scored_runs(
    paths: Sequence[Path],
    dataset: tuple[str, Path] | None,
    qrels: Path | None,
    turns: str | None,
    options: Sequence[str],
    measure: Sequence[str] | None,
) -> list[ScoredRun]:
    """Read runs, find their labels where people said or else beside them, and score them."""
    from memorata.evaluate.run_file import read_run
    from memorata.evaluate.sections import labels_of, score_file
    from memorata.evaluate.trec import is_trec, judged_by, kinds_of, run_reader
    from memorata.model.errors import DatasetError, InvalidArgument

    measures = measures_of(measure)
    if dataset is not None and qrels is not None:
        raise InvalidArgument("--qrels", str(qrels), "left out when --dataset is given")
    if dataset is None and (turns is not None or options):
        raise InvalidArgument("--option", turns or options[0], "given together with --dataset")
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
    opened = dataset_of(*dataset, turns, options)
    asked = [question for haystack in opened.haystacks() for question in haystack.questions]

    def questions(path: Path, run: Run) -> list[Question]:
        if run.header.sha256 != opened.sha256:
            raise DatasetError(path, 1, f"a run on other data ({run.header.dataset}) than {opened.name}")
        # A run on the first questions of a set says so in its name, and is measured on all of those.
        first = re.search(r", first (\d+) questions$", run.header.dataset)
        return asked[: int(first[1])] if first else asked

    return [score_file(path, measures, questions, read_run) for path in paths]


def run_files(paths: Sequence[Path]) -> list[Path]:
    """Return the files that were named, and the runs in folders that were."""
    from memorata.model.errors import DatasetError

    found: list[Path] = []
    for path in paths:
        if not path.is_dir():
            found.append(path)
            continue
        inside = [each for each in sorted(path.glob("*.jsonl")) if not each.name.endswith(".labels.jsonl")]
        if not inside:
            raise DatasetError(path, None, "a folder without run files (*.jsonl)")
        found += inside
    return list(dict.fromkeys(found))


def recipes_of(names: Sequence[str], settings: Sequence[str]) -> list[Recipe]:
    """Return the recipes of those names, all if none is named, with parameters changed."""
    from dataclasses import replace

    from memorata.engine import PARAMETERS, RECIPES

    wanted = [RECIPES[chosen("--recipe", name, tuple(RECIPES))] for name in dict.fromkeys(names)]
    changed = changes(settings, PARAMETERS)
    if not changed:
        return wanted or list(RECIPES.values())
    # A changed recipe is another one, in tables and in the names of files.
    marks = "+".join(f"{name}={value}" for name, value in changed.items())
    return [
        replace(recipe.changed(changed), name=f"{recipe.name}+{marks}")
        for recipe in wanted or RECIPES.values()
    ]


def measures_of(names: Sequence[str] | None) -> list[str]:
    """Return the measures of those names, the usual ones if none is named."""
    from memorata.evaluate.metrics import measure
    from memorata.evaluate.sections import MEASURES

    found = list(dict.fromkeys(names or MEASURES))
    for name in found:
        measure(name)
    return found


def dataset_of(format: str, path: Path, turns: str | None, options: Sequence[str]) -> Dataset:
    """Return a data set, read with the options that were given as text."""
    from memorata.evaluate.datasets import READERS, open_dataset
    from memorata.model.checks import nearest
    from memorata.model.errors import InvalidArgument

    chosen("--dataset", format, tuple(READERS))
    taken = inspect.signature(READERS[format]).parameters
    given: dict[str, Any] = {} if turns is None else {"turns": turns}
    for option in options:
        name, equals, value = option.partition("=")
        if not equals:
            raise InvalidArgument("--option", option, "name=value, such as turns=user")
        if name not in taken:
            known = ", ".join(each for each in taken if each != "path") or "it has none"
            raise InvalidArgument("--option", name, f"one of {format}'s ({known}){nearest(name, taken)}")
        given[name] = _flag(name, value) if isinstance(taken[name].default, bool) else value
    return open_dataset(format, path, **given)


def _flag(name: str, text: str) -> bool:
    from memorata.model.errors import InvalidArgument

    if text.lower() not in (*_ON, *_OFF):
        raise InvalidArgument(f"--option {name}", text, "yes or no")
    return text.lower() in _ON


@contextmanager
def embedders(
    session: Session, recipes: Sequence[Recipe], runs: Path, cache: Path | None
) -> Iterator[tuple[Embedder | None, Embedder | None]]:
    """Give the embedder to run with, which remembers on disk, and the one behind it, to be timed."""
    from memorata.embed.lexical import LexicalEmbedder
    from memorata.embed.select import choose
    from memorata.evaluate.cached_embedder import CachedEmbedder

    if not any(recipe.vector_pool for recipe in recipes):
        yield None, None
        return
    settings = session.settings
    choice = choose(settings.embedder, settings.resources)
    if choice.note:
        session.output.say(f"Note: {choice.note}")
    if cache is None and isinstance(choice.embedder, LexicalEmbedder):
        # Hashing words is quicker than looking up what was hashed.
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
    from memorata.embed.select import open_reranker

    if not any(recipe.rerank_depth for recipe in recipes):
        return None
    return open_reranker(session.settings.reranker, session.settings.resources)


@contextmanager
def progress_of(output: Output, haystacks: int) -> Iterator[Callable[[float, str], None]]:
    """Give a function that shows how far it is: a bar for people, now and then a line for logs."""
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
