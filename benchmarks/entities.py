"""How many texts the rule-based reader of names reads in a minute, on one core.

Run ``python -m benchmarks.entities``. The texts are the turns of the conversations in a gzipped JSON file
(LoCoMo's dev split by default), read with no known names and with some. It writes nothing.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from memorata.model.entity import Entity
from memorata.text import Gazetteer, RuleExtractor

TURNS = Path(__file__).parents[1] / "../shared/data/locomo_dev.json.gz"
_ROUNDS = 3
_KNOWN = 2_000


def main(arguments: list[str] | None = None) -> int:
    """Read all texts a few times, and say how long the best time took."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.entities", description=__doc__)
    parser.add_argument("--turns", type=Path, default=TURNS, metavar="FILE", help="the conversations to read")
    options = parser.parse_args(arguments)
    with gzip.open(options.turns, "rt", encoding="utf-8") as file:
        texts = list(turns(json.load(file)))
    length = sum(map(len, texts)) / len(texts)
    print(f"{len(texts):,} turns of {length:.0f} characters on average")
    reader = RuleExtractor()
    found = {mention.text for text in texts for mention in reader.mentions(text)}
    known = Gazetteer([Entity(name) for name in sorted(found)[:_KNOWN]])
    for what, names in (("nobody", None), (f"{len(known):,} names", known)):
        seconds = min(_timed(reader, texts, names) for _ in range(_ROUNDS))
        print(f"knowing {what}: {len(texts) / seconds * 60:,.0f} texts a minute ({seconds:.2f} s for all)")
    return 0


def turns(value: object) -> Iterator[str]:
    """Yield every string under a key called ``text``, however deep."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key == "text" and isinstance(item, str):
                yield item
            else:
                yield from turns(item)
    elif isinstance(value, list):
        for item in value:
            yield from turns(item)


def _timed(reader: RuleExtractor, texts: list[str], known: Gazetteer | None) -> float:
    start = time.process_time()
    reader.extract(texts, known)
    return time.process_time() - start


if __name__ == "__main__":
    sys.exit(main())
