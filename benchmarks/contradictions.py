"""Contradictions between pairs of texts, by source, and notes that remembering whole sets makes.

Run ``python -m benchmarks.contradictions PAIRS [SET …]``. PAIRS is a file of JSON lines (also ``.gz``) with
``first``, ``second``, ``contradicts``, ``source`` and ``lang``; the pairs of
``tests/dedupe/labelled_contradictions.tsv`` are counted, too. A SET is a file with a haystack a line, each
with ``memories`` of ``text`` and ``speaker``: every memory is remembered by itself, and the notes are counted
and a few of them shown, to be read.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import memorata
from memorata.dedupe.contradiction import contradiction

LABELLED = Path(__file__).parents[1] / "tests" / "dedupe" / "labelled_contradictions.tsv"
OWN = "labelled by hand"


@dataclass(frozen=True)
class Pair:
    """Two texts, whether the second contradicts the first, and where they come from."""

    first: str
    second: str
    contradicts: bool
    source: str
    speakers: tuple[str, str] = ("", "")

    @property
    def noted(self) -> bool:
        """Whether the rules see a contradiction."""
        return contradiction(self.first, self.second, speakers=self.speakers) is not None


def lines(path: Path) -> Iterator[Any]:
    """Yield the JSON of each line of a file."""
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    yield from map(json.loads, content.decode("utf-8").splitlines())


def read(path: Path) -> list[Pair]:
    """Return the pairs of a file, and those labelled by hand."""
    pairs = []
    for line in lines(path):
        source = line["source"]
        if source.startswith("own templates"):
            source = f"templates {line['lang']}"
        speakers = line.get("first_speaker") or "", line.get("second_speaker") or ""
        pairs.append(Pair(line["first"], line["second"], line["contradicts"], source, speakers))
    for labelled in LABELLED.read_text("utf-8").splitlines():
        label, first, second = labelled.split("\t")
        pairs.append(Pair(first, second, label == "yes", OWN))
    return pairs


def table(pairs: list[Pair]) -> Iterator[str]:
    """Yield a line for each source: pairs, contradictions, noted, precision, recall."""
    by_source: dict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        by_source[pair.source].append(pair)
        if pair.source != OWN:
            by_source["all"].append(pair)
    for source, members in sorted(by_source.items()):
        noted = [pair for pair in members if pair.noted]
        right, wanted = sum(pair.contradicts for pair in noted), sum(pair.contradicts for pair in members)
        precision = f"{right / len(noted):.2f}" if noted else "  – "
        counts = f"{len(members):5d} | {wanted:4d} | {len(noted):4d}"
        yield f"{source:20s} | {counts} | {precision} / {right / wanted:.2f}"


def remembered(path: Path) -> Iterator[tuple[str, str, str]]:
    """Yield older text, newer text and reason of each note that remembering a set makes."""
    for haystack in lines(path):
        with memorata.open(":memory:", embedder="lexical") as memory:
            for each in haystack["memories"]:
                if each["text"].strip():
                    memory.remember(each["text"], source={"speaker": each.get("speaker") or ""})
            for note in memory.admin.duplicates.contradictions():
                yield memory.get(note.older).content, memory.get(note.newer).content, note.reason


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.contradictions", description=__doc__)
    parser.add_argument("pairs", type=Path, help="JSON lines of pairs")
    parser.add_argument("sets", type=Path, nargs="*", help="JSON lines of haystacks")
    options = parser.parse_args()
    pairs = read(options.pairs)
    print("source | pairs | contradict | noted | precision / recall")
    print(*table(pairs), sep="\n")
    short = [pair for pair in pairs if len(pair.first) + len(pair.second) < 200]
    start = time.process_time()
    for pair in short:
        contradiction(pair.first + " ", pair.second + " ")
    spent = (time.process_time() - start) / len(short) * 1e6
    print(f"processor time of a short pair, read for the first time: {spent:.0f} µs")
    for path in options.sets:
        notes = list(remembered(path))
        print(f"\n{path.name}: {len(notes)} notes")
        for older, newer, reason in random.Random(5).sample(notes, min(30, len(notes))):
            print(f"- {older[:100]!r} | {newer[:100]!r} | {reason[:80]}")


if __name__ == "__main__":
    main()
