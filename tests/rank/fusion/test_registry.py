import inspect
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.model import InvalidArgument, parameters_of
from memorata.rank import FUSIONS, Leg, align, fusion, rrf

NAMES = sorted(FUSIONS)
LEGS = st.lists(
    st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0, 1) | st.sampled_from([0.0, 0.5, 1.0])),
    max_size=5,
)


@pytest.fixture
def untouched() -> Iterator[None]:
    before = dict(FUSIONS)
    yield
    FUSIONS.clear()
    FUSIONS.update(before)


def test_the_fusions_of_the_field_are_all_there() -> None:
    assert NAMES == [
        "aligned",
        "alpha_blend",
        "borda",
        "comb_mnz",
        "comb_sum",
        "isr",
        "relative",
        "rrf",
        "zscored_rrf",
    ]


@pytest.mark.parametrize("name", NAMES)
def test_every_tunable_argument_declares_itself(name: str) -> None:
    signature = inspect.signature(FUSIONS[name]).parameters
    declared = {parameter.name: parameter for parameter in parameters_of(FUSIONS[name])}
    # The legs, what belongs to them, and the limit are the search's own; the rest is for tuning.
    assert set(declared) == set(signature) - {"legs", "weights", "base", "floors", "ceilings", "limit"}
    for parameter in declared.values():
        assert parameter.doc.endswith(".")
        if parameter.type is str:
            assert parameter.default in parameter.choices
        else:
            assert parameter.low is not None
            assert parameter.high is not None
            assert parameter.low <= parameter.default <= parameter.high


@pytest.mark.parametrize("name", NAMES)
def test_every_declared_value_is_accepted(name: str) -> None:
    legs = [{"a": 0.9, "b": 0.5, "c": 0.1}, {"b": 0.8, "d": 0.2}]
    for parameter in parameters_of(FUSIONS[name]):
        for value in parameter.choices or (parameter.low, parameter.high):
            assert value is not None
            given_: Any = value if parameter.choices else parameter.type(value)
            assert len(FUSIONS[name](legs, **{parameter.name: given_}).ids) == 4


@given(
    st.sampled_from(NAMES),
    LEGS,
    st.lists(st.floats(0.01, 10), min_size=5, max_size=5),
    st.booleans(),
    st.none() | st.integers(0, 9),
)
def test_every_fusion_ranks_the_union_and_explains_every_score_to_the_last_bit(
    name: str, legs: list[dict[str, float]], scales: list[float], weighted: bool, limit: int | None
) -> None:
    options: dict[str, Any] = {"weights": scales[: len(legs)]} if weighted else {}
    whole = FUSIONS[name](legs, **options)
    first_seen = list(align(legs).ids)
    assert sorted(whole.ids) == sorted(first_seen)
    assert len(whole.scores) == len(first_seen)
    keys = [
        (-score, first_seen.index(id_)) for id_, score in zip(whole.ids, whole.scores.tolist(), strict=True)
    ]
    assert keys == sorted(keys)

    cut = FUSIONS[name](legs, limit=limit, **options)
    assert cut.ids == whole.ids[:limit]
    assert cut.scores.tolist() == whole.scores[:limit].tolist()

    parts = cut.parts
    for item, score in enumerate(cut.scores.tolist()):
        why = parts.explain(item, str(cut.ids[item]))
        assert why.value == score
        assert why.adds_up()
        assert len(why.parts) == len(legs)


@given(st.sampled_from(NAMES), LEGS)
def test_aligning_first_changes_nothing(name: str, legs: list[dict[str, float]]) -> None:
    one, other = FUSIONS[name](legs), FUSIONS[name](align(legs))
    assert one.ids == other.ids
    assert one.scores.tolist() == other.scores.tolist()


@pytest.mark.parametrize("name", NAMES)
def test_equal_evidence_is_a_tie_and_ties_stay_in_the_order_first_seen(name: str) -> None:
    legs = [Leg(["z", "m", "a"], [0.7, 0.7, 0.7]), Leg(["a", "m", "z"], [0.7, 0.7, 0.7])]
    result = FUSIONS[name](legs, weights=[1.0, 1.0])
    tied = [id_ for id_, score in zip(result.ids, result.scores, strict=True) if score == result.scores[0]]
    assert tied == [id_ for id_ in ("z", "m", "a") if id_ in tied]
    assert len(tied) >= 2 or name == "zscored_rrf"


@pytest.mark.usefixtures("untouched")
def test_a_new_fusion_is_known_by_its_name() -> None:
    def mine(legs: Any, *, weights: Any = None, limit: int | None = None) -> Any:
        return rrf(legs, weights=weights, limit=limit)

    assert fusion("mine")(mine) is mine
    assert FUSIONS["mine"] is mine
    with pytest.raises(InvalidArgument, match=r"name must be a name not taken yet; .*, got 'mine'"):
        fusion("mine")(mine)
