"""The runner: every question of a data set with every recipe, written to run files.

A haystack is remembered once and asked with all recipes. Each question is recalled twice: with the recipe as
shipped, which is timed and shows whether it would rather not have answered, and with its gate open
(:meth:`Recipe.ungated`), which gives the whole ranking. What is in the run file already is not asked again,
so an interrupted evaluation goes on where it was.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Final

import memorata
from memorata import Config, Engine, Query, RecallResult, Recipe, When, __version__
from memorata import open as open_engine
from memorata.extend import frozen
from memorata.extend.embedding import Embedder, Reranker
from memorata.extend.errors import InvalidArgument, MemorataError
from memorata.extend.log import Logging
from memorata.extend.model import Memory, Source, checks
from memorata_lab.evaluate.dataset import (
    GRANULARITIES,
    Dataset,
    Document,
    Haystack,
    Question,
    labels_name,
    slug,
    write_labels,
)
from memorata_lab.evaluate.run_file import (
    Answer,
    RunHeader,
    RunWriter,
    embedding_times,
    machine,
    write_machine,
)

SHOWN: Final = 10
"""How many hits the timed recall returns: as many as a recall does by default."""
UNDATED: Final = datetime(2000, 1, 1, tzinfo=UTC)
"""When documents without a time are dated, so that every run is the same."""
_PACKAGES: Final = ("model", "lang", "text", "rank", "dedupe", "embed", "index", "store", "engine")
_MODULES: Final = ("dataset", "files", "runner", "datasets/**/*")
_SOURCES: Final = tuple(f"{package}/**/*.{kind}" for package in _PACKAGES for kind in ("py", "toml"))
_OWN_SOURCES: Final = ("recipes.toml", *(f"evaluate/{module}.py" for module in _MODULES))
"""What a ranking depends on; how it is scored and shown afterwards is not part of it."""


@frozen
class RunFile:
    """A finished run: how many questions were asked now, and how many were known from before."""

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

    - `embedder`: best wrapped in a :class:`~memorata_lab.evaluate.cached_embedder.CachedEmbedder`; None for
      words alone, if no recipe needs more. `timed` is the one that is measured on a few questions.
    - `granularity`: what is ranked: "turn", which stands for any document, or "session".
    - `depth`: how many are written down for each question.
    - `again`: whether to start over where there is a file already.
    - `place`: gives an empty place for the memories of one haystack, as :func:`memorata.open` takes it, and
      takes it back; in memory by default. Run files do not say which: give each its own folder.
    - `progress`: called with the number of haystacks done, a part of one included, and what is being done.
    - raises `MemorataError`: a recipe could not be run as it should, so that its figures would be of
      something else.
    """
    checks.one_of("granularity", granularity, GRANULARITIES)
    checks.whole("depth", depth, 1)
    names = [recipe.name for recipe in recipes]
    if not names or len(set(names)) < len(names):
        raise InvalidArgument("recipes", names, "at least one recipe, each with a name of its own")
    folder.mkdir(parents=True, exist_ok=True)
    asked_counts = dict.fromkeys(names, 0)
    with ExitStack() as stack:
        writers: dict[str, RunWriter] = {}
        for recipe in recipes:
            header = header_of(dataset, recipe, embedder, granularity, depth)
            path = folder / file_name(header)
            writers[recipe.name] = stack.enter_context(RunWriter(path, header, again=again))
        finished_counts = {name: len(writer.finished) for name, writer in writers.items()}
        questions: list[Question] = []
        for number, haystack in enumerate(dataset.haystacks()):
            work = {
                recipe.name: [question for question in haystack.questions if question.id not in finished]
                for recipe in recipes
                for finished in [writers[recipe.name].finished]
            }
            total = sum(map(len, work.values()))
            answers = _answers(haystack, recipes, work, embedder, reranker, granularity, depth, place)
            for done, (name, answered) in enumerate(answers, 1):
                writers[name].append(answered)
                asked_counts[name] += 1
                progress(number + done / total, "asking")
            questions += haystack.questions
            progress(number + 1.0, "remembering")
    write_labels(folder / labels_name(dataset.name, dataset.sha256), questions)
    files = tuple(
        RunFile(Path(writers[name].path), name, asked_counts[name], finished_counts[name]) for name in names
    )
    new = [file for file in files if file.asked]
    if new:
        clocked = embedder if timed is None else timed
        times = [] if clocked is None else embedding_times(clocked, [question.text for question in questions])
        description = machine(times)
        for file in new:
            write_machine(file.path, description)
    return files


def header_of(
    dataset: Dataset, recipe: Recipe, embedder: Embedder | None, granularity: str, depth: int
) -> RunHeader:
    """Return what the first line of a run's file says."""
    uses_vectors = embedder is not None and recipe.vector_pool > 0
    return RunHeader(
        dataset=dataset.name,
        sha256=dataset.sha256,
        recipe=recipe.as_dict() | {"depth": depth},
        embedder=embedder.name if embedder is not None and uses_vectors else "",
        granularity=granularity,
        code=code_version(),
        seed=0,
        created=datetime.now(UTC),
    )


def file_name(header: RunHeader) -> str:
    """Return the name of a run's file: the set with the beginning of its hash, what is ranked, how."""
    parts = (
        f"{header.dataset} {header.sha256[:8]}",
        header.granularity,
        header.embedder or "words",
        str(header.recipe["name"]),
    )
    return ".".join(map(slug, parts)) + ".jsonl"


@lru_cache(maxsize=1)
def code_version() -> str:
    """Return the version, and a hash of what a ranking depends on: that changes between releases, too."""
    core, lab = Path(memorata.__file__).parent, Path(__file__).parents[1]
    digest = hashlib.sha256()
    for root, patterns in ((core, _SOURCES), (lab, _OWN_SOURCES)):
        for path in sorted(path for pattern in patterns for path in root.glob(pattern)):
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
) -> Iterator[tuple[str, Answer]]:
    """Yield the name of a recipe and an answer, for every question that has none yet."""
    if not any(work.values()):
        return
    corpus = corpus_of(haystack)
    config = Config(reranker=reranker, durable=False)
    with place() as where, remembered(where, corpus, embedder=embedder, config=config) as engine:
        for recipe in recipes:
            if not work[recipe.name]:
                continue
            # The first recall of a recipe finds nothing in the processor's caches.
            first = work[recipe.name][0]
            engine.recall(first.text, recipe=recipe, limit=SHOWN, when=When(now=_moment(first, corpus)))
            for question in work[recipe.name]:
                yield recipe.name, _answer(engine, recipe, question, corpus, granularity, depth)


@contextmanager
def remembered(
    where: str, corpus: Corpus, *, embedder: Embedder | str | None, config: Config
) -> Iterator[Engine]:
    """Give an engine that has remembered a corpus and logs nothing."""
    silent = replace(config, logging=Logging(recalls=False))
    with open_engine(where, embedder=embedder, clock=lambda: corpus.moment, config=silent) as engine:
        # A document that is there twice is there twice: which of the two is found decides a metric.
        engine.remember_many(corpus.memories, duplicates="off")
        yield engine


def _answer(
    engine: Engine, recipe: Recipe, question: Question, corpus: Corpus, granularity: str, depth: int
) -> Answer:
    now = _moment(question, corpus)
    shipped = _require_complete(
        engine.recall(question.text, recipe=recipe, limit=SHOWN, when=When(now=now)), recipe
    )
    wide = recipe.ungated()
    by_session = granularity == "session"
    result = _require_complete(
        engine.recall(
            Query(question.text, sessions=by_session), recipe=wide, limit=depth, when=When(now=now)
        ),
        recipe,
    )
    hits = result.hits
    if by_session:
        ranked_sessions = [
            (corpus.sessions[session.hits[0].memory.id], session.score) for session in result.sessions
        ]
        ranking = [(session, score) for session, score in ranked_sessions if session]
    else:
        ranking = [(corpus.documents[hit.memory.id], hit.score) for hit in hits]
    return Answer(
        question=question.id,
        kind=question.kind,
        ranking=tuple(ranking),
        # Without the question's vector: that may come from a cache here, and its cost is the model's.
        milliseconds=shipped.milliseconds["reading"] + shipped.milliseconds["search"],
        # Scores are relative to the best of a question; whether to answer at all needs one that is not.
        top=result.support if hits else None,
        abstained=not shipped.hits,
    )


def _moment(question: Question, corpus: Corpus) -> datetime:
    return corpus.moment if question.when is None else question.when


def _require_complete(result: RecallResult, recipe: Recipe) -> RecallResult:
    if result.degraded:
        raise MemorataError(f"recipe {recipe.name!r} cannot be measured: {'; '.join(result.degraded)}")
    return result


@frozen
class Corpus:
    """A haystack as memories: what the engine is given of it, and the way back from its hits.

    The engine sees texts, speakers, times and places in a session, under ids and session names made here. So
    neither a label nor an identifier of the set can reach it, whatever a reader of data sets lets through.
    """

    memories: tuple[Memory, ...]
    moment: datetime
    documents: dict[str, str]
    sessions: dict[str, str]


def corpus_of(haystack: Haystack) -> Corpus:
    """Return a haystack as memories."""
    moment = max(
        (document.when for document in haystack.documents if document.when is not None), default=UNDATED
    )
    names: dict[str, str] = {}
    memories: list[Memory] = []
    documents: dict[str, str] = {}
    sessions: dict[str, str] = {}
    seen: set[str] = set()
    for number, document in enumerate(haystack.documents, 1):
        if document.id in seen:
            raise InvalidArgument(f"haystack {haystack.id}", document.id, "documents with ids of their own")
        seen.add(document.id)
        id_ = f"m{number}"
        session = names.setdefault(document.session, f"s{len(names) + 1}") if document.session else ""
        # The people of a set are the users of its store.
        role = "user" if document.speaker and not Source(document.speaker).is_machine else ""
        memories.append(
            Memory(
                id=id_,
                content=document_text(document),
                created_at=UNDATED if document.when is None else document.when,
                source=Source(
                    speaker=document.speaker, session=session, position=document.position, role=role
                ),
            )
        )
        documents[id_] = document.id
        sessions[id_] = document.session
    return Corpus(tuple(memories), moment, documents, sessions)


def document_text(document: Document) -> str:
    """Return what is remembered of a document: its title, unless the text repeats it, and the text.

    Titles are read with the text, as the makers of BEIR and of the multi-hop sets do.
    """
    if not document.title or document.text.casefold().startswith(document.title.casefold()):
        return document.text
    return f"{document.title}\n{document.text}" if document.text.strip() else document.title
