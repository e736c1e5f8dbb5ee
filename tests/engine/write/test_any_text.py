"""Whatever a text is, it is remembered: a rule about its meaning may find nothing, and raises nothing."""

import gzip
import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import chain, count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import memorata
from memorata.dedupe.claims import OPPOSITES, flagged
from memorata.dedupe.wording import CHANGES, NEGATIONS
from memorata.engine import Engine
from memorata.model.errors import InvalidArgument

NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)
NUMBER = count()


@pytest.fixture(scope="module")
def memory() -> Iterator[Engine]:
    with memorata.open(":memory:", embedder="lexical", clock=lambda: NOW) as engine:
        yield engine


CUES = sorted({*OPPOSITES, *NEGATIONS, *CHANGES, *flagged("mine"), *flagged("ended")})
ODD = (
    "` ``` | |---| # - * \" [[ ]] ( ) { } : ; , . ? ! … 's n't j' l' d' ’ \\ $ € & + = @ ALL SYSTEMS OK DOWN",
    "1 7% 12:30 3-4 10,000.00 ² ½ ٣ ፩ Ⅷ 第 半 三个月 星期一天 的 了 ﬁne ß İ ı 🍵 __init__ def f(): x=[1]",
    "https://example.org/a?b=c#d a@b.example /srv/x.tar.gz \u200d \u0301 \ufeff \0 \x1c \u2028 \u3000 \n",
)
WORDS = st.sampled_from(CUES) | st.sampled_from(" ".join(ODD).split(" ")) | st.text(max_size=6)
CASES = st.sampled_from([str, str.upper, str.capitalize])
CELLS = st.builds(lambda word, case: case(word), WORDS, CASES)
PROSE = st.builds(
    lambda words, gap: gap.join(words), st.lists(CELLS, max_size=12), st.sampled_from([" ", "", "\n"])
)
CODE = st.builds(
    lambda text, fence: f"{fence}{text}{fence}", PROSE, st.sampled_from(["`", "```", "```py\n", '"'])
)
TABLES = st.lists(st.lists(CELLS, min_size=1, max_size=4), min_size=1, max_size=4).map(
    lambda rows: "\n".join(f"| {' | '.join(row)} |" for row in rows)
)
TEXTS = (PROSE | CODE | TABLES).filter(str.strip)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("`ALL SYSTEMS: OK`", "`ALL SYSTEMS: DOWN`"),
        ("```\nprint(1)\n```", "```\nprint(2)\n```"),
        ("| a | b |", "| a | c |"),
        ("...", "?!"),
    ],
)
def test_what_has_no_words_to_compare_is_remembered(memory: Engine, older: str, newer: str) -> None:
    path = f"n{next(NUMBER)}"
    for text in (older, newer):
        assert memory.remember(text, namespace=path).content == text


def test_a_speaker_of_nothing_but_blanks_has_no_name(memory: Engine) -> None:
    path = f"n{next(NUMBER)}"
    for text in ("I live in Rome.", "I live in Paris now.", "Sold the car.", "My sister moved."):
        memory.remember(text, namespace=path, source={"speaker": " \x1c"})
    assert len(memory.list(namespace=path).memories) == 4


@pytest.mark.parametrize("fill", ["{}", "https://example.org/{}", "/srv/{}/x", "@{}", "#{}", "a@{}.example"])
def test_a_name_that_is_too_long_is_left_out_of_those_of_its_memory(memory: Engine, fill: str) -> None:
    for name in ("X" * 20_000, "ab_c." * 4_000 + "x", "A-1" * 7_000):
        texts = [f"Anna met Bob at {fill.format(name)} today.", "Anna met Cyd."]
        long, short = memory.remember_many(texts, namespace=f"n{next(NUMBER)}")
        assert max(map(len, long.entities)) < 10_000
        assert "Bob" in long.entities
        assert "Cyd" in short.entities


@pytest.mark.parametrize(
    ("item", "refused"),
    [
        ("", "items[1002].content must be text that is not blank"),
        ({"content": "tea", "confidence": 7}, "items[1002].confidence must be a number from 0 to 1, got 7"),
        ({"content": "tea", "tags": ["a", 5]}, "items[1002].tags[1] must be a string, got 5"),
        ({"content": "tea", "vector": [1, 0]}, "items[1002].vector must be of shape"),
        ({"content": "tea", "place": {"lat": 91, "lon": 0}}, "items[1002].lat must be a number"),
        ({"category": "tea"}, "items[1002] must be a memory, a mapping with a content, or a text"),
    ],
)
def test_an_error_in_a_batch_names_its_item(memory: Engine, item: Any, refused: str) -> None:
    path = f"n{next(NUMBER)}"
    texts = (f"note {place}" for place in range(1_002))
    with pytest.raises(InvalidArgument) as caught:
        memory.remember_many(chain(texts, [item, "tea"]), namespace=path)
    assert str(caught.value).startswith(refused)
    assert refused.startswith(caught.value.argument)
    assert len(memory.list(namespace=path, limit=2_000).memories) == 1_000


@pytest.mark.parametrize(("unknown", "known"), [("contnt", "content"), ("tgas", "tags")])
def test_an_unknown_field_in_a_batch_is_named_with_the_nearest(
    memory: Engine, unknown: str, known: str
) -> None:
    item = {unknown: "tea"} if known == "content" else {"content": "tea", unknown: ["tea"]}
    with pytest.raises(InvalidArgument) as caught:
        memory.remember_many(["tea", item], namespace=f"n{next(NUMBER)}")
    assert str(caught.value).startswith("items[1].fields must be one of ")
    assert str(caught.value).endswith(f" (did you mean {known}?), got {unknown!r}")


@pytest.mark.untraced
@given(
    st.lists(TEXTS, min_size=1, max_size=3),
    TEXTS,
    st.sampled_from(["", " ", "Anna", "李 明"]),
    st.sampled_from(["fact", "correction"]),
)
def test_any_text_is_remembered_and_found_by(
    memory: Engine, older: list[str], newer: str, speaker: str, category: str
) -> None:
    path = f"n{next(NUMBER)}"
    memory.remember_many(older, namespace=path)
    memory.remember(f"{older[0]} {newer}", namespace=path)
    memory.remember(newer, namespace=path, category=category, source={"speaker": speaker})
    memory.recall(newer, namespace=path)


def texts_in(value: object) -> Iterator[str]:
    """Yield the texts in a JSON value that are no keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from texts_in(part)


@pytest.mark.untraced
@pytest.mark.long
@pytest.mark.skipif("MEMORATA_TEXTS" not in os.environ, reason="MEMORATA_TEXTS names no folder of JSON Lines")
def test_every_text_of_given_files_is_remembered() -> None:
    files = sorted(Path(os.environ["MEMORATA_TEXTS"]).rglob("*.jsonl*"))
    assert files
    refused = []
    for file in files:
        content = file.read_bytes()
        lines = (gzip.decompress(content) if file.suffix == ".gz" else content).splitlines()
        with memorata.open(":memory:", embedder="lexical") as memory:
            for number, line in enumerate(lines):
                for text in filter(str.strip, texts_in(json.loads(line))):
                    try:
                        memory.remember(text, namespace=f"n{number}")
                    except Exception as error:
                        refused.append((file.name, text, repr(error)))
    assert refused == []
