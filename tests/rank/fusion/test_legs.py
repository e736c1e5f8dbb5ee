import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.model import InvalidArgument, parameters_of
from memorata.rank import FUSIONS, Leg, align, comb_sum, fusion, rrf
from memorata.rank.fusion import Aligned
from memorata.rank.fusion.legs import align_among, align_slots, flat, fused

IDS = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8)


def test_the_union_is_in_the_order_first_seen() -> None:
    aligned = align([["b", "a"], ["c", "a", "d"], []])
    assert list(aligned.ids) == ["b", "a", "c", "d"]
    assert aligned.sizes == (2, 3, 0)
    assert aligned.places.tolist() == [0, 1, 2, 1, 3]
    assert aligned.leg_counts().tolist() == [1, 2, 1, 1]
    assert aligned.table(np.array([1.0, 2.0, 3.0, 4.0, 5.0])).tolist() == [
        [1.0, 2.0, 0.0, 0.0],
        [0.0, 4.0, 3.0, 5.0],
        [0.0, 0.0, 0.0, 0.0],
    ]


@given(st.lists(IDS, max_size=5))
def test_alignment_is_what_a_dictionary_does(lists: list[list[str]]) -> None:
    places: dict[str, int] = {}
    for ids in lists:
        for id_ in ids:
            places.setdefault(id_, len(places))
    aligned = align(lists)
    assert list(aligned.ids) == list(places)
    assert aligned.places.tolist() == [places[id_] for ids in lists for id_ in ids]
    assert aligned.leg_counts().tolist() == [sum(id_ in ids for ids in lists) for id_ in places]


@given(st.lists(st.lists(st.integers(0, 12), unique=True, max_size=8), max_size=4))
def test_slots_are_aligned_as_any_ids_are(lists: list[list[int]]) -> None:
    scores = [np.arange(len(ids), dtype=np.float64) for ids in lists]
    names = [f"leg {number}" for number in range(1, len(lists) + 1)]
    union, quick = align_slots([np.array(ids, np.intp) for ids in lists], scores, names)
    slow = align([Leg(ids, given) for ids, given in zip(lists, scores, strict=True)])
    assert union.tolist() == quick.ids == slow.ids
    assert quick.places.tolist() == slow.places.tolist()
    assert (quick.names, quick.sizes) == (slow.names, slow.sizes)
    assert [s.tolist() for s in quick.leg_scores()] == [s.tolist() for s in slow.leg_scores()]


@given(st.permutations(range(8)), st.lists(IDS, max_size=3))
def test_legs_among_what_the_first_found_are_aligned_alike(first: list[int], others: list[list[str]]) -> None:
    legs = [
        np.array(first) * 3,
        *(3 * np.array(["abcdefgh".index(i) for i in ids], np.intp) for ids in others),
    ]
    scores, names = [leg / 2.0 for leg in legs], [f"leg {number}" for number in range(len(legs))]
    union, quick = align_among(np.sort(legs[0]), legs, scores, names)
    wanted, slow = align_slots(legs, scores, names)
    assert union.tolist() == wanted.tolist() == quick.ids
    assert quick.places.tolist() == slow.places.tolist()
    assert (quick.names, quick.sizes) == (slow.names, slow.sizes)


def test_the_order_says_where_each_item_stands_in_the_union() -> None:
    result = rrf([["a", "b", "c"], ["c"]])
    assert [align([["a", "b", "c"]]).ids[place] for place in result.order] == result.ids == ["c", "a", "b"]


def test_weights_are_checked_however_they_come() -> None:
    aligned = align([["a"], ["b"]])
    for _ in range(2):
        assert aligned.weights((0.5, 2.0)).tolist() == aligned.weights([0.5, 2.0]).tolist() == [0.5, 2.0]
        for bad in ((0.5,), (0.5, -1.0), (0.5, float("nan")), (0.0, 0.0), (0.5, "2")):
            with pytest.raises(InvalidArgument, match="weights"):
                aligned.weights(bad)  # type: ignore[arg-type]


def test_a_leg_may_come_in_many_forms() -> None:
    forms: list[Any] = [
        [3, 1, 2],
        (3, 1, 2),
        range(3, 0, -1),
        np.array([3, 1, 2]),
        {1: 0.5, 2: 0.5, 3: 0.9},
        Leg([3, 1, 2]),
        Leg(np.array([3, 1, 2]), np.array([0.9, 0.5, 0.5]), "vector"),
    ]
    for form in forms:
        ids = list(align([form]).ids)
        assert ids == ([3, 2, 1] if isinstance(form, range) else [3, 1, 2])
        assert all(type(id_) is int for id_ in ids)


def test_a_mapping_is_ranked_by_its_scores_ties_in_its_own_order() -> None:
    aligned = align([{"low": 1.0, "tied": 5.0, "also": 5.0, "top": 9.0}])
    assert list(aligned.ids) == ["top", "tied", "also", "low"]
    assert [scores.tolist() for scores in aligned.leg_scores()] == [[9.0, 5.0, 5.0, 1.0]]


def test_a_leg_ranks_by_position_whatever_its_scores() -> None:
    assert rrf([Leg(["a", "b"], [0.1, 0.9])]).ids == ["a", "b"]
    assert comb_sum([Leg(["a", "b"], [0.1, 0.9])]).ids == ["b", "a"]


def test_ids_are_any_hashable_values() -> None:
    mixed: list[Any] = [("s", 1), "a", 7, None, frozenset({2})]
    assert rrf([mixed]).ids == mixed


def test_explanations_call_a_leg_by_its_name_or_its_number() -> None:
    legs: list[Any] = [Leg(["a"], name="vector"), ["a"], Leg(["a"])]
    why = rrf(legs).parts.explain(0, "a")
    assert [part.label for part in why.parts] == ["vector", "leg 2", "leg 3"]


def test_aligned_legs_are_used_as_they_are() -> None:
    aligned = align([["a", "b"], ["b"]])
    assert align(aligned) is aligned
    assert rrf(aligned).ids == rrf([["a", "b"], ["b"]]).ids


def test_no_legs_and_empty_legs_fuse_to_nothing() -> None:
    nothing: list[Any] = [[], [[]], [[], {}], (Leg([], []),)]
    for legs in nothing:
        for result in (rrf(legs), comb_sum(legs)):
            assert result.ids == []
            assert result.scores.tolist() == []
            assert result.scores.dtype == np.float64
            assert result.parts.scores.size == 0


def test_a_leg_without_scores_cannot_be_fused_by_score_unless_it_is_empty() -> None:
    vector: Any = {"a": 1.0}
    with pytest.raises(InvalidArgument, match=r"legs\[1\] must be a leg with scores .*, got 'text'"):
        comb_sum([vector, Leg(["a"], name="text")])
    assert comb_sum([vector, []]).ids == ["a"]


def test_ties_stay_in_the_order_first_seen_and_the_limit_cuts() -> None:
    aligned = align([["a", "b", "c", "d"]])
    result = fused(aligned, np.array([1.0, 2.0, 1.0, 2.0]), 3)
    assert result.ids == ["b", "d", "a"]
    assert result.scores.tolist() == [2.0, 2.0, 1.0]
    assert result.parts.parts.tolist() == [[2.0, 2.0, 1.0]]
    assert fused(aligned, np.array([1.0, 2.0, 1.0, 2.0]), 0).ids == []


def test_flat_is_leg_after_leg() -> None:
    assert flat([np.array([1.0]), np.zeros(0), np.array([2.0, 3.0])]).tolist() == [1.0, 2.0, 3.0]
    assert flat([]).tolist() == []


@pytest.mark.parametrize(
    ("legs", "argument"),
    [
        (None, "legs"),
        ("ab", "legs"),
        ({"vector": ["a"]}, "legs"),
        (iter([["a"]]), "legs"),
        ([5], "legs[0]"),
        ([["a"], None], "legs[1]"),
        (["ab"], "legs[0]"),
        ([{"a", "b"}], "legs[0]"),
        ([np.zeros((2, 2))], "legs[0]"),
        ([["a"], ["b", "b"]], "legs[1]"),
        ([["a", "a"]], "legs[0]"),
        ([[float("nan")] * 2], "legs[0]"),
        ([["a"], ["b", ["c"]]], "legs[1]"),
        ([[["c"]]], "legs[0]"),
        ([{"a": float("nan")}], "legs[0][0]"),
        ([{"a": "high"}], "legs[0]"),
        ([Leg(np.array([1, 1]))], "legs[0]"),
    ],
)
def test_bad_legs_are_refused(legs: Any, argument: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        align(legs)
    assert caught.value.argument == argument


@pytest.mark.parametrize(
    ("values", "argument"),
    [
        ((None,), "ids"),
        ((5, [1.0]), "ids"),
        (("ab", [1.0, 2.0]), "ids"),
        (({"a"}, [1.0]), "ids"),
        ((np.zeros((1, 1)),), "ids"),
        ((["a"], [1.0, 2.0]), "scores"),
        ((["a"], [float("inf")]), "scores[0]"),
        ((["a"], ["high"]), "scores"),
        ((["a"], None, 5), "name"),
    ],
)
def test_a_bad_leg_is_refused(values: tuple[Any, ...], argument: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        Leg(*values)
    assert caught.value.argument == argument


def test_a_sum_beyond_float64_is_refused() -> None:
    with pytest.raises(InvalidArgument, match=r"legs must be items whose weighted scores have .*, got 'b'"):
        comb_sum([{"a": 2.0, "b": 1.0}, {"b": 1.7e308}, {"b": 1.7e308}], normaliser="none")


def test_weights_are_one_for_each_leg() -> None:
    aligned: Aligned[str] = align([["a"], ["b"]])
    assert aligned.weights(None).tolist() == [1.0, 1.0]
    assert aligned.weights([0, 2]).tolist() == [0.0, 2.0]
    with pytest.raises(InvalidArgument, match="weights must be 2 weights, one for each leg"):
        aligned.weights([1.0])


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
