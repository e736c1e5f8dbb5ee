"""Feedback and the log of recalls on the command line."""

from collections.abc import Callable
from typing import Any

import pytest

Run = Callable[..., Any]


@pytest.fixture
def asked(cli: Run, tea: str) -> str:
    """A question about tea that was asked; the id of the recall."""
    return str(cli("recall", "green tea", "--json").json["recall_id"])


def test_feedback_is_taken_and_shown(cli: Run, tea: str, asked: str) -> None:
    said = cli("feedback", "add", asked, tea, "thumbs", "up")
    assert (said.code, said.out) == (0, f"thumbs_up\t{tea}\n")
    rated = cli("feedback", "add", asked, tea, "rating", "4", "--json").json
    assert (rated["recall_id"], rated["memory_id"], rated["signal"], rated["rating"]) == (
        asked,
        tea,
        "rating",
        4,
    )
    assert cli("feedback", "add", asked, tea, "rating", "5").out == f"rating 5\t{tea}\n"
    (found,) = cli("feedback", "log", "--json").json["recalls"]
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
    ran = cli("feedback", "add", *(each.format(tea=tea, asked=asked) for each in given))
    assert (ran.code, ran.out) == (code, "")
    assert expected in ran.err


def test_the_log_for_people_and_pipes(cli: Run, asked: str) -> None:
    line = cli("feedback", "log").out
    assert line.startswith(asked)
    assert line.endswith("green tea\n")
    assert "query" in cli("feedback", "log", terminal=True).out
    assert cli("feedback", "log", "--since", "2100-01-01", "--json").json == {"recalls": []}
    assert cli("feedback", "log", "--limit", "0").out == ""
    later = cli("feedback", "log", "--since", "2100-01-01", terminal=True)
    assert (later.out, "No recall is from that time." in later.err) == ("", True)
    other = cli("feedback", "log", "--namespace", "other")
    assert (other.code, other.out, other.err) == (0, "", "No recall was logged yet.\n")


def test_people_see_and_may_type_a_piece_of_the_id_of_a_recall(cli: Run, tea: str, asked: str) -> None:
    piece = asked[-12:]
    assert asked not in cli("feedback", "log", terminal=True).out
    assert piece in cli("feedback", "log", terminal=True).out
    assert asked in cli("feedback", "log").out
    assert cli("feedback", "add", piece, tea, "click", "--json").json["recall_id"] == asked
    assert cli("feedback", "add", "0000-none", tea, "click").code == 1


def test_a_piece_that_several_recalls_have_is_refused(cli: Run, tea: str, asked: str) -> None:
    cli("recall", "Bob")
    wrong = cli("feedback", "add", asked[:4], tea, "click")
    assert wrong.code == 2
    assert "RECALL must be a part of one id only" in wrong.err


def test_a_switched_off_log_logs_nothing(cli: Run, tea: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORATA_LOG_RECALLS", "false")
    assert cli("recall", "green tea", "--json").json["recall_id"] == ""
    assert cli("feedback", "log", "--json").json == {"recalls": []}
    monkeypatch.delenv("MEMORATA_LOG_RECALLS")
    monkeypatch.setenv("MEMORATA_LOG_QUERIES", "false")
    cli("recall", "green tea")
    assert [each["query"] for each in cli("feedback", "log", "--json").json["recalls"]] == [None]
    assert "(query not kept)" in cli("feedback", "log").out


def test_a_blank_question_was_kept_all_the_same(cli: Run, tea: str) -> None:
    cli("recall", "")
    assert "(query not kept)" not in cli("feedback", "log").out
