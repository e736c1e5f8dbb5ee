"""What the gate withholds, and what it refuses: queries with an answer, about something else, or without one.

``python -m benchmarks.gate FOLDER [--sets a,b]`` where FOLDER has sets in the form of
:mod:`memorata_lab.evaluate.suite`. Every store is asked its own questions and questions of other sets, with
the built-in model and the recipe as shipped; a query is withheld, or refused, if nothing is shown. Beside it
stands what weights reach that were learnt on the other sets, at the same least confidence; then those
learnt on all, for :mod:`memorata.engine.recall.confidence`. ``--vectors`` writes the vectors of the null
questions that come with the built-in model, and nothing else.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import Any

import numpy as np

import memorata
from benchmarks.answer_confidence import fitted
from memorata import Query, When
from memorata._frozen import frozen
from memorata.embed import Resources, open_embedder
from memorata.engine import RECIPES
from memorata.engine.recall import null
from memorata.engine.recall.confidence import RECALL_FEATURES
from memorata.engine.recall.log import Logging
from memorata.engine.settings import Settings
from memorata_lab.evaluate.dataset import Document, Haystack
from memorata_lab.evaluate.metrics import auroc
from memorata_lab.evaluate.runner import corpus_of

MODEL = "use-multilingual"
ALIKE = ({"xquad", "squad2_es", "wiki_native", "timeqa"}, {"madial_en", "madial_zh"}, {"locomo", "realtalk"})
"""Sets that may be about the same: none is asked the questions of another of its own."""
LEFT_OUT = ("contradiction_pairs", "longmemeval_s")
"""No sets of questions, or too long."""
ANSWERED, UNANSWERABLE, ELSEWHERE = "answered", "unanswerable", "about something else"
Floats = np.typing.NDArray[np.float64]


@frozen(eq=False)
class Asked:
    """One query: of which set, of which kind, whether anything was shown, and the features of the recall."""

    set: str
    kind: str
    shown: bool
    confidence: float
    features: Floats


def haystacks(folder: Path, name: str) -> Iterator[dict[str, Any]]:
    """Yield the haystacks of a set."""
    with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def drawn(items: Sequence[Any], most: int, salt: str = "") -> list[Any]:
    """Return at most so many items, always the same ones, whose hashes are lowest."""
    return sorted(items, key=lambda item: hashlib.sha256((salt + str(item)).encode()).hexdigest())[:most]


def elsewhere(questions: Mapping[str, list[str]], name: str, salt: str, most: int) -> list[str]:
    """Return questions of other sets in turns, of each as many."""
    close = set(chain.from_iterable(group for group in ALIKE if name in group)) | {name}
    pools = [drawn(texts, most, salt) for other, texts in questions.items() if other not in close]
    return list(islice(filter(None, chain.from_iterable(zip_longest(*pools))), most))


def ask(
    name: str, haystack: Mapping[str, Any], questions: Mapping[str, list[str]], own: int, others: int
) -> Iterator[Asked]:
    """Yield what a store shows for so many of its own questions, and of those of other sets."""
    facts = haystack["memories"]
    documents = tuple(
        Document(
            fact["id"],
            fact["text"],
            "",
            None if fact["time"] is None else datetime.fromisoformat(fact["time"]),
            fact["speaker"],
            fact["session"] or "",
            fact["position"],
        )
        for fact in facts
    )
    corpus = corpus_of(Haystack(haystack["id"], documents, ()))
    last = corpus.moment
    asked = [
        (ANSWERED if one["answerable"] else UNANSWERABLE, one) for one in drawn(haystack["questions"], own)
    ]
    texts = elsewhere(questions, name, haystack["id"], others)
    asked += [(ELSEWHERE, {"text": text, "time": None}) for text in texts]
    config = {"durable": False, "logging": Logging(recalls=False)}
    with memorata.open(":memory:", embedder=MODEL, clock=lambda: last, config=config) as engine:
        engine.remember_many(corpus.memories, duplicates="off")
        for kind, one in asked:
            now = last if one["time"] is None else datetime.fromisoformat(one["time"])
            result = engine.recall(Query(one["text"]), when=When(now=now))
            if result.estimates is None or result.trace is None:
                continue
            yield Asked(name, kind, bool(result.hits), result.confidence, result.estimates.of_recall)


def percent(flags: Any) -> str:  # noqa: ANN401 - an array of truth values
    """Return a share in per cent; nothing where there is nothing."""
    return f"{100 * np.mean(flags):.1f}" if len(flags) else ""


def separation(high: Floats, low: Floats) -> str:
    """Return the area under the curve; nothing where one side is empty."""
    return f"{auroc(high, low):.2f}" if len(high) and len(low) else ""


def learnt(rows: Sequence[Asked]) -> tuple[Floats, float]:
    """Return weights and bias for answered queries against those about something else; sets count alike."""
    rows = [row for row in rows if row.kind != UNANSWERABLE]
    groups = [(row.set, row.kind) for row in rows]
    weights = np.array([100 / groups.count(group) for group in groups])
    answered = np.array([float(row.kind == ANSWERED) for row in rows])
    return fitted(np.array([row.features for row in rows]), answered, weights, penalty=3.0)


def report(rows: Sequence[Asked]) -> Iterator[str]:
    """Yield the table and the weights."""
    least = RECIPES["balanced"].min_confidence
    columns = ("set", "withheld", "refused, elsewhere", "refused, unanswerable", "AUROC, elsewhere")
    yield f"| {' | '.join(columns)} | unanswerable | left out: withheld | refused, elsewhere |"
    yield f"|---|{'--:|' * 7}"
    every = []
    for name in dict.fromkeys(row.set for row in rows):
        weights, bias = learnt([row for row in rows if row.set != name])
        here = {kind: [row for row in rows if (row.set, row.kind) == (name, kind)] for kind in KINDS}
        sure = {kind: np.array([row.confidence for row in own]) for kind, own in here.items()}
        hidden = {kind: np.array([not row.shown for row in own]) for kind, own in here.items()}
        apart = {
            kind: np.array([1 / (1 + np.exp(-(row.features @ weights + bias))) < least for row in own])
            for kind, own in here.items()
        }
        every.append([np.mean(part[kind]) for part in (hidden, apart) for kind in (ANSWERED, ELSEWHERE)])
        cells = (
            *(percent(hidden[kind]) for kind in KINDS),
            separation(sure[ANSWERED], sure[ELSEWHERE]),
            separation(sure[ANSWERED], sure[UNANSWERABLE]),
            *(percent(apart[kind]) for kind in (ANSWERED, ELSEWHERE)),
        )
        yield f"| {name} | {' | '.join(cells)} |"
    mean = [f"{100 * value:.1f}" for value in np.mean(every, axis=0)]
    yield f"| mean | {mean[0]} | {mean[1]} | | | | {mean[2]} | {mean[3]} |"
    weights, bias = learnt(rows)
    yield f"RECALL_BIAS {bias:.3f} {dict(zip(RECALL_FEATURES, weights.round(3).tolist(), strict=True))}"
    for tried in (0.04, 0.05, 0.06, 0.07, 0.08, 0.1, 0.12):
        shares = []
        for name in dict.fromkeys(row.set for row in rows):
            for kind in (ANSWERED, ELSEWHERE):
                table = np.array([row.features for row in rows if (row.set, row.kind) == (name, kind)])
                shares.append(np.mean(1 / (1 + np.exp(-(table @ weights + bias))) < tried))
        withheld, refused = np.array(shares[::2]) * 100, np.array(shares[1::2]) * 100
        found = f"withheld {withheld.mean():.2f}, at most {withheld.max():.1f}; refused {refused.mean():.0f}"
        yield f"with these, at least {tried}: {found}"


KINDS = (ANSWERED, ELSEWHERE, UNANSWERABLE)


def write_vectors() -> None:
    """Write the vectors of the null questions as bytes."""
    embedder = open_embedder(MODEL, Resources(models=Settings().models, threads=1))
    rows = np.stack([np.ravel(embedder.embed_query(text)) for text in null.questions()])
    scaled = np.round(rows / np.abs(rows).max(axis=1, keepdims=True) * 127).astype(np.int8)
    np.save(Path(null.__file__).with_name("null_vectors.npy"), scaled)
    print(embedder.name)


def main() -> None:
    """Ask, and print Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sets", default="")
    parser.add_argument("--haystacks", type=int, default=9, help="of each set, at most")
    parser.add_argument("--questions", type=int, default=240, help="of each set, about")
    parser.add_argument("--elsewhere", type=int, default=120, help="of other sets for each set, about")
    parser.add_argument("--vectors", action="store_true")
    given = parser.parse_args()
    if given.vectors:
        write_vectors()
        return
    names = [path.name.removesuffix(".jsonl.gz") for path in sorted(given.folder.glob("*.jsonl.gz"))]
    names = [name for name in names if name not in LEFT_OUT]
    questions = {
        name: sorted({one["text"] for stack in haystacks(given.folder, name) for one in stack["questions"]})
        for name in names
    }
    rows: list[Asked] = []
    for name in given.sets.split(",") if given.sets else names:
        stacks = list(islice(haystacks(given.folder, name), given.haystacks))
        own, others = (count // len(stacks) for count in (given.questions, given.elsewhere))
        for stack in stacks:
            rows += ask(name, stack, questions, own, others)
            print(name, stack["id"], len(rows), file=sys.stderr, flush=True)
    for line in report(rows):
        print(line)


if __name__ == "__main__":
    main()
