"""The approximate index against the scan of sign bits and the exact product: what it finds and what it takes.

Run ``python -m benchmarks.approximate 100000 300000``. Without files the vectors are those of the engine's
benchmark. ``--vectors FILE --questions FILE`` (both ``.npy``, float32 rows of length 1) measures embeddings
of real texts; where there are fewer than asked for, others are made of them: a vector, moved towards another
of its neighbourhood and by a part of the difference of two that were drawn at random, so that they spread in
the directions in which real ones do. Filters are drawn at random, or keep one side of a plane, on whose
other side the question is: what is allowed then lies where an index that reads what is near does not look.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import benchmarks.one_thread  # noqa: F401 - before numpy is loaded

# isort: split
import numpy as np
import numpy.typing as npt

from benchmarks import engine_data
from memorata.index.approximate import Approximate, extended, sample_size, trained
from memorata.index.vectors import Vectors

Floats = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]

LIMIT = 50
_QUESTIONS = 50
_TIMED = 5
"""How many of them the exact product, which takes long, is timed for."""
_BLOCK = 20_000
_NEIGHBOURHOOD = 2_000
_SHARES = (0.5, 0.3, 0.1, 0.01)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.approximate", description=__doc__)
    parser.add_argument("sizes", type=int, nargs="*", default=[100_000])
    parser.add_argument("--vectors", type=Path)
    parser.add_argument("--questions", type=Path)
    parser.add_argument("--ask", type=int, default=_QUESTIONS, help="how many questions")
    options = parser.parse_args(arguments)
    for size in options.sizes:
        rows, questions = _data(size, options.vectors, options.questions, options.ask)
        _report(rows, questions)


def _data(size: int, vectors: Path | None, questions: Path | None, ask: int) -> tuple[Floats, Floats]:
    if vectors is None or questions is None:
        rows = np.concatenate([batch.vectors for batch in engine_data.batches(size)])
        asked = engine_data.mixed(size, ask)
        return rows, np.stack([question.vector for question in asked])
    chance = np.random.default_rng(1)
    every = np.load(questions)
    return _grown(np.load(vectors), size, chance), every[chance.permutation(len(every))[:ask]]


def _grown(real: Floats, size: int, chance: np.random.Generator) -> Floats:
    if size <= len(real):
        return np.ascontiguousarray(real[chance.permutation(len(real))[:size]])
    # Neighbours on a line through the data are mostly neighbours in it, and cheap to find.
    line = np.argsort(real @ real[chance.integers(len(real))])
    grown = [real]
    for start in range(len(real), size, _BLOCK):
        count = min(_BLOCK, size - start)
        at = chance.integers(0, len(real), count)
        beside = np.clip(at + chance.integers(-_NEIGHBOURHOOD, _NEIGHBOURHOOD, count), 0, len(real) - 1)
        one, other = chance.integers(0, len(real), (2, count))
        rows = (
            real[line[at]] * np.float32(0.8)
            + real[line[beside]] * np.float32(0.2)
            + np.float32(0.35) * (real[one] - real[other])
        )
        grown.append(rows / np.linalg.norm(rows, axis=1, keepdims=True))
    return np.concatenate(grown)[chance.permutation(size)]


def _report(rows: Floats, questions: Floats) -> None:
    size = len(rows)
    scanned, indexed = Vectors(rows.shape[1], exact=False), Vectors(rows.shape[1], exact=False)
    for found in (scanned, indexed):
        found.reserve(size)
        for start in range(0, size, _BLOCK):
            block = rows[start : start + _BLOCK]
            found.add(np.arange(start, start + len(block), dtype=np.int32), block)
    began = time.process_time()
    sample = rows[np.sort(np.random.default_rng(0).permutation(size)[: sample_size(size)])]
    cells = trained(sample, size)
    chosen = time.process_time() - began
    blocks = (
        (np.arange(start, min(size, start + _BLOCK), dtype=np.int32), rows[start : start + _BLOCK])
        for start in range(0, size, _BLOCK)
    )
    cells = extended(cells, blocks, size)
    built = time.process_time() - began
    began = time.process_time()
    indexed.use_approximate(Approximate(cells))
    print(
        f"\n{size:,} vectors, {len(cells.sizes):,} cells: made in {built:.1f} s (centres {chosen:.1f} s), "
        f"{len(cells.encoded()) / 1e6:.0f} MB, loaded in {1000 * (time.process_time() - began):.0f} ms\n"
    )
    print("| filter | exact, ms | sign bits, ms | recall | approximate, ms | recall | of the index |")
    print("|---|---|---|---|---|---|---|")
    products = rows @ questions.T
    chance = np.random.default_rng(2)
    masks: list[tuple[str, Callable[[int], Mask | None]]] = [("none", lambda number: None)]
    for share in _SHARES:
        drawn = chance.random(size) < share
        masks.append((f"{share:.0%}, drawn", lambda number, drawn=drawn: drawn))  # type: ignore[misc]
    for share in _SHARES[:2]:
        for_all = [_beyond(rows, query, share, chance) for query in questions]
        masks.append((f"{share:.0%}, elsewhere", lambda number, those=for_all: those[number]))  # type: ignore[misc]
    for name, mask_of in masks:
        print(f"| {name} | {_row(rows, questions, products, scanned, indexed, mask_of)} |", flush=True)


def _beyond(rows: Floats, query: Floats, share: float, chance: np.random.Generator) -> Mask:
    """Return a share of the vectors that lies beyond a plane from where the question is."""
    one, other = rows[chance.integers(0, len(rows), 2)]
    across = one - other
    side = rows @ across
    if query @ across > np.median(side):
        side = -side
    mask: Mask = side >= np.quantile(side, 1 - share)
    return mask


def _row(
    rows: Floats,
    questions: Floats,
    products: Floats,
    scanned: Vectors,
    indexed: Vectors,
    mask_of: Callable[[int], Mask | None],
) -> str:
    times: dict[str, list[float]] = {"exact": [], "bits": [], "approximate": []}
    hits: dict[str, list[float]] = {"bits": [], "approximate": []}
    used = 0
    for number, query in enumerate(questions):
        mask = mask_of(number)
        allowed = products[:, number] if mask is None else np.where(mask, products[:, number], -2)
        truth = set(np.argpartition(-allowed, LIMIT)[:LIMIT].tolist())
        assert indexed.approximate is not None
        used += indexed.approximate.slots(query, 400, mask) is not None
        if number < _TIMED:
            began = time.process_time()
            np.argpartition(-(rows @ query if mask is None else rows[mask] @ query), LIMIT)
            times["exact"].append(time.process_time() - began)
        for name, way in (("bits", scanned), ("approximate", indexed)):
            best = np.inf
            for _ in range(2):
                began = time.process_time()
                slots, _ = way.search(query, LIMIT, mask, lambda places: rows[places])
                best = min(best, time.process_time() - began)
            times[name].append(best)
            hits[name].append(len(truth.intersection(slots.tolist())) / LIMIT)
    middle = {name: f"{1000 * float(np.median(each)):.2f}" for name, each in times.items()}
    recall = {name: f"{float(np.mean(each)):.3f}" for name, each in hits.items()}
    return (
        f"{middle['exact']} | {middle['bits']} | {recall['bits']} | {middle['approximate']} | "
        f"{recall['approximate']} | {used / len(questions):.0%}"
    )


if __name__ == "__main__":
    main()
