"""How similar must two texts be before their similarity says anything? The noise ceiling of an embedder.

Cosines of one model cannot be compared with another's: unrelated texts have 0.05 with one and 0.65 with the
next. The noise ceiling puts all of them on one footing: the 0.99 quantile of the cosines between questions
and texts that cannot answer them, here each question of LoCoMo's four development conversations and every
turn of the other three. Of the turns that do answer a question, 75 % (potion-base-8M) to 95 % (granite) lie
above it. The similarity thresholds of the catalogue were measured so.

    python -m benchmarks.noise ../shared/data/locomo_dev.json.gz arctic-embed-s potion-base-8M builtin lexical

With `--facts` also what a line drawn at a cosine does (docs/thresholds.md): the share of right facts that
reach it, and of questions without an answer for which some fact does, in a set of the suite, English only.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
from pathlib import Path

import numpy as np

from memorata._environment import models_folder
from memorata.embed import Embedder, Resources, Vectors, open_embedder
from memorata_lab.evaluate.datasets.conversations import read_locomo

QUANTILE = 0.99
COSINES = (0.3, 0.5, 0.6, 0.7, 0.75)


def noise_ceiling(queries: Vectors, unrelated: Vectors, quantile: float = QUANTILE) -> float:
    """Return the cosine that the given share of unrelated pairs stays below."""
    return float(np.quantile(queries @ unrelated.T, quantile))


def shares(file: Path, embedder: Embedder) -> str:
    """Return for each cosine the shares of right facts and of questions without an answer that reach it."""
    right, wrong = [], []
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for haystack in map(json.loads, lines):
            rows = embedder.embed_documents([fact["text"] for fact in haystack["memories"]])
            ids = [fact["id"] for fact in haystack["memories"]]
            for question in haystack["questions"]:
                cosines = rows @ embedder.embed_query(question["text"])
                if not question["gold"]:
                    wrong.append(cosines.max())
                elif question["lang"] == question["fact_lang"] == "en":
                    right.append(cosines[[id_ in question["gold"] for id_ in ids]].max())
    reached = (
        (cosine, np.mean(np.array(right) >= cosine), np.mean(np.array(wrong) >= cosine)) for cosine in COSINES
    )
    parts = (
        f"{cosine:.2f}: {found:.0%} right, {refusable:.0%} unanswerable"
        for cosine, found, refusable in reached
    )
    return f"{len(right)} answered, {len(wrong)} not; " + "; ".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("locomo", type=Path)
    parser.add_argument("embedders", nargs="+")
    parser.add_argument("--facts", type=Path)
    given = parser.parse_args()
    haystacks = list(read_locomo(given.locomo).haystacks())
    resources = Resources(models=models_folder(os.environ, sys.platform, Path.home()))
    for name in given.embedders:
        embedder = open_embedder(name, resources)
        turns = [embedder.embed_documents([turn.text for turn in each.documents]) for each in haystacks]
        ceilings = []
        for number, haystack in enumerate(haystacks):
            queries = np.stack([embedder.embed_query(question.text) for question in haystack.questions])
            others = np.concatenate([rows for other, rows in enumerate(turns) if other != number])
            ceilings.append(noise_ceiling(queries, others))
        print(f"{name}: {np.mean(ceilings):.2f} (in force: {embedder.similarity_threshold:.2f})")
        if given.facts is not None:
            print(shares(given.facts, embedder))


if __name__ == "__main__":
    main()
