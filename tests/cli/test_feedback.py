"""Feedback, log, replay and retune on the command line."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memorata.cli.feedback import _distinct_times

Run = Callable[..., Any]


@pytest.fixture
def asked(cli: Run, tea: str) -> str:
    """A question about tea that was asked; the id of the recall."""
    return str(cli("recall", "green tea", "--json").json["recall_id"])


def test_feedback_is_taken_and_shown(cli: Run, tea: str, asked: str) -> None:
    said = cli("feedback", asked, tea, "thumbs", "up")
    assert (said.code, said.out) == (0, f"thumbs_up\t{tea}\n")
    rated = cli("feedback", asked, tea, "rating", "4", "--json").json
    assert (rated["recall_id"], rated["memory_id"], rated["signal"], rated["rating"]) == (
        asked,
        tea,
        "rating",
        4,
    )
    assert cli("feedback", asked, tea, "rating", "5").out == f"rating 5\t{tea}\n"
    (found,) = cli("log", "--json").json["recalls"]
    assert (found["recall_id"], found["query"], found["judged"]) == (asked, "green tea", True)


@pytest.mark.parametrize(
    ("given", "code", "expected"),
    [
        (("{asked}", "{tea}", "rating", "7"), 2, "value must be a whole number from 1 to 5, got 7"),
        (("{asked}", "{tea}", "rating", "good"), 2, "a whole number from 1 to 5"),
        (("{asked}", "{tea}", "rating"), 2, "a whole number from 1 to 5"),
        (("{asked}", "{tea}", "applause"), 2, "kind must be one of"),
        (("{asked}", "nobody", "click"), 1, "no memory 'nobody'"),
        (("r9", "{tea}", "click"), 1, "no recall 'r9' in the log"),
    ],
)
def test_feedback_that_cannot_be_is_refused(
    cli: Run, tea: str, asked: str, given: tuple[str, ...], code: int, expected: str
) -> None:
    ran = cli("feedback", *(each.format(tea=tea, asked=asked) for each in given))
    assert (ran.code, ran.out) == (code, "")
    assert expected in ran.err


def test_the_log_for_people_and_pipes(cli: Run, asked: str) -> None:
    line = cli("log").out
    assert line.startswith(asked)
    assert line.endswith("green tea\n")
    assert "query" in cli("log", terminal=True).out
    assert cli("log", "--since", "2100-01-01", "--json").json == {"recalls": []}
    assert cli("log", "--limit", "0").out == ""
    later = cli("log", "--since", "2100-01-01", terminal=True)
    assert (later.out, "No recall is from that time." in later.err) == ("", True)
    other = cli("log", "--namespace", "other")
    assert (other.code, other.out, other.err) == (0, "", "No recall was logged yet.\n")


def test_people_see_and_may_type_a_piece_of_the_id_of_a_recall(cli: Run, tea: str, asked: str) -> None:
    piece = asked[-12:]
    assert asked not in cli("log", terminal=True).out
    assert piece in cli("log", terminal=True).out
    assert asked in cli("log").out
    assert cli("feedback", piece, tea, "click", "--json").json["recall_id"] == asked
    assert cli("feedback", "0000-none", tea, "click").code == 1


def test_a_piece_that_several_recalls_have_is_refused(cli: Run, tea: str, asked: str) -> None:
    cli("recall", "Bob")
    wrong = cli("feedback", asked[:4], tea, "click")
    assert wrong.code == 2
    assert "RECALL must be a part of one id only" in wrong.err


def test_a_switched_off_log_logs_nothing(cli: Run, tea: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORATA_LOG_RECALLS", "false")
    assert cli("recall", "green tea", "--json").json["recall_id"] == ""
    assert cli("log", "--json").json == {"recalls": []}
    monkeypatch.delenv("MEMORATA_LOG_RECALLS")
    monkeypatch.setenv("MEMORATA_LOG_QUERIES", "false")
    cli("recall", "green tea")
    assert [each["query"] for each in cli("log", "--json").json["recalls"]] == [None]
    assert "(query not kept)" in cli("log").out


def test_a_blank_question_was_kept_all_the_same(cli: Run, tea: str) -> None:
    cli("recall", "")
    assert "(query not kept)" not in cli("log").out


def test_a_replay_tells_gains_and_moves(cli: Run, tea: str, asked: str) -> None:
    cli("feedback", asked, tea, "relevant")
    found = cli("replay", "--set", "vector_weight=0.1", "--json").json
    assert (found["recalls"], found["judged"], found["faithful"]) == (1, 1, 1)
    assert found["gains"]["ndcg@10"]["mean"] == 0
    assert found["recipe"]["vector_weight"] == 0.1
    shown = cli("replay", "--recipe", "memini", terminal=True)
    assert "ndcg@10" in shown.out
    assert "Kept as logged" in shown.err


def test_a_replay_refuses_what_needs_a_search(cli: Run, asked: str) -> None:
    ran = cli("replay", "--set", "k1=2")
    assert ran.code == 2
    assert "one that needs no search" in ran.err
    assert cli("replay", "--recipe", "balancd").code == 2


def test_a_replay_of_nothing_says_so(cli: Run, tea: str) -> None:
    ran = cli("replay")
    assert ran.code == 2
    assert "0 logged recalls are too few" in ran.err


def test_moves_are_shown(cli: Run, home: Path) -> None:
    cli("remember", "Oil the red pump", "--speaker", "assistant", "--id", "answer")
    cli("remember", "Somebody should look at the red pump again", "--id", "note")
    cli("recall", "what about the red pump?")
    ran = cli("replay", "--set", "machine_weight=1")
    assert "answer\t2 → 1" in ran.out
    assert "1 of 1 recall would show other hits" in ran.err
    assert "there is no feedback yet" in ran.err


def test_retune_decides_records_and_waits(cli: Run, tea: str, asked: str, home: Path) -> None:
    cli("feedback", asked, tea, "thumbs", "up")
    bounds = ("--bounds", "0.1,0.9")
    tried = cli("retune", "--dry-run", *bounds, "--json").json
    assert tried["decision"]["reason"] == "1 events are too few, 19 more are needed"
    assert (tried["dry_run"], tried["recipe"], tried["record"]) == (True, "", [])
    done = cli("retune", *bounds)
    assert done.out.startswith("kept\tsimilarity 0.1800\t1 events are too few")
    assert cli("retune", *bounds).out.startswith("not yet: the next run is due")
    assert len(cli("retune", "--force", *bounds, "--json").json["record"]) == 2
    pytest.importorskip("matplotlib")
    cli("retune", "--force", *bounds, "--plot", "drawn")
    drawn = (home / "drawn" / "drift.svg").read_text("utf-8")
    # Three looks in one day, told apart by the time.
    assert len(re.findall(r">\s*\d\d \w{3} \d{4} [\d:.]+\s*<", drawn)) == 3


def test_a_record_of_nothing_is_not_drawn(cli: Run, tea: str, home: Path) -> None:
    ran = cli("retune", "--dry-run", "--bounds", "0.1,0.9", "--plot", "drawn")
    assert (ran.code, "no decision is on record yet" in ran.err) == (0, True)
    assert not (home / "drawn").exists()


def test_retune_says_which_bounds_it_needs(cli: Run, tea: str) -> None:
    ran = cli("retune", "--dry-run")
    assert ran.code == 2
    assert "give the bounds of this embedder" in ran.err
    assert "two numbers such as 0.3,0.99" in cli("retune", "--bounds", "low").err


def test_times_are_as_short_as_they_differ() -> None:
    first = datetime(2026, 5, 7, tzinfo=UTC)
    assert _distinct_times([first, first.replace(day=14)]) == ["07 May", "14 May"]
    assert _distinct_times([first, first.replace(year=2027)]) == ["07 May 2026", "07 May 2027"]
