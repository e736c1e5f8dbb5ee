"""Ask every question of a data set with every recipe, and write down what came back.

A haystack is remembered once and asked with all recipes. Each question is recalled twice: with the recipe as
shipped, which is timed and shows whether it would rather not have answered, and with its gate open
(:mod:`memorata.evaluate.open_gate`), which gives the whole ranking. What is in the run file already is not
asked again, so an interrupted evaluation goes on where it was.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Final

import memorata
from memorata._frozen import frozen
from memorata._version import __version__
from memorata.embed.port import Embedder
from memorata.embed.reranker import Reranker
from memorata.engine import Engine, Recipe
from memorata.engine import open as open_engine
from memorata.engine.outcome import Recall
from memorata.engine.recall_log import Logging
from memorata.evaluate.collection import Dataset, Haystack, Question
from memorata.evaluate.deposit import Deposit, deposit
from memorata.evaluate.granularity import GRANULARITIES
from memorata.evaluate.labels_file import labels_name, slug, write_labels
from memorata.evaluate.machine import embedding_times, machine, write_machine
from memorata.evaluate.open_gate import opened
from memorata.evaluate.run_file import Answered, RunHeader, RunWriter
from memorata.model import checks
from memorata.model.errors import InvalidArgument, MemorataError

SHOWN: Final = 10
"""How many hits the timed recall returns: as many as a recall does unless told otherwise."""
_SOURCES: Final = (
    *(
        f"{room}/**/*.py"
        for room in (
            *("model", "text", "rank", "graph", "geo", "dedupe"),
            *("embed", "index", "store", "engine"),
        )
    ),
    *(f"evaluate/{name}.py" for name in ("collection", "deposit", "open_gate", "runner", "datasets/**/*")),
)
"""What a ranking depends on; how it is scored and shown afterwards is not part of it."""


@frozen
class RunFile:
    """A finished run.

    Parameters
    ----------
    path
        Its file.
    recipe
        The name of its recipe.
    asked, known
        How many questions were asked now, and how many had been before.
    """

    path: Path
    recipe: str
    asked: int
    known: int


def run(
    dataset: Dataset,
    recipes: Sequence[Recipe],
    *,
    embedder: Embedder | None,
    folder: Path,
    reranker: Reranker | None = None,
    timed: Embedder | None = None,
    granularity: str = "turn",
    depth: int = 50,
    again: bool = False,
    place: Callable[[], AbstractContextManager[str]] = lambda: nullcontext(":memory:"),
    progress: Callable[[float, str], None] = lambda done, doing: None,
) -> tuple[RunFile, ...]:
    """Run recipes on a data set; one file of rankings for each, and beside them the labels and the machine.

    Parameters
    ----------
    dataset
        What is remembered and asked.
    recipes
        How to search; their names are the names of the runs, so each must be its own.
    embedder
        What measures meaning, best wrapped in a :class:`~memorata.evaluate.cached_embedder.CachedEmbedder`;
        None for words alone, if no recipe needs more.
    folder
        Where the files go; made if it is not there.
    reranker
        For recipes that ask for one.
    timed
        The embedder that is measured on a few questions, where `embedder` has a cache before it.
    granularity
        What is ranked: "turn", which stands for any document, or "session".
    depth
        How many are written down for each question.
    again
        Whether to start over where there is a file already.
    place
        Gives an empty place for the memories of one haystack, as :func:`memorata.open` takes it, and takes
        it back; in memory unless told otherwise. Run files do not say which: give each its own folder.
    progress
        Called with the number of haystacks done, a part of one included, and what is being done.

    Raises
    ------
    DatasetError
        The data cannot be read, or a file is of another run.
    MemorataError
        A recipe could not be run as it should, so that its figures would be of something else.
    """
    checks.one_of("granularity", granularity, GRANULARITIES)
    checks.whole("depth", depth, 1)
    names = [recipe.name for recipe in recipes]
    if not names or len(set(names)) < len(names):
        raise InvalidArgument("recipes", names, "at least one recipe, each with a name of its own")
    folder.mkdir(parents=True, exist_ok=True)
    asked = dict.fromkeys(names, 0)
    with ExitStack() as stack:
        writers: dict[str, RunWriter] = {}
        for recipe in recipes:
            header = header_of(dataset, recipe, embedder, granularity, depth)
            path = folder / file_name(header)
            writers[recipe.name] = stack.enter_context(RunWriter(path, header, again=again))
        known = {name: len(writer.finished) for name, writer in writers.items()}
        questions: list[Question] = []
        for number, haystack in enumerate(dataset.haystacks()):
            work = {
                recipe.name: [each for each in haystack.questions if each.id not in finished]
                for recipe in recipes
                for finished in [writers[recipe.name].finished]
            }
            total = sum(map(len, work.values()))
            answers = _answers(haystack, recipes, work, embedder, reranker, granularity, depth, place)
            for done, (name, answered) in enumerate(answers, 1):
                writers[name].append(answered)
                asked[name] += 1
                progress(number + done / total, "asking")
            questions += haystack.questions
            progress(number + 1.0, "remembering")
    write_labels(folder / labels_name(dataset.name, dataset.sha256), questions)
    files = tuple(RunFile(Path(writers[name].path), name, asked[name], known[name]) for name in names)
    new = [file for file in files if file.asked]
    if new:
        clocked = embedder if timed is None else timed
        times = [] if clocked is None else embedding_times(clocked, [each.text for each in questions])
        found = machine(times)
        for file in new:
            write_machine(file.path, found)
    return files


def header_of(
    dataset: Dataset, recipe: Recipe, embedder: Embedder | None, granularity: str, depth: int
) -> RunHeader:
    """Return what the first line of a run's file says."""
    meant = embedder is not None and recipe.vector_pool > 0
    return RunHeader(
        dataset=dataset.name,
        sha256=dataset.sha256,
        recipe=recipe.as_dict() | {"depth": depth},
        embedder=embedder.name if embedder is not None and meant else "",
        granularity=granularity,
        code=code_version(),
        seed=0,
        created=datetime.now(UTC),
    )


def file_name(header: RunHeader) -> str:
    """Return the name of a run's file: the set with the beginning of its hash, what is ranked, how.

    Examples
    --------
    >>> now = datetime(2026, 5, 7, tzinfo=UTC)
    >>> file_name(RunHeader("LoCoMo, 4 talks", "9f8e7d6c5b", {"name": "bm25"}, "", "turn", "0.1", 0, now))
    'locomo-4-talks-9f8e7d6c.turn.words.bm25.jsonl'
    """
    parts = (
        f"{header.dataset} {header.sha256[:8]}",
        header.granularity,
        header.embedder or "words",
        str(header.recipe["name"]),
    )
    return ".".join(map(slug, parts)) + ".jsonl"


@lru_cache(maxsize=1)
def code_version() -> str:
    """Return the version, and a hash of the sources that a ranking depends on.

    Between two releases the version stays and the code does not; a run of yesterday's code must not be taken
    for one of today's.
    """
    root = Path(memorata.__file__).parent
    digest = hashlib.sha256()
    for pattern in _SOURCES:
        for path in sorted(root.glob(pattern)):
            digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return f"{__version__}+{digest.hexdigest()[:12]}"


def _answers(
    haystack: Haystack,
    recipes: Sequence[Recipe],
    work: Mapping[str, Sequence[Question]],
    embedder: Embedder | None,
    reranker: Reranker | None,
    granularity: str,
    depth: int,
    place: Callable[[], AbstractContextManager[str]],
) -> Iterator[tuple[str, Answered]]:
    """Yield the name of a recipe and an answer, for every question that has none yet."""
    if not any(work.values()):
        return
    given = deposit(haystack)
    # Words are read when they are remembered, so each way of reading them needs a memory of its own.
    for analyser in dict.fromkeys(recipe.analyser for recipe in recipes if work[recipe.name]):
        alike = [recipe for recipe in recipes if recipe.analyser == analyser and work[recipe.name]]
        with place() as where, _remembered(where, given, analyser, embedder, reranker) as engine:
            for recipe in alike:
                # The first recall of a recipe finds nothing in the processor's caches.
                first = work[recipe.name][0]
                engine.recall(first.text, recipe=recipe, limit=SHOWN, now=_moment(first, given))
                for question in work[recipe.name]:
                    yield recipe.name, _answer(engine, recipe, question, given, granularity, depth)


@contextmanager
def _remembered(
    where: str, given: Deposit, analyser: str, embedder: Embedder | None, reranker: Reranker | None
) -> Iterator[Engine]:
    with open_engine(
        where,
        embedder=embedder,
        reranker=reranker,
        analyser_name=analyser,
        durable=False,
        clock=lambda: given.moment,
        logging=Logging(recalls=False),
    ) as engine:
        # A document that is there twice is there twice: which of the two is found decides a metric.
        engine.remember_many(given.memories, duplicates="off")
        yield engine


def _answer(
    engine: Engine, recipe: Recipe, question: Question, given: Deposit, granularity: str, depth: int
) -> Answered:
    now = _moment(question, given)
    shipped = _sound(engine.recall(question.text, recipe=recipe, limit=SHOWN, now=now), recipe)
    wide = opened(recipe)
    by_session = granularity == "session"
    found = _sound(
        engine.recall(question.text, recipe=wide, limit=depth, sessions=by_session, now=now), recipe
    )
    hits = found.hits
    if by_session:
        named = [(given.sessions[each.hits[0].memory.id], each.score) for each in found.sessions]
        ranking = [(session, score) for session, score in named if session]
    else:
        ranking = [(given.documents[hit.memory.id], hit.score) for hit in hits]
    return Answered(
        question=question.id,
        kind=question.kind,
        ranking=tuple(ranking),
        # Without the question's vector: that may come from a cache here, and its cost is the model's.
        milliseconds=shipped.milliseconds["reading"] + shipped.milliseconds["search"],
        # Scores are relative to the best of a question; whether to answer at all needs one that is not.
        top=found.support if hits else None,
        abstained=not shipped.hits,
    )


def _moment(question: Question, given: Deposit) -> datetime:
    return given.moment if question.when is None else question.when


def _sound(found: Recall, recipe: Recipe) -> Recall:
    if found.degraded:
        raise MemorataError(f"recipe {recipe.name!r} cannot be measured: {'; '.join(found.degraded)}")
    return found
