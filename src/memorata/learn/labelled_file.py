r"""Labelled queries in a file: JSON Lines, in the form of :mod:`memorata.evaluate.datasets.plain`.

::

    {"query": {"id": "q1", "text": "Where do I live?"}}
    {"qrel": {"query": "q1", "document": "019dffbb-f000-7000-8000-000000000000"}}

Where the file has lines of documents, these are remembered in a memory of their own and asked there; else a
judged document is the id of a memory in the database.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from pathlib import Path

from memorata.engine import Engine
from memorata.engine import open as open_engine
from memorata.engine.recall.log import Logging
from memorata.engine.recipes.recipe import Recipe
from memorata.evaluate.dataset import Question
from memorata.evaluate.datasets.json_records import Record, json_records
from memorata.evaluate.datasets.plain import gain_of, question_of, read_jsonl
from memorata.evaluate.datasets.reader import Judgements
from memorata.evaluate.runner import corpus_of
from memorata.learn.training_set import LabelledQuery, TrainingSet, from_labels
from memorata.model.errors import DatasetError


@contextmanager
def labelled_training_set(
    engine: Engine, path: str | PathLike[str], *, recipe: Recipe | None = None, namespace: str | None = None
) -> Iterator[TrainingSet]:
    """Give what a labelled file has to teach, for the length of a block.

    - `engine`: what is asked, or whose embedder reads the documents of the file.
    - `path`: the file.
    - `recipe`: how to ask; None for what a recall uses.
    - `namespace`: whose memories; None for the engine's.
    - raises `DatasetError`: the file is not what it should be; the message names the line.
    """
    file = Path(path)
    if not file.is_file():
        raise DatasetError(file, None, "no such file")
    chosen = engine.recipes.get(namespace=namespace) if recipe is None else recipe
    if not any(record.has("document") for record in json_records(file)):
        yield from_labels(engine, _questions(file), recipe=chosen, namespace=namespace)
        return
    (haystack,) = read_jsonl(file).haystacks()
    corpus = corpus_of(haystack)
    memories = {document: memory for memory, document in corpus.documents.items()}
    with open_engine(
        ":memory:",
        embedder=engine.embedder,
        reranker=engine.reranker,
        analyser_name=engine.analyser.name,
        language=engine.analyser.language,
        life=engine.lifecycle.rules,
        clock=lambda: corpus.moment,
        logging=Logging(recalls=False),
    ) as apart:
        # A document that is there twice is there twice: which of the two is found decides a metric.
        apart.remember_many(corpus.memories, duplicates="off")
        questions = {
            question.id: LabelledQuery(
                question.text, {memories[id_]: gain for id_, gain in question.relevant.items()}, question.when
            )
            for question in haystack.questions
            if question.answerable
        }
        yield from_labels(apart, questions, recipe=chosen)


def _questions(file: Path) -> Mapping[str, LabelledQuery]:
    questions: dict[str, Question] = {}
    judged: list[tuple[Record, str, str, float]] = []
    judgements = Judgements()
    for record in json_records(file):
        if record.has("query"):
            question = question_of(record.child("query"))
            if question.id in questions:
                raise record.error(f"is the second query with the id {question.id!r}")
            questions[question.id] = question
        elif record.has("qrel"):
            qrel = record.child("qrel")
            names, gain = (qrel.child("query").name(), qrel.child("document").name()), gain_of(qrel)
            judgements.add(file, record.line, *names, gain)
            judged.append((record, *names, gain))
        else:
            raise record.error("has neither 'document' nor 'query' nor 'qrel'")
    relevant: dict[str, dict[str, float]] = {name: {} for name in questions}
    for record, name, memory, gain in judged:
        if name not in relevant:
            raise record.error(f"judges the query {name!r}, which is not in the file")
        relevant[name][memory] = gain
    return {
        name: LabelledQuery(question.text, relevant[name], question.when)
        for name, question in questions.items()
        if question.answerable
    }
