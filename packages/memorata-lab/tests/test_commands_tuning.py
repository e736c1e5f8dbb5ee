"""Tune on the command line: what wins is saved, what does not is refused with the numbers."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memorata.engine import open as open_engine
from memorata.engine.runtime import HeldLease
from memorata.model.errors import InvalidArgument
from memorata.model.memory import Source
from memorata_lab.commands.tuning import _grid

Run = Callable[..., Any]
TOPICS = [f"{colour} {thing}" for colour in ("red", "blue", "green", "black", "white")
          for thing in ("pump", "valve", "motor", "fan", "belt")]  # fmt: skip
OVER = ("--over", "machine_weight=0.6:1:0.1")


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database whose people want what the assistant said, and have said so."""
    path = tmp_path_factory.mktemp("judged") / "memories.db"
    with open_engine(path, embedder="lexical", config={"durable": False}) as memory:
        for number, topic in enumerate(TOPICS):
            memory.remember(f"Somebody should look at the {topic} again", id=f"note{number}")
            memory.remember(f"Oil the {topic}", id=f"answer{number}", source=Source(speaker="assistant"))
        for number, topic in enumerate(TOPICS):
            found = memory.recall(f"what about the {topic}?")
            memory.admin.feedback.record(found.id, f"answer{number}", "thumbs", "up")
            memory.admin.feedback.record(found.id, f"note{number}", "thumbs", "down")
    return path


@pytest.fixture
def taught(home: Path, judged: Path) -> Path:
    """A folder with a copy of that database."""
    shutil.copy(judged, home / "memories.db")
    return home


def test_weights_that_win_are_saved_and_used(cli: Run, taught: Path) -> None:
    tried = cli("lab", "tune", "weights", *OVER, "--dry-run", "--json").json
    assert (tried["accepted"], tried["setting"], tried["saved"]) == (True, {"machine_weight": 1.0}, None)
    assert "tuned" not in cli("recipes").out
    done = cli("lab", "tune", "weights", *OVER, "--save", "answers", "--use")
    assert done.code == 0
    assert done.out.startswith("accepted\tmachine_weight=1\tbetter: +0.3691 on held-out questions")
    assert cli("recall", "the red pump", "--json").json["hits"][0]["id"] == "answer0"
    listed = cli("recipes", "--json").json["saved"]
    assert [(each["name"], each["versions"], each["in_use"]) for each in listed] == [("answers", 1, True)]
    assert cli("recipes", "answers", "--json").json["evidence"]["questions"] == 25
    assert "in use; version 1: better" in cli("recipes").out
    assert cli("recipes", "rollback").out == "in use: balanced\n"
    assert cli("recall", "the red pump", "--recipe", "answers", "--json").json["hits"][0]["id"] == "answer0"
    assert cli("recipes", "rollback", "answers", "--json").json["in_use"] == "balanced"
    assert cli("recall", "the red pump", "--recipe", "answers").code == 2


def test_a_long_search_keeps_its_lease(cli: Run, taught: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    renewed = []
    monkeypatch.setattr(HeldLease, "renew", lambda held: renewed.append(held))
    cli("lab", "tune", "weights", *OVER, "--dry-run")
    assert renewed == []
    cli("lab", "tune", "weights", *OVER)
    assert len(renewed) >= len(TOPICS)


def test_what_does_not_win_is_refused(cli: Run, taught: Path) -> None:
    ran = cli("lab", "tune", "weights", "--over", "machine_weight=0.6,0.7", terminal=True)
    assert ran.code == 1
    assert "refused" in ran.out
    assert "no change: nothing that was tried is better" in ran.out
    assert cli("recipes", "--json").json["saved"] == []


def test_five_rows_are_too_few(cli: Run, tea: str) -> None:
    asked = cli("recall", "green tea", "--json").json["recall_id"]
    cli("feedback", "add", asked, tea, "click")
    ran = cli("lab", "tune", "weights")
    assert ran.code == 2
    assert "1 questions with a relevant result are too few to learn from: at least 20" in ran.err
    assert "labelled pairs are too few" in cli("lab", "tune", "thresholds").err


def test_a_labelled_file_teaches_too(cli: Run, taught: Path) -> None:
    lines = []
    for number, topic in enumerate(TOPICS):
        lines.append({"query": {"id": f"q{number}", "text": f"what about the {topic}?"}})
        lines.append({"qrel": {"query": f"q{number}", "document": f"answer{number}"}})
    (taught / "labels.jsonl").write_text("\n".join(map(json.dumps, lines)))
    found = cli("lab", "tune", "weights", *OVER, "--labels", "labels.jsonl", "--labels-only", "--json").json
    assert found["accepted"]
    assert len(cli("feedback", "log", "--limit", "99", "--json").json["recalls"]) == 25
    both = cli("lab", "tune", "recipe", "--trials", "0", "--labels", "labels.jsonl", "--dry-run", "--json")
    assert both.json["base"] == "balanced"
    assert cli("lab", "tune", "weights", "--labels-only").code == 2
    assert "no such file" in cli("lab", "tune", "weights", "--labels", "none.jsonl").err


def test_a_search_of_many_parameters(cli: Run, taught: Path) -> None:
    pytest.importorskip("optuna")
    ran = cli("lab", "tune", "recipe", "-p", "machine_weight", "--trials", "6", "--folds", "2", "--json")
    assert set(ran.json["setting"]) == {"machine_weight"}
    assert (ran.code == 0) == ran.json["accepted"] == (ran.json["saved"] == "tuned")
    ran = cli("lab", "tune", "recipe", "-p", "k1", "--trials", "3")
    assert ran.code == 2
    assert "need no search" in ran.err


def test_thresholds_and_the_curve_of_probabilities(cli: Run, taught: Path) -> None:
    pytest.importorskip("matplotlib")
    ran = cli("lab", "tune", "thresholds", "--method", "f1", "--plot", "drawn", "--json")
    assert ran.code in (0, 1)
    found = ran.json
    assert set(found["setting"]) == {"least_similarity", "least_confidence"}
    assert found["calibration"]["pairs"] == 50
    assert {path.name for path in (taught / "drawn").iterdir()} == {
        "thresholds.svg", "calibration.svg", "grid.svg",
    }  # fmt: skip
    warned = cli("lab", "tune", "thresholds", "--target", "0.999")
    assert warned.code in (0, 1)
    assert cli("lab", "tune", "thresholds", "--method", "guess").code == 2


def test_a_heat_map_of_two_parameters(cli: Run, taught: Path) -> None:
    pytest.importorskip("matplotlib")
    cli("lab", "tune", "weights", *OVER, "--over", "session_weight=0,0.2", "--plot", "drawn", "--dry-run")
    assert "machine_weight" in (taught / "drawn" / "weights.svg").read_text("utf-8")
    assert "exactly two parameters" in cli("lab", "tune", "weights", *OVER, "--plot", "drawn").err


@pytest.mark.untraced
def test_what_stays_is_drawn_with_its_own_value(cli: Run, taught: Path) -> None:
    pytest.importorskip("matplotlib")
    cli("lab", "tune", "weights", *OVER, "--over", "quality_weight=0.1,0.2", "--use")
    # What is in use now is no point of this grid, whose every point is worse.
    over = ("--over", "machine_weight=0.5,0.6", "--over", "quality_weight=0.3,0.4")
    refused = cli("lab", "tune", "weights", *over, "--plot", "drawn", "--json").json
    assert (refused["accepted"], refused["setting"]["machine_weight"]) == (False, 1.0)
    said = (taught / "drawn" / "weights.svg").read_text("utf-8")
    stays = f"quality_weight {refused['setting']['quality_weight']:g}"
    assert f"chosen: machine_weight 1, {stays} (ndcg@10 1.000)" in said


@pytest.mark.untraced
def test_words_have_no_place_on_a_heat_map(cli: Run, taught: Path) -> None:
    words = ("--over", "fusion=relative,rrf", "--over", "deduplicate=yes,no")
    for over in (words, (*OVER, *words[:2]), OVER):
        done = cli("lab", "tune", "weights", *over, "--plot", "drawn", "--dry-run")
        assert done.out.split("\t")[0] in ("accepted", "refused")
        assert "needs exactly two parameters that are numbers; nothing was drawn" in done.err


def test_namespaces_say_what_they_lack(cli: Run, taught: Path) -> None:
    cli("remember", "tea", "-n", "acme/quiet")
    found = cli("lab", "tune", "namespaces", "--all-namespaces", "--dry-run", "--json").json["namespaces"]
    assert set(found) == {"default", "acme/quiet"}
    assert not found["acme/quiet"]["accepted"]
    assert "20 more than there are" in found["acme/quiet"]["reason"]
    assert cli("lab", "tune", "namespaces", "--dry-run").out.startswith("default\t")


@pytest.mark.parametrize(
    "over",
    ["vector_weight", "vector_weight=", "alpha=1", "vector_weight=2", "vector_weight=0:1:0", "b=1:0:0.1"],
)
def test_a_grid_that_cannot_be_is_refused(over: str) -> None:
    with pytest.raises(InvalidArgument, match=r"^--over"):
        _grid([over])


def test_one_fold_is_too_few(cli: Run, taught: Path) -> None:
    ran = cli("lab", "tune", "weights", *OVER, "--folds", "1")
    assert ran.code == 2
    assert "--folds" in ran.err


def test_steps_are_exact() -> None:
    assert _grid(["vector_weight=0:1:0.1"])["vector_weight"] == [step / 10 for step in range(11)]
    assert _grid(["deduplicate=yes,no"]) == {"deduplicate": [True, False]}


def test_a_grid_of_steps_and_choices() -> None:
    found = _grid(["vector_weight=0.2:0.6:0.2", "fusion=relative,rrf"])
    assert found == {"vector_weight": [0.2, 0.4, 0.6], "fusion": ["relative", "rrf"]}
