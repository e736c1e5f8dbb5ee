"""Experiments on the command line."""

from collections.abc import Callable
from typing import Any

import pytest

from memorata_lab.commands.experiments import _variant

Run = Callable[..., Any]
TWO = ("--variant", "same:0.5", "--variant", "words:0.5:vector_weight=0.1,deduplicate=no")


def test_an_experiment_from_its_start_to_its_end(cli: Run, tea: str) -> None:
    made = cli("lab", "experiment", "create", "share", *TWO, "--users", "2", "--days", "1", "--json").json
    assert (made["name"], made["base"], made["method"]) == ("share", "balanced", "split")
    assert made["variants"][1]["settings"] == {"vector_weight": 0.1, "deduplicate": False}
    variant = cli("lab", "experiment", "assign", "share", "ann").out.strip()
    assert variant == cli("lab", "experiment", "assign", "share", "ann", "--json").json["variant"]
    found = cli("lab", "experiment", "recall", "share", "ann", "green", "tea", "--json").json
    assert found["hits"][0]["id"] == tea
    assert cli("feedback", "add", found["recall_id"], tea, "click").code == 0
    assert cli("lab", "experiment", "recall", "share", "ann", "green tea").out.split("\t")[1] == tea
    status = cli("lab", "experiment", "status", "share", "--json").json
    assert status["winner"] is None
    assert status["recommendation"]["measures"][variant]["questions"] == 2
    assert "more are needed" in status["reason"]
    shown = cli("lab", "experiment", "status", "share", terminal=True)
    assert "clicked" in shown.out
    assert "nan" not in shown.out
    assert "–" in shown.out
    assert cli("lab", "experiment", "stop", "share").out.startswith("no decision yet")
    assert "stopped" in cli("lab", "experiment", "status").out
    (kept,) = cli("lab", "experiment", "status", "--json").json["experiments"]
    assert kept["stopped"] is not None
    assert cli("lab", "experiment", "recall", "share", "ann", "tea").code == 2


def test_two_variants_in_one_list(cli: Run, tea: str) -> None:
    assert cli("lab", "experiment", "create", "mixed", *TWO, "--interleave").code == 0
    cli("lab", "experiment", "recall", "mixed", "ann", "green tea")
    status = cli("lab", "experiment", "status", "mixed", "--json").json
    assert status["preference"]["ties"] == 1
    assert status["recommendation"] is None
    assert cli("lab", "experiment", "status", "mixed").out.startswith(
        "no decision yet: 'same' won 0 questions"
    )
    assert cli("lab", "experiment", "recall", "mixed", "ann", "zzz").code in (0, 1)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (("--variant", "a:0.5"), "at least two variants"),
        (("--variant", "a:0.5", "--variant", "b:0.6"), "weights sum to 1, got 1.1"),
        (("--variant", "a:0.5", "--variant", "b:half"), "NAME:WEIGHT[:SETTINGS]"),
        (("--variant", "a:0.5", "--variant", "b:0.5:alpha=1"), "a parameter of the recipe"),
        ((), "at least two variants"),
    ],
)
def test_what_cannot_be_an_experiment_is_refused(
    cli: Run, tea: str, given: tuple[str, ...], expected: str
) -> None:
    ran = cli("lab", "experiment", "create", "e", *given)
    assert ran.code == 2
    assert expected in ran.err


def test_an_unknown_experiment_is_named(cli: Run, tea: str) -> None:
    for verb in (("status", "e"), ("stop", "e"), ("assign", "e", "ann"), ("recall", "e", "ann", "tea")):
        ran = cli("lab", "experiment", *verb)
        assert (ran.code, ran.out) == (1, "")
        assert "no experiment 'e' in namespace 'default'; there is none yet" in ran.err
    none = cli("lab", "experiment", "status", terminal=True)
    assert (none.code, none.out) == (0, "")
    assert "There is no experiment yet; memorata lab experiment create starts one." in none.err


def test_a_variant_has_settings() -> None:
    assert _variant("more:0.5:vector_weight=0.7,deduplicate=no").settings["vector_weight"] == 0.7
