"""The quick measurement: what it prints, and that it leaves nothing behind."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from memorata.cli.bench import sentences

Run = Callable[..., Any]


def test_it_measures_in_a_database_of_its_own(cli: Run, home: Path) -> None:
    data = cli("bench", "--memories", "60", "--queries", "5", "--json").json
    assert (data["embedder"], data["memories"], data["queries"]) == ("lexical-512", 60, 5)
    assert data["writes_per_second"] > 0
    assert data["batched_writes_per_second"] > 0
    assert 0 < data["search_ms"]["p50"] <= data["recall_ms"]["p50"] <= data["recall_ms"]["p95"]
    assert not list(home.iterdir())


def test_it_says_what_it_is_worth(cli: Run) -> None:
    shown = cli("bench", "--memories", "3", "--queries", "2")
    assert "remember, in batches\tmeasured with more than 50 memories" in shown.lines
    assert "an impression, not a benchmark" in shown.err


def test_numbers_that_make_no_sense_are_refused(cli: Run) -> None:
    assert cli("bench", "--memories", "0").code == 2
    assert cli("bench", "--queries", "1").code == 2


def test_the_sentences_are_the_same_every_time_and_all_different() -> None:
    assert list(sentences(200)) == list(sentences(200))
    assert len(set(sentences(200))) == 200


def test_the_same_sentences_every_time() -> None:
    assert list(sentences(1)) == ["Fatou lost mint soup in the attic, number 0"]
