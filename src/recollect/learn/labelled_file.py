r"""Labelled questions in a file: JSON Lines, in the form of :mod:`recollect.evaluate.datasets.jsonl`.

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

from recollect.engine import Engine
from recollect.engine import open as open_engine
from recollect.engine.recall_log import Logging
from recollect.engine.recipe import Recipe
from recollect.evaluate.datasets.json_records import json_records
from recollect.evaluate.datasets.jsonl import Jsonl
from recollect.evaluate.datasets.record import Record
from recollect.evaluate.deposit import deposit
from recollect.learn.material import Labelled, Material, from_labels
from recollect.model.errors import DatasetError


@contextmanager
def labelled_material(
    engine: Engine, path: str | PathLike[str], *, recipe: Recipe | None = None, namespace: str | None = None
) -> Iterator[Material]:
    """Give what a labelled file has to teach, for the length of a block.

    Parameters
    ----------
    engine
        What is asked, or whose embedder reads the documents of the file.
    path
        The file.
    recipe
        How to ask; None for what a recall uses.
    namespace
        Whose memories; None for the engine's.

    Raises
    ------
    DatasetError
        The file is not what it should be; the message names the line.
    """
    file = Path(path)
    if not file.is_file():
        raise DatasetError(file, None, "no such file")
    chosen = engine.recipe_named(namespace=namespace) if recipe is None else recipe
    if not any(record.has("document") for record in json_records(file)):
        yield from_labels(engine, _questions(file), recipe=chosen, namespace=namespace)
        return
    (haystack,) = Jsonl(file).haystacks()
    given = deposit(haystack)
    memories = {document: memory for memory, document in given.documents.items()}
    with open_engine(
        ":memory:",
        embedder=engine.embedder,
        clock=lambda: given.moment,
        logging=Logging(recalls=False),
    ) as apart:
        # A document that is there twice is there twice: which of the two is found decides a metric.
        apart.remember_many(given.memories, duplicates="off")
        questions = {
            each.id: Labelled(
                each.text, {memories[id_]: gain for id_, gain in each.relevant.items()}, each.when
            )
            for each in haystack.questions
            if each.answerable
        }
        yield from_labels(apart, questions, recipe=chosen)


def _questions(file: Path) -> Mapping[str, Labelled]:
    texts: dict[str, tuple[Record, str]] = {}
    judged: list[tuple[Record, str, str, float]] = []
    for record in json_records(file):
        if record.has("query"):
            query = record.child("query")
            name = query.child("id").name()
            if name in texts:
                raise record.error(f"is the second query with the id {name!r}")
            texts[name] = record, query.text("text")
        elif record.has("qrel"):
            qrel = record.child("qrel")
            gain = qrel.child("gain") if qrel.has("gain") else None
            worth = (
                1.0 if gain is None else float(gain.a(int) if isinstance(gain.value, int) else gain.a(float))
            )
            judged.append((record, qrel.child("query").name(), qrel.child("document").name(), worth))
        else:
            raise record.error("has neither 'document' nor 'query' nor 'qrel'")
    relevant: dict[str, dict[str, float]] = {name: {} for name in texts}
    for record, name, memory, worth in judged:
        if name not in relevant:
            raise record.error(f"judges the query {name!r}, which is not in the file")
        relevant[name][memory] = worth
    return {name: Labelled(text, relevant[name]) for name, (_, text) in texts.items()}
