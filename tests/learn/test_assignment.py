import subprocess
import sys
from collections import Counter
from typing import Any

import pytest

from memorata.learn.assignment import Experiment, Variant, position
from memorata.model.errors import InvalidArgument

EVEN = Experiment("meaning", [Variant("as it is", 0.5), Variant("more", 0.5, {"vector_weight": 0.6})])


PINNED = ["as it is", "as it is", "more", "as it is", "more", "more", "as it is", "more"]
ALICE = 0.08072225705521419


def test_the_same_user_is_always_in_the_same_variant() -> None:
    assert {EVEN.assigned("alice").name for _ in range(50)} == {EVEN.assigned("alice").name}
    # Written down, so that no release may move anybody.
    assert [EVEN.assigned(f"user{number}").name for number in range(8)] == PINNED
    assert position("meaning", "alice") == pytest.approx(ALICE, abs=1e-12)


@pytest.mark.parametrize("salt", ["0", "1", "12345"])
def test_another_process_says_the_same_whatever_salt_python_hashes_with(salt: str) -> None:
    code = "from memorata.learn.assignment import position; print(position('meaning', 'alice'))"
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONHASHSEED": salt}, capture_output=True, text=True, check=True
    )
    assert float(done.stdout) == position("meaning", "alice")


def test_users_are_divided_by_the_weights() -> None:
    uneven = Experiment("three", [Variant("a", 0.2), Variant("b", 0.5), Variant("c", 0.3)])
    counts = Counter(uneven.assigned(f"user{number}").name for number in range(20_000))
    assert [counts[name] / 20_000 for name in "abc"] == pytest.approx([0.2, 0.5, 0.3], abs=0.015)


def test_two_experiments_divide_people_independently() -> None:
    other = Experiment("other", EVEN.variants)
    both = Counter(
        (EVEN.assigned(user).name, other.assigned(user).name) for user in (f"u{n}" for n in range(8_000))
    )
    assert all(abs(count / 8_000 - 0.25) < 0.02 for count in both.values())
    assert len(both) == 4


def test_names_are_told_apart_where_they_meet() -> None:
    assert position("a", "bc") != position("ab", "c")
    assert position("1", "1:x") != position("11", ":x")
    assert position("meaning", "Алиса") != position("meaning", "")


def test_ten_tenths_are_one() -> None:
    tenths = Experiment("ten", [Variant(f"v{number}", 0.1) for number in range(10)])
    assert {tenths.assigned(f"u{number}").name for number in range(500)} == {f"v{n}" for n in range(10)}


@pytest.mark.parametrize(
    ("variants", "said"),
    [
        ([Variant("only", 1.0)], "at least two"),
        ([], "at least two"),
        ([Variant("a", 0.5), Variant("b", 0.4)], "sum to 1, got 0.9"),
        ([Variant("a", 0.7), Variant("b", 0.7)], "sum to 1"),
        ([Variant("a", 0.5), Variant("a", 0.5)], "names of their own"),
        ("ab", "list of variants"),
        (None, "list of variants"),
    ],
)
def test_an_experiment_that_cannot_be_is_refused(variants: Any, said: str) -> None:
    with pytest.raises(InvalidArgument, match=said):
        Experiment("broken", variants)


@pytest.mark.parametrize(
    "changes",
    [{"name": ""}, {"name": 5}, {"weight": 0}, {"weight": -1}, {"weight": float("nan")}, {"settings": [1]}],
)
def test_a_variant_that_cannot_be_is_refused(changes: dict[str, Any]) -> None:
    good: dict[str, Any] = {"name": "a", "weight": 0.5, "settings": {}}
    with pytest.raises(InvalidArgument):
        Variant(**good | changes)


def test_bad_arguments() -> None:
    with pytest.raises(InvalidArgument):
        Experiment("", EVEN.variants)
    with pytest.raises(InvalidArgument):
        EVEN.assigned(7)  # type: ignore[arg-type]


def test_weights_whose_sum_no_number_holds_are_refused_as_others() -> None:
    with pytest.raises(InvalidArgument, match="variants must be variants whose weights sum to 1, got inf"):
        Experiment("vast", [Variant("a", 1e308), Variant("b", 1e308)])
