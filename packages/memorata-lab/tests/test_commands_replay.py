"""Replay and retune on the command line."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memorata_lab.commands.replay import _distinct_times

Run = Callable[..., Any]


@pytest.fixture
def asked(cli: Run, tea: str) -> str:
    """A question about tea that was asked; the id of the recall."""
    return str(cli("recall", "green tea", "--json").json["recall_id"])


def test_a_replay_tells_gains_and_moves(cli: Run, tea: str, asked: str) -> None:
    cli("feedback", "add", asked, tea, "relevant")
    found = cli("lab", "replay", "--set", "vector_weight=0.1", "--json").json
    assert (found["recalls"], found["judged"], found["faithful"]) == (1, 1, 1)
    assert found["gains"]["ndcg@10"]["mean"] == 0
    assert found["recipe"]["vector_weight"] == 0.1
    shown = cli("lab", "replay", "--recipe", "memini", terminal=True)
    assert "ndcg@10" in shown.out
    assert "Kept as logged" in shown.err


def test_a_replay_refuses_what_needs_a_search(cli: Run, asked: str) -> None:
    ran = cli("lab", "replay", "--set", "k1=2")
    assert ran.code == 2
    assert "one that needs no search" in ran.err
    assert cli("lab", "replay", "--recipe", "balancd").code == 2


def test_a_replay_of_nothing_says_so(cli: Run, tea: str) -> None:
    ran = cli("lab", "replay")
    assert ran.code == 2
    assert "0 logged recalls are too few" in ran.err


def test_moves_are_shown(cli: Run, home: Path) -> None:
    cli("remember", "Oil the red pump", "--speaker", "assistant", "--id", "answer")
    cli("remember", "Somebody should look at the red pump again", "--id", "note")
    cli("recall", "what about the red pump?")
    ran = cli("lab", "replay", "--set", "machine_weight=1")
    assert "answer\t2 → 1" in ran.out
    assert "1 of 1 recall would show other hits" in ran.err
    assert "there is no feedback yet" in ran.err


def test_retune_decides_records_and_waits(cli: Run, tea: str, asked: str, home: Path) -> None:
    cli("feedback", "add", asked, tea, "thumbs", "up")
    bounds = ("--bounds", "0.1,0.9")
    tried = cli("lab", "retune", "--dry-run", *bounds, "--json").json
    assert tried["decision"]["reason"] == "1 events are too few, 19 more are needed"
    assert (tried["dry_run"], tried["recipe"], tried["record"]) == (True, "", [])
    done = cli("lab", "retune", *bounds)
    assert done.out.startswith("kept\tsimilarity 0.1800\t1 events are too few")
    assert cli("lab", "retune", *bounds).out.startswith("not yet: the next run is due")
    assert len(cli("lab", "retune", "--force", *bounds, "--json").json["record"]) == 2
    pytest.importorskip("matplotlib")
    cli("lab", "retune", "--force", *bounds, "--plot", "drawn")
    drawn = (home / "drawn" / "drift.svg").read_text("utf-8")
    # Three looks in one day, told apart by the time.
    assert len(re.findall(r">\s*\d\d \w{3} \d{4} [\d:.]+\s*<", drawn)) == 3


def test_a_record_of_nothing_is_not_drawn(cli: Run, tea: str, home: Path) -> None:
    ran = cli("lab", "retune", "--dry-run", "--bounds", "0.1,0.9", "--plot", "drawn")
    assert (ran.code, "no decision is on record yet" in ran.err) == (0, True)
    assert not (home / "drawn").exists()


def test_retune_has_bounds_of_the_embedder_or_says_which_it_needs(cli: Run, tea: str) -> None:
    assert "0 events are too few" in cli("lab", "retune", "--dry-run").out
    ran = cli("lab", "retune", "--dry-run", "--bounds", "0.3,0.99")
    assert ran.code == 2
    assert "give the bounds of this embedder" in ran.err
    assert "two numbers such as 0.3,0.99" in cli("lab", "retune", "--bounds", "low").err


def test_times_are_as_short_as_they_differ() -> None:
    first = datetime(2026, 5, 7, tzinfo=UTC)
    assert _distinct_times([first, first.replace(day=14)]) == ["07 May", "14 May"]
    assert _distinct_times([first, first.replace(year=2027)]) == ["07 May 2026", "07 May 2027"]
