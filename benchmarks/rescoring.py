"""How many of the closest are found by sign bits and re-scoring, on embeddings of real texts.

The texts are those of several evaluation sets in one large namespace, and questions of every set are asked of
all of them: also such as nothing there answers, whose closest are far and hard to tell apart. The depth that
the engine chooses question by question is compared with the same depth for all. It was picked by the sets
that are marked so; the others had no say in it.

Run ``python -m benchmarks.rescoring --cache vectors.db``, with the cache of :mod:`benchmarks.quality`; what
is not in it is embedded first, which takes half an hour and more.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import benchmarks.one_thread  # noqa: F401 - before numpy is loaded

# isort: split
import numpy as np
import numpy.typing as npt

from benchmarks.quality import FOLDER, SETS
from memorata._environment import models_folder
from memorata.embed import Resources, open_embedder
from memorata.index.codes import closest, sign_bits
from memorata.index.vectors import MAX_RESCORED, MIN_RESCORED, Vectors, differing
from memorata_lab.evaluate.cached_embedder import CachedEmbedder
from memorata_lab.evaluate.datasets import open_dataset
from memorata_lab.evaluate.runner import document_text

Floats = npt.NDArray[np.float32]
Search = Callable[[Floats], npt.NDArray[np.intp]]

MODEL = "arctic-embed-s"
SEARCHED = ("locomo", "longmemeval-arctic", "musique", "cranfield")
LIMIT = 50
_PICKED_BY = 400
"""The first questions of LoCoMo, and all of LongMemEval, were those that the depth was picked by."""


def texts_and_questions(data: Path) -> tuple[list[str], dict[str, list[str]]]:
    """Return all texts, each once, and the questions by what they are."""
    texts: dict[str, None] = {}
    questions: dict[str, list[str]] = {}
    for name in SEARCHED:
        chosen = SETS[name]
        asked: list[str] = []
        for stack in open_dataset(chosen.reader, data / chosen.path, **chosen.options).haystacks():
            # As the engine embeds them, so that they are in the cache.
            texts |= dict.fromkeys(
                f"{each.speaker}: {document_text(each)}" if each.speaker else document_text(each)
                for each in stack.documents
            )
            asked += [question.text for question in stack.questions]
        if name == "locomo":
            questions["locomo (picked by)"], questions["locomo, the rest"] = (
                asked[:_PICKED_BY],
                asked[_PICKED_BY:],
            )
        else:
            questions[name + " (picked by)" * (name == "longmemeval-arctic")] = asked
    return list(texts), questions


def searches(rows: Floats) -> Iterator[tuple[str, Search]]:
    """Yield ways to find the closest: by one depth for all questions, and by that of the engine."""
    owners = np.arange(len(rows), dtype=np.int32)
    bits = sign_bits(rows)

    def by_depth(depth: int) -> Search:
        def search(query: Floats) -> npt.NDArray[np.intp]:
            near = closest(differing(bits, sign_bits(query[None, :])[0]), depth, rows.shape[1])
            return near[np.argsort(-(rows[near] @ query), kind="stable")[:LIMIT]]

        return search

    for depth in (MIN_RESCORED, 3 * MIN_RESCORED, MAX_RESCORED):
        yield f"{depth:,} for all", by_depth(depth)
    vectors = Vectors(rows.shape[1], exact=False)
    vectors.add(owners, rows)
    yield (
        f"{MIN_RESCORED:,}, {MAX_RESCORED:,} where it takes more",
        lambda query: vectors.search(query, LIMIT, None, lambda places: rows[places])[0],
    )


def main(arguments: list[str] | None = None) -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rescoring", description=__doc__)
    parser.add_argument("--data", type=Path, default=FOLDER, help="the folder of the evaluation data")
    parser.add_argument("--cache", type=Path, required=True, help="the file that keeps vectors")
    options = parser.parse_args(arguments)
    resources = Resources(
        models=models_folder(os.environ, sys.platform, Path.home()),
        threads=None,
    )
    embedder = CachedEmbedder(open_embedder(MODEL, resources), options.cache)
    texts, questions = texts_and_questions(options.data)
    rows = np.concatenate(embedder.embed_passages(texts))
    print(f"{len(texts):,} texts, {len(rows):,} vectors by {MODEL}; of the closest 10 / 50 are found\n")
    names = list(questions)
    print("| | " + " | ".join(f"{name}, {len(questions[name])}" for name in names) + " |")
    print("|---" * (len(names) + 1) + "|")
    asked = {name: np.stack([embedder.embed_query(each) for each in questions[name]]) for name in names}
    truth = {name: [np.argsort(-(rows @ query))[:LIMIT] for query in asked[name]] for name in names}
    for way, search in searches(rows):
        cells = []
        for name in names:
            pairs = [(best, search(query)) for best, query in zip(truth[name], asked[name], strict=True)]
            ten = np.mean([np.isin(best[:10], found[:10]).mean() for best, found in pairs])
            fifty = np.mean([np.isin(best, found).mean() for best, found in pairs])
            cells.append(f"{ten:.4f} / {fifty:.4f}")
        print(f"| {way} | " + " | ".join(cells) + " |", flush=True)
    embedder.close()


if __name__ == "__main__":
    main()
