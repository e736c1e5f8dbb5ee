"""What learning found, as JSON that JSON can hold, and as rows for people and pipes."""

import pytest

from memorata.cli.learning_output import table, verdict_json
from memorata.cli.session import Given, Session
from memorata.evaluate.significance import Difference
from memorata.learn.validation import FoldResult, Verdict


def test_a_verdict_holds_nothing_that_json_cannot() -> None:
    gain = Difference(0.1, float("-inf"), float("inf"), float("nan"))
    verdict = Verdict(False, "why", {"a": 1}, gain, 0.2, 0.5, (FoldResult({"a": 1}, 0.1, 0.2, 8),))
    found = verdict_json(verdict)
    assert found["gain"] == {"mean": 0.1, "low": None, "high": None, "p": None}
    assert found["folds"][0]["questions"] == 8


def test_a_pipe_gets_tabs(capsys: object) -> None:
    table(Session(Given()), ("one", "two"), [("a", "b\nc")])
    assert capsys.readouterr().out == "a\tb c\n"  # type: ignore[attr-defined]


def test_short_things_are_not_broken_on_a_narrow_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "30")
    rows = [("562761b3fc13", "balanced", "where is Mira living by now?")]
    table(Session(Given()), ("recall", "recipe", "question"), rows, whole=1)
    assert "562761b3fc13" in capsys.readouterr().out
    table(Session(Given()), ("recall", "recipe", "question"), rows)
    assert "562761b3fc13" not in capsys.readouterr().out
