"""Four rules for the gate, each judged by what it was meant to make; and what a similarity is worth."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.engine.recipes import Recipe
from memorata.model.errors import InvalidArgument, NotEnoughData
from memorata_lab.learn.calibration import calibrate
from memorata_lab.learn.thresholds import (
    METHODS,
    Choice,
    at_precision,
    by_f1,
    by_youden,
    threshold_curve,
    tune_thresholds,
)
from memorata_lab.learn.training_set import Pairs
from memorata_lab.learn.validation import MIN_PAIRS, labelled_pairs

SIMILAR = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]
LABELS = [False, False, True, False, True, False, True, True]


@st.composite
def pairs(draw: st.DrawFn) -> tuple[list[float], list[float], list[bool]]:
    """Similarities with many ties, confidences, and labels of both kinds."""
    labels = [True, False, *draw(st.lists(st.booleans(), max_size=20))]
    tenths = st.integers(-10, 10).map(lambda tenth: tenth / 10)
    size = len(labels)
    similar = draw(st.lists(tenths, min_size=size, max_size=size))
    sure = draw(st.lists(tenths.map(abs), min_size=size, max_size=size))
    return similar, sure, labels


def counted(passed: list[bool], labels: list[bool]) -> tuple[int, int, int, int]:
    """True and false positives, false and true negatives, one pair at a time."""
    both = list(zip(passed, labels, strict=True))
    return (
        both.count((True, True)),
        both.count((True, False)),
        both.count((False, True)),
        both.count((False, False)),
    )


@given(pairs())
def test_the_curve_is_what_counting_at_each_threshold_gives(
    data: tuple[list[float], Any, list[bool]],
) -> None:
    similar, _, labels = data
    curve = threshold_curve(similar, labels, least=2)
    assert curve.thresholds.tolist() == sorted(set(similar))
    for place, threshold in enumerate(curve.thresholds):
        tp, fp, fn, tn = counted([value >= threshold for value in similar], labels)
        assert curve.precision[place] == pytest.approx(tp / (tp + fp))
        assert curve.recall[place] == pytest.approx(tp / (tp + fn))
        assert curve.false_positives[place] == pytest.approx(fp / (fp + tn))
        assert curve.youden[place] == pytest.approx(tp / (tp + fn) - fp / (fp + tn))
        assert curve.f1[place] == pytest.approx(2 * tp / (2 * tp + fp + fn))


def test_all_arrays_of_the_curve_have_one_length() -> None:
    curve = threshold_curve(SIMILAR, LABELS, least=8)
    sizes = {
        len(each)
        for each in (curve.thresholds, curve.precision, curve.recall, curve.false_positives, curve.f1)
    }
    assert sizes == {8}


def test_the_highest_recall_at_the_target_precision() -> None:
    # From 0.5 up: three of four are relevant, three of the four relevant ones pass.
    assert at_precision(SIMILAR, LABELS, target=0.75, fallback=0.9, least=8) == Choice(0.5, 0.75, 0.75, 0.25)
    # From 0.7 up: both are relevant.
    assert at_precision(SIMILAR, LABELS, target=0.8, fallback=0.9, least=8) == Choice(0.7, 1.0, 0.5, 0.0)
    # From 0.3 up all relevant ones pass, and of 0.1, 0.2 and 0.3 that is the strictest.
    assert at_precision(SIMILAR, LABELS, target=0.5, fallback=0.9, least=8).threshold == 0.3


@given(pairs(), st.floats(0.05, 1))
def test_no_other_threshold_has_a_higher_recall_at_the_target(
    data: tuple[list[float], Any, list[bool]], target: float
) -> None:
    similar, _, labels = data
    choice = at_precision(similar, labels, target=target, fallback=0.0, least=2)
    reaching = []
    for threshold in sorted(set(similar)):
        tp, fp, fn, _ = counted([value >= threshold for value in similar], labels)
        if tp / (tp + fp) >= target:
            reaching.append((tp / (tp + fn), threshold))
    if reaching:
        assert (choice.recall, choice.threshold) == pytest.approx(max(reaching))
        assert choice.warning is None
    else:
        assert choice.threshold == 0.0
        assert choice.warning is not None
        assert choice.warning.best < target


def test_without_such_a_point_the_fallback_stands_and_says_what_there_would_be() -> None:
    turned = [not label for label in LABELS]
    choice = at_precision(SIMILAR, turned, target=0.9, fallback=0.65, least=8)
    assert (choice.threshold, choice.recall, choice.precision) == (0.65, 0.0, 0.0)
    assert choice.warning is not None
    assert (choice.warning.target, choice.warning.best, choice.warning.threshold) == (0.9, 0.5, 0.1)
    assert "0.9" in str(choice.warning)
    nothing = at_precision(SIMILAR, turned, target=0.9, fallback=0.95, least=8)
    assert math.isnan(nothing.precision)
    assert nothing.recall == 0


@given(pairs())
def test_no_threshold_is_further_above_chance_than_youdens(data: tuple[list[float], Any, list[bool]]) -> None:
    similar, _, labels = data
    choice = by_youden(similar, labels, least=2)
    best = []
    for threshold in sorted(set(similar)):
        tp, fp, fn, tn = counted([value >= threshold for value in similar], labels)
        best.append(tp / (tp + fn) - fp / (fp + tn))
    assert choice.recall - choice.false_positives == pytest.approx(max(best))


@given(pairs())
def test_the_surface_is_what_counting_at_each_pair_of_thresholds_gives(
    data: tuple[list[float], list[float], list[bool]],
) -> None:
    similar, sure, labels = data
    found = by_f1(
        similar, sure, labels, similarities=[-0.5, 0, 0.3, 0.9], confidences=[0.1, 0.5, 1.0], least=2
    )
    for row, near in enumerate(found.similarities):
        for column, certain in enumerate(found.confidences):
            passed = [s >= near and c >= certain for s, c in zip(similar, sure, strict=True)]
            tp, fp, fn, _ = counted(passed, labels)
            assert found.surface[row, column] == pytest.approx(2 * tp / (2 * tp + fp + fn))
    assert found.f1 == found.surface.max()


def test_of_equal_f1_the_gate_that_asks_for_less_is_taken() -> None:
    found = by_f1(
        [0.2, 0.8], [0.9, 0.9], [False, True], similarities=[0.5, 0.6], confidences=[0.0, 0.8], least=2
    )
    assert (found.similarity, found.confidence, found.f1) == (0.5, 0.0, 1.0)


def test_the_default_grid_spans_what_occurs() -> None:
    found = by_f1(SIMILAR, [0.5] * 8, LABELS, least=8)
    assert (found.similarities[0], found.similarities[-1], found.similarities.size) == (0.1, 0.8, 21)
    assert (found.confidences[0], found.confidences[-1], found.surface.shape) == (0.0, 1.0, (21, 21))
    assert by_f1([0.5, 0.5], [0.5, 0.5], [True, False], least=2).similarities.tolist() == [0.5]


def test_few_rows_and_labels_of_one_kind_are_refused_by_every_rule() -> None:
    for similar, labels in ((SIMILAR, LABELS), ([0.5] * 20, [True] * 20)):
        sure = np.full(len(labels), 0.5)
        with pytest.raises(NotEnoughData):
            at_precision(similar, labels, fallback=0.5)
        with pytest.raises(NotEnoughData):
            by_youden(similar, labels)
        with pytest.raises(NotEnoughData):
            by_f1(similar, sure, labels)


@pytest.mark.parametrize(
    "changes",
    [{"target": 0}, {"target": 1.1}, {"target": math.nan}, {"fallback": 2}, {"fallback": None}, {"least": 0}],
)
def test_bad_arguments_of_at_precision(changes: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument):
        at_precision(SIMILAR, LABELS, **{"fallback": 0.5, "least": 8} | changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"similarities": []},
        {"similarities": [0.5, 0.5]},
        {"similarities": [0.5, math.nan]},
        {"confidences": [0.5, 0.2]},
        {"confidences": [1.5]},
        {"confidence": [0.5]},
        {"confidence": [2.0] * 8},
    ],
)
def test_bad_arguments_of_by_f1(changes: dict[str, Any]) -> None:
    good: dict[str, Any] = {"similarity": SIMILAR, "confidence": [0.5] * 8, "relevant": LABELS, "least": 8}
    with pytest.raises(InvalidArgument):
        by_f1(**good | changes)


def test_pairs_come_back_as_arrays() -> None:
    similar, labels = labelled_pairs([0.5, -1], [True, False], least=2)
    assert similar.tolist() == [0.5, -1.0]
    assert labels.tolist() == [True, False]


def test_five_rows_are_too_few_and_it_says_how_many_more() -> None:
    with pytest.raises(NotEnoughData, match=r"5 labelled pairs .* at least 20 .* 15 more") as caught:
        labelled_pairs([0.1, 0.2, 0.3, 0.4, 0.5], [True, False, True, False, True])
    assert (caught.value.found, caught.value.needed) == (5, MIN_PAIRS)


@pytest.mark.parametrize(("label", "missing"), [(True, "not relevant"), (False, "relevant")])
def test_labels_of_one_kind_are_refused_naming_the_other(label: bool, missing: str) -> None:
    with pytest.raises(NotEnoughData, match=f"0 pairs labelled {missing} .* 1 more"):
        labelled_pairs([0.5] * 30, [label] * 30)


@pytest.mark.parametrize(
    ("similarity", "relevant", "least"),
    [
        ([0.5, math.nan], [True, False], 2),
        ([0.5, 1.1], [True, False], 2),
        ([0.5, 0.4], [1, 0], 2),
        ([0.5], [True, False], 2),
        ([0.5, 0.4], [True, False], 1),
        ("ab", [True, False], 2),
        ([0.5, 0.4], None, 2),
    ],
)
def test_what_is_no_pair_is_refused(similarity: Any, relevant: Any, least: Any) -> None:
    with pytest.raises(InvalidArgument):
        labelled_pairs(similarity, relevant, least=least)


BASE = Recipe(name="plain", vector_weight=0.9)


def judged_pairs(count: int = 200, *, signal: bool = True, seed: int = 0) -> Pairs:
    """Return pairs that are relevant with the probability of their similarity squared, or by chance."""
    random = np.random.default_rng(seed)
    similar = random.random(count)
    chance = similar**2 if signal else np.full(count, 0.4)
    relevant = random.random(count) < chance
    sure = np.where(relevant, 0.9, 0.4) if signal else random.random(count)
    return Pairs(similar, sure, relevant, tuple(f"q{number // 2}" for number in range(count)))


@pytest.mark.parametrize("method", METHODS)
def test_every_rule_beats_a_gate_that_lets_everything_through(method: str) -> None:
    found = tune_thresholds(judged_pairs(), BASE, -1.0, method=method, target=0.6)
    assert found.verdict.accepted, found.verdict.reason
    assert found.verdict.gain.low > 0
    assert found.recipe.least_similarity == found.verdict.setting["least_similarity"]
    assert found.evidence()["pairs"] == 200
    assert (found.grid is not None) == (method == "f1")


def test_precision_is_reached_where_it_can_be() -> None:
    found = tune_thresholds(judged_pairs(), BASE, -1.0, method="precision", target=0.6)
    assert found.choice.precision >= 0.6
    assert found.choice.warning is None


def test_a_precision_nobody_reaches_keeps_the_threshold_and_warns() -> None:
    falling = np.linspace(0.9, 0.1, 60)
    never_first = Pairs(
        falling, np.ones(60), np.arange(60) % 2 == 1, tuple(f"q{place}" for place in range(60))
    )
    found = tune_thresholds(never_first, BASE, 0.4, method="precision", target=0.9)
    assert str(found.choice.warning).startswith("no threshold reaches a precision of 0.9; the best is 0.5")
    assert found.choice.threshold == 0.4
    assert not found.verdict.accepted


def test_f1_also_draws_a_line_at_confidence() -> None:
    found = tune_thresholds(judged_pairs(), BASE, -1.0, method="f1")
    assert found.recipe.least_confidence > 0.4


@pytest.mark.parametrize("method", METHODS)
def test_without_a_signal_nothing_is_installed(method: str) -> None:
    refused = [
        tune_thresholds(judged_pairs(signal=False, seed=seed), BASE, 0.0, method=method, target=0.4).verdict
        for seed in range(5)
    ]
    assert sum(verdict.accepted for verdict in refused) <= 1


def test_a_threshold_in_use_that_is_as_good_stays() -> None:
    best = tune_thresholds(judged_pairs(), BASE, -1.0, method="youden").recipe.least_similarity
    found = tune_thresholds(judged_pairs(), BASE, best, method="youden")
    assert not found.verdict.accepted


def test_too_few_or_one_kind_say_what_is_missing() -> None:
    with pytest.raises(NotEnoughData, match=r"5 labelled pairs are too few .* 15 more"):
        tune_thresholds(judged_pairs(5), BASE, 0.5)
    given = judged_pairs(60)
    ones = Pairs(given.similarity, given.confidence, np.ones(60, np.bool_), given.groups)
    with pytest.raises(NotEnoughData, match="0 pairs labelled not relevant are too few"):
        tune_thresholds(ones, BASE, 0.5)
    with pytest.raises(NotEnoughData, match=r"15 judged questions are too few .* 5 more"):
        tune_thresholds(judged_pairs(30), BASE, 0.5)


@pytest.mark.parametrize(("method", "target"), [("precision", 0.0), ("probability", 1.0), ("precision", 1.5)])
def test_a_target_is_between_zero_and_one(method: str, target: float) -> None:
    with pytest.raises(InvalidArgument, match="target"):
        tune_thresholds(judged_pairs(), BASE, 0.5, method=method, target=target)
    with pytest.raises(InvalidArgument, match="method must be one of"):
        tune_thresholds(judged_pairs(), BASE, 0.5, method="guess")


@pytest.mark.parametrize("fit", ["logistic", "isotonic"])
def test_a_calibration_keeps_its_word_better_than_the_similarity(fit: str) -> None:
    found = calibrate(judged_pairs(600), "e", fit=fit)
    assert found.accepted
    assert found.after.error < 0.1 < found.before.error
    assert found.curve["kind"] == fit
    assert found.evidence()["pairs"] == 600
    with pytest.raises(InvalidArgument, match="fit must be one of"):
        calibrate(judged_pairs(), "e", fit="straight")
