"""Duplicates at scale: 100,000 texts with planted repeats, and the false merges counted.

Run ``python -m benchmarks.dedupe``. The texts are sentences of made-up words, names and numbers. A tenth
of them repeat another in another dress (case, punctuation, articles, fillers), and as many repeat another
with a difference that matters (a number, who does it to whom, a negation). Vectors are given: the sum of a
random vector for each word, light for articles, scaled to one, with a little noise; so a repeat and a text
with another number are both above the threshold. What is reported:

* the time from texts and vectors to groups, and how many of the planted repeats are in one group with what
  they repeat; a busy machine adds to the seconds that pass, and not to those of the processor;
* of all pairs at or above the threshold, by the exact product on a sample, how many are candidates;
* false merges: memories that would be superseded by one that makes another statement;
* the time of candidates by datasketch's MinHash LSH and by the blocked product, on a part of the texts;
* what looking for repeats adds to each memory of a batch.
"""

from __future__ import annotations

import argparse
import random
import time
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt

import memorata
from memorata.dedupe.fingerprint import fingerprint, normalised
from memorata.dedupe.wording import statement_key
from memorata.engine.duplicate_search import DuplicateSearch
from memorata.index.codes import Floats
from memorata.model.memory import Memory
from memorata_lab.duplicates import RensaSigner, ShingleSigner, Signer, near_pairs, similar_pairs

NOW = datetime(2026, 5, 7, tzinfo=UTC)
THRESHOLD = 0.92
DIMENSION = 256

_LETTERS = "aeiouaeioubcdfghklmnprstvw"
_FILLERS = ("really", "very", "just", "indeed", "actually")


def _words(count: int, dice: random.Random) -> list[str]:
    return ["".join(dice.choices(_LETTERS, k=dice.randrange(3, 10))) for _ in range(count)]


_WORDS = _words(8_000, random.Random(7))
_NAMES = [word.capitalize() for word in _words(1_000, random.Random(8))]


@dataclass(frozen=True, slots=True)
class Planted:
    """Texts, and for each the number of the statement it makes."""

    texts: list[str]
    statement: npt.NDArray[np.intp]


def planted(count: int, seed: int) -> Planted:
    """Return `count` texts, a tenth of which repeat others in another dress."""
    dice = random.Random(seed)
    texts: list[str] = []
    statements: list[int] = []
    seen: set[str] = set()
    while len(texts) < count * 0.8:
        text = _sentence(dice)
        if text not in seen:
            seen.add(text)
            texts.append(text)
            statements.append(len(texts))
    originals = len(texts)
    for place in dice.sample(range(originals), int(count * 0.1)):
        texts.append(_dressed(texts[place], dice))
        statements.append(statements[place])
    while len(texts) < count:
        text = _changed(texts[dice.randrange(originals)], dice)
        if text not in seen:
            seen.add(text)
            texts.append(text)
            statements.append(len(texts))
    order = dice.sample(range(count), count)
    return Planted([texts[place] for place in order], np.array([statements[place] for place in order]))


def vectors_of(texts: list[str], seed: int) -> Floats:
    """Return hashed words and shingles of each text as a unit vector, with a little noise."""
    noise = np.random.default_rng(seed)
    rows = np.empty((len(texts), DIMENSION), np.float32)
    known: dict[str, npt.NDArray[np.float32]] = {}
    for place, text in enumerate(texts):
        plain = normalised(text)
        parts = plain.split()
        total = np.zeros(DIMENSION, np.float32)
        for part in parts:
            if part not in known:
                own = np.random.default_rng(int(fingerprint(part)[:8], 16))
                known[part] = own.standard_normal(DIMENSION).astype(np.float32)
            total += known[part] * (0.2 if part in {"the", "a", *_FILLERS} else 1.0)
        rows[place] = total / np.linalg.norm(total)
    rows += noise.standard_normal(rows.shape).astype(np.float32) * (0.05 / np.sqrt(DIMENSION))
    return np.asarray(rows / np.linalg.norm(rows, axis=1)[:, None], np.float32)


def _sentence(dice: random.Random) -> str:
    one, other = dice.sample(_NAMES, 2)
    middle = " ".join(dice.choices(_WORDS, k=dice.randrange(5, 12)))
    verb, thing, number = dice.choice(_WORDS), dice.choice(_WORDS), dice.randrange(900)
    return f"{one} {verb} {other} at the {middle} and the {thing} {number}."


def _dressed(text: str, dice: random.Random) -> str:
    match dice.randrange(4):
        case 0:
            return text.upper()
        case 1:
            return "  ".join(text.rstrip(".").split()) + "!"
        case 2:
            return text.replace(" the ", " ", dice.randrange(1, 3))
        case _:
            name, rest = text.split(" ", 1)
            return f"{name} {dice.choice(_FILLERS)} {rest}"


def _changed(text: str, dice: random.Random) -> str:
    match dice.randrange(3):
        case 0:
            words = text.rstrip(".").split(" ")
            return " ".join([*words[:-1], f"{int(words[-1]) + dice.randrange(1, 9)}."])
        case 1:
            one, verb, other, rest = text.split(" ", 3)
            return f"{other} {verb} {one} {rest}"
        case _:
            one, verb, rest = text.split(" ", 2)
            return f"{one} never {verb} {rest}"


def memories_of(texts: list[str]) -> list[Memory]:
    return [
        Memory(id=f"m{place}", content=text, created_at=NOW, fingerprint=fingerprint(text))
        for place, text in enumerate(texts)
    ]


def measured(count: int, seed: int = 1) -> None:
    """Find the duplicates among `count` texts, and say how well."""
    plan = planted(count, seed)
    rows = vectors_of(plan.texts, seed)
    memories = memories_of(plan.texts)
    search = DuplicateSearch(THRESHOLD)
    vectors: list[Floats | None] = [row[None] for row in rows]
    start, busy = time.perf_counter(), time.process_time()
    found = search.run(memories, vectors)
    seconds, processor = time.perf_counter() - start, time.process_time() - busy
    together: dict[str, str] = {}
    false = 0
    statement = {memory.id: int(number) for memory, number in zip(memories, plan.statement, strict=True)}
    for group in found.groups:
        false += sum(statement[each.id] != statement[group.keep.id] for each in group.repeats)
        together |= {each.id: group.keep.id for each in (group.keep, *group.repeats)}
    wanted = _pairs(plan.statement)
    hit = sum(
        together.get(memories[a].id, "a") == together.get(memories[b].id, "b") for a, b in wanted.tolist()
    )
    print(
        f"{count:>7,} texts: {seconds:.1f} s "
        f"({processor:.1f} s of processor), {found.candidates:,} candidates, "
        f"planted {hit:,} of {len(wanted):,} found ({hit / len(wanted):.4f}), false merges {false}"
    )


def candidate_recall(count: int, signer: Signer, seed: int = 2) -> None:
    """Compare the candidates of both hashes with all pairs at or above the threshold."""
    plan = planted(count, seed)
    rows = vectors_of(plan.texts, seed)
    exact = near_pairs(rows, THRESHOLD)
    found = similar_pairs(plan.texts, rows, threshold=THRESHOLD, method="lsh", signer=signer)
    have = {tuple(pair) for pair in found.tolist()}
    wanted = [tuple(pair) for pair in exact.positions().tolist()]
    edge = [pair for pair, cosine in zip(wanted, exact.cosine, strict=True) if cosine < THRESHOLD + 0.01]
    print(
        f"{count:>7,} texts: {len(wanted):,} pairs at a cosine of {THRESHOLD} or more, candidates have "
        f"{np.mean([pair in have for pair in wanted]):.4f} of them; of the {len(edge):,} within 0.01 of it "
        f"{np.mean([pair in have for pair in edge]) if edge else 1.0:.4f}"
    )


def rivals(count: int, seed: int = 3) -> None:
    """Time candidates of the same texts by others, in the same run."""
    from datasketch import MinHash, MinHashLSH

    plan = planted(count, seed)
    rows = vectors_of(plan.texts, seed)
    keys = [normalised(text) for text in plan.texts]

    def by_datasketch() -> None:
        index = MinHashLSH(threshold=0.6, num_perm=128)
        made = []
        for place, key in enumerate(keys):
            sketch = MinHash(num_perm=128)
            sketch.update_batch([key[start : start + 3].encode() for start in range(max(1, len(key) - 2))])
            index.insert(place, sketch)
            made.append(sketch)
        for sketch in made:
            index.query(sketch)

    timed = {
        "letters and vectors, rensa": lambda: similar_pairs(
            plan.texts, rows, method="lsh", signer=RensaSigner()
        ),
        "letters and vectors, numpy": lambda: similar_pairs(
            plan.texts, rows, method="lsh", signer=ShingleSigner()
        ),
        "letters only, datasketch": by_datasketch,
        "blocked product": lambda: near_pairs(rows, THRESHOLD),
    }
    best = {
        name: min(_seconds(run) for _ in range(1 if "data" in name else 2)) for name, run in timed.items()
    }
    ours = best["letters and vectors, rensa"]
    for name, seconds in best.items():
        print(f"{count:>7,} texts, {name}: {seconds:.2f} s of processor, {seconds / ours:.1f} of ours")


def exact_pass(count: int, seed: int = 4) -> None:
    """Time the look-up of a thousand new statements in a store of `count` memories."""
    with memorata.open(":memory:", embedder=None, config={"extractor": None, "read_dates": False}) as memory:
        memory.remember_many(planted(count, seed).texts, duplicates="off")
        fresh = [statement_key(text) for text in planted(1_000, seed + 1).texts]
        best = min(_seconds(lambda: memory.store.same("default", fresh, NOW)) for _ in range(5))
    print(f"{count:>7,} memories: looking for repeats adds {best * 1e3:.1f} µs to each of 1,000")


def _pairs(statement: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    order = np.argsort(statement, kind="stable")
    same = statement[order][1:] == statement[order][:-1]
    return np.stack([order[:-1][same], order[1:][same]], axis=1)


def _seconds(run: object) -> float:
    start = time.process_time()
    run()  # type: ignore[operator]
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--texts", type=int, default=100_000)
    parser.add_argument("--sample", type=int, default=10_000)
    parser.add_argument("--rivals", type=int, default=5_000)
    given = parser.parse_args()
    measured(given.texts)
    candidate_recall(given.sample, ShingleSigner())
    rivals(given.rivals)
    exact_pass(given.sample)


if __name__ == "__main__":
    main()
