import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memorata.model.errors import InvalidArgument, MissingExtra
from memorata_lab.learn.calibration import reliability
from memorata_lab.learn.plots import draw_calibration, draw_drift, draw_grid, draw_heat_map, draw_thresholds
from memorata_lab.learn.retune import Decision, Event, retune
from memorata_lab.learn.thresholds import at_precision, by_f1, by_youden, threshold_curve

RANDOM = np.random.default_rng(1)
LABELS = RANDOM.random(80) < 0.4
SIMILAR = np.clip(RANDOM.normal(0.4, 0.1, 80) + 0.2 * LABELS, 0, 1)
SURE = RANDOM.random(80)
CURVE = threshold_curve(SIMILAR, LABELS)


def weeks(count: int) -> dict[str, Decision]:
    seen = [Event(0.5, True)] * 10 + [Event(0.9, True)] * 20
    decided, threshold = {}, 0.9
    for number in range(count):
        decided[f"week {number + 1}"] = retune(threshold, seen)
        threshold = decided[f"week {number + 1}"].after
    return decided


@pytest.mark.untraced
@pytest.mark.parametrize("kind", ["png", "svg"])
def test_every_drawing_is_written_in_either_format(tmp_path: Path, kind: str) -> None:
    files = [
        draw_thresholds(CURVE, by_youden(SIMILAR, LABELS), tmp_path / f"curves.{kind}"),
        draw_grid(by_f1(SIMILAR, SURE, LABELS), tmp_path / f"grid.{kind}"),
        draw_calibration({"raw": reliability(SIMILAR, LABELS)}, tmp_path / f"calibration.{kind}"),
        draw_drift(weeks(20), str(tmp_path / f"drift.{kind}")),
    ]
    for path in files:
        start = path.read_bytes()[:100]
        assert start.startswith(b"\x89PNG" if kind == "png" else b"<?xml")


@pytest.mark.untraced
def test_the_chosen_point_and_its_numbers_are_written_on_it(tmp_path: Path) -> None:
    choice = at_precision(SIMILAR, LABELS, target=0.7, fallback=0.5)
    drawn = draw_thresholds(CURVE, choice, tmp_path / "curves.svg").read_text()
    assert f"similarity ≥ {choice.threshold:.3f}" in drawn
    assert f"precision {choice.precision:.2f}, recall {choice.recall:.2f}" in drawn
    grid = by_f1(SIMILAR, SURE, LABELS)
    assert f"(F1 {grid.f1:.3f})" in draw_grid(grid, tmp_path / "grid.svg").read_text()


def test_a_fallback_says_so_on_the_drawing_and_one_that_lets_nothing_through_has_no_point(
    tmp_path: Path,
) -> None:
    choice = at_precision(SIMILAR, ~LABELS, target=1.0, fallback=1.0)
    assert math.isnan(choice.precision)
    drawn = draw_thresholds(CURVE, choice, tmp_path / "curves.svg").read_text()
    assert "no threshold reaches a precision of 1" in drawn
    assert "similarity ≥" not in drawn


def test_the_drift_shows_what_the_rule_did(tmp_path: Path) -> None:
    drawn = draw_drift(weeks(8), tmp_path / "drift.svg").read_text()
    assert "lowered after this week" in drawn
    assert "raised after this week" not in drawn
    assert "limit 15%" in drawn
    still = draw_drift({"1": retune(0.5, [])}, tmp_path / "still.svg").read_text()
    assert "after this week" not in still


def test_the_same_data_gives_the_same_file(tmp_path: Path) -> None:
    first, second = (
        draw_calibration({"raw": reliability(SIMILAR, LABELS)}, tmp_path / f"{name}.svg").read_bytes()
        for name in "ab"
    )
    assert first == second


def test_without_matplotlib_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r"pip install 'packages/memorata-lab\[plots\]'"):
        draw_drift(weeks(2), tmp_path / "drift.png")


def test_the_module_loads_without_loading_matplotlib() -> None:
    loaded = "print({'matplotlib', 'optuna'} & {*sys.modules})"
    code = f"import sys, memorata_lab.learn.plots, memorata_lab.learn.search; {loaded}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.parametrize(
    "changes",
    [
        {"values": [[1.0]]},
        {"values": [[math.nan, 1.0], [1.0, 1.0]]},
        {"axes": {"a": [0, 1]}},
        {"axes": [1, 2]},
        {"axes": {"a": [0, 1], "b": ["x", "y"]}},
        {"chosen": (math.nan, 0.0)},
        {"path": "map.pdf"},
    ],
)
def test_bad_arguments(changes: dict[str, Any], tmp_path: Path) -> None:
    good: dict[str, Any] = {
        "values": [[0.1, 0.2], [0.3, 0.4]],
        "axes": {"a": [0.0, 1.0], "b": [0.0, 1.0]},
        "chosen": (1.0, 1.0),
        "path": tmp_path / "map.png",
    }
    with pytest.raises(InvalidArgument):
        draw_heat_map(**good | changes, title="map", value="height")


def test_nothing_to_draw_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument):
        draw_drift({}, tmp_path / "drift.png")
    with pytest.raises(InvalidArgument):
        draw_calibration({}, tmp_path / "calibration.png")
