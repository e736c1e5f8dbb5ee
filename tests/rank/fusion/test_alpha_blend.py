from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.model import InvalidArgument
from memorata.rank import BlendSettings, Combination, Fused, alpha_blend, migrated

COSINES = st.floats(-1, 1) | st.sampled_from([0.5, 1.0])
BM25 = st.floats(0, 40) | st.just(0.0)
SHARES = st.floats(0, 1)
BATCHES = st.lists(st.tuples(COSINES, BM25, st.floats(-5, 5)), max_size=8)
IDS = st.sampled_from("abcdef")


def as_dict(fused: Fused[str]) -> dict[str, float]:
    return dict(zip(fused.ids, fused.scores.tolist(), strict=True))


def blend(
    similarity: list[float], bm25: list[float], base: list[float] | None = None, **options: Any
) -> Combination:
    """Return the blend of a batch in which both legs found every memory, in the order of the batch."""
    ground = None if base is None else dict(enumerate(base))
    fused = alpha_blend([dict(enumerate(similarity)), dict(enumerate(bm25))], base=ground, **options)
    return fused.parts.take(np.argsort(np.array(fused.ids, np.intp)))


def vector_part(similarity: float, alpha: float, budget: float, threshold: float) -> float:
    return budget * alpha * max(0.0, (similarity - threshold) / (1 - threshold))


def text_part(bm25: float, batch: list[float], size: int, most: float) -> float:
    """Return t: relative to the batch's best, or clamped when the batch is too small to tell."""
    if size < 3:
        return min(max(bm25, 0.0), most)
    return most * bm25 / max(max(batch), 1e-9)


def test_three_memories_by_hand() -> None:
    # W·alpha = 10.5, W·(1 - alpha) = 4.5. v = 0.8, 0, 0; t = 0.5, 1, 0.
    blended = blend([0.9, 0.5, 0.4], [2.0, 4.0, 0.0], base=[1.0, 1.0, 5.0])
    assert blended.names == ("base", "leg 1", "leg 2")
    assert blended.parts == pytest.approx(np.array([[1, 1, 5], [8.4, 0, 0], [2.25, 4.5, 0]]))
    assert blended.scores.tolist() == pytest.approx([11.65, 5.5, 5.0])


@pytest.mark.parametrize("batch", [1, 2])
def test_in_fewer_than_three_memories_bm25_is_clamped_and_not_divided(batch: int) -> None:
    blended = blend([0.4, 0.4][:batch], [2.0, 40.0][:batch])
    assert blended.scores.tolist() == pytest.approx([2.0, 4.5][:batch])
    assert blend([0.4] * 3, [2.0, 40.0, 0.0]).scores.tolist() == pytest.approx([0.225, 4.5, 0.0])


@given(BATCHES, SHARES, st.floats(0, 50), st.floats(-1, 0.99))
def test_the_batch_is_the_formula_one_by_one(
    batch: list[tuple[float, float, float]], alpha: float, budget: float, threshold: float
) -> None:
    similarity, bm25, base = ([row[column] for row in batch] for column in range(3))
    blended = blend(similarity, bm25, base, alpha=alpha, budget=budget, threshold=threshold)
    most = budget * (1 - alpha)
    expected = [
        b + vector_part(s, alpha, budget, threshold) + text_part(t, bm25, len(batch), most)
        for s, t, b in batch
    ]
    assert blended.scores.tolist() == pytest.approx(expected, abs=1e-9)
    for item in range(len(batch)):
        assert blended.explain(item, "score").value == blended.scores[item]


@given(BATCHES, SHARES, st.floats(0, 50))
def test_no_part_exceeds_its_share_of_the_budget(
    batch: list[tuple[float, float, float]], alpha: float, budget: float
) -> None:
    blended = blend([row[0] for row in batch], [row[1] for row in batch], alpha=alpha, budget=budget)
    assert (blended.parts[0] <= budget * alpha).all()
    assert (blended.parts[1] <= budget * (1 - alpha)).all()
    assert (blended.parts >= 0).all()


def test_edges_of_the_batch_form() -> None:
    assert blend([], []).scores.tolist() == []
    assert blend([1.0], [0.0]).scores.tolist() == [10.5]
    assert blend([0.3] * 3, [0.0] * 3).scores.tolist() == [0.0] * 3
    assert blend([1.0] * 3, [2.0] * 3).scores.tolist() == pytest.approx([15.0] * 3)
    assert blend([0.5], [1.0], threshold=Fraction(1, 2)).scores.dtype == np.float64


def test_fusing_legs_by_hand() -> None:
    fused = alpha_blend([{"a": 0.9, "b": 0.5}, {"b": 4.0, "a": 2.0, "c": 1.0}], base={"c": 6.0, "z": 99.0})
    assert as_dict(fused) == pytest.approx({"a": 8.4 + 2.25, "c": 6 + 1.125, "b": 4.5})
    why = fused.parts.explain(1, "c")
    assert [part.label for part in why.parts] == ["base", "leg 1", "leg 2"]
    assert [part.value for part in why.parts] == pytest.approx([6.0, 0.0, 1.125])


def test_text_legs_share_the_budget_by_their_weights() -> None:
    legs = [{"a": 0.1}, {"a": 1.0, "b": 1.0}, {"c": 7.0}]
    # 4.5 for text: by halves, or one third and two thirds.
    assert as_dict(alpha_blend(legs)) == pytest.approx({"a": 2.25, "b": 2.25, "c": 2.25})
    weighted = alpha_blend(legs, weights=[99, 1, 2])
    assert as_dict(weighted) == pytest.approx({"a": 1.5, "b": 1.5, "c": 3.0})
    assert as_dict(alpha_blend(legs, weights=[1, 0, 0])) == {"a": 0.0, "b": 0.0, "c": 0.0}


@given(
    st.dictionaries(IDS, COSINES),
    st.lists(st.dictionaries(IDS, BM25), max_size=4),
    SHARES,
    st.floats(0, 50),
    st.floats(-1, 0.99),
    st.dictionaries(IDS, st.floats(-5, 5)) | st.none(),
    st.none() | st.lists(st.floats(0.01, 10), min_size=5, max_size=5),
)
def test_fusing_is_the_formula_one_id_at_a_time(
    vector: dict[str, float],
    texts: list[dict[str, float]],
    alpha: float,
    budget: float,
    threshold: float,
    base: dict[str, float] | None,
    weights: list[float] | None,
) -> None:
    legs = [vector, *texts]
    scales = weights[: len(legs)] if weights else None
    union = {id_ for leg in legs for id_ in leg}
    among = (scales or [1.0] * len(legs))[1:]
    expected = {}
    for id_ in union:
        score = (base or {}).get(id_, 0.0)
        if id_ in vector:
            score += vector_part(vector[id_], alpha, budget, threshold)
        for text, scale in zip(texts, among, strict=True):
            if id_ in text:
                most = budget * (1 - alpha) * scale / sum(among)
                score += text_part(text[id_], list(text.values()), len(union), most)
        expected[id_] = score
    fused = alpha_blend(legs, weights=scales, base=base, alpha=alpha, budget=budget, threshold=threshold)
    assert as_dict(fused) == pytest.approx(expected, abs=1e-9)
    assert all(
        fused.parts.explain(item, "score").value == score for item, score in enumerate(fused.scores.tolist())
    )
    ranked = [sorted(leg, key=lambda id_, leg=leg: -leg[id_]) for leg in legs]  # type: ignore[misc]
    seen = list(dict.fromkeys(id_ for ids in ranked for id_ in ids))
    keys = [(-score, seen.index(id_)) for id_, score in as_dict(fused).items()]
    assert keys == sorted(keys)


def test_nothing_to_fuse() -> None:
    assert alpha_blend([]).ids == []
    assert alpha_blend([{}, {}], base={"a": 1.0}).ids == []
    assert as_dict(alpha_blend([{"a": 1.0}])) == {"a": 10.5}


@pytest.mark.parametrize(
    ("weights", "alpha", "budget"),
    [
        ((None, None), 0.7, 15.0),
        ((12, 4), 0.75, 12.0),
        ((10, 10), 0.5, 10.0),
        # The weight that is missing takes its default: 15 for vectors, 15·0.3/0.7 for keywords.
        ((15, None), 0.7, 15.0),
        ((None, 15 * 3 / 7), 0.7, 15.0),
        ((None, 15), 0.5, 15.0),
        ((0, 3), 0.0, 0.0),
        ((3, 0), 1.0, 3.0),
        ((1.7e308, 1.7e308), 0.5, 1.7e308),
        ((5e-324, 5e-324), 0.5, 5e-324),
        ((0, 5e-324), 0.0, 0.0),
    ],
)
def test_two_weights_migrate_to_a_budget_and_a_share(
    weights: tuple[float | None, float | None], alpha: float, budget: float
) -> None:
    settings = migrated(*weights)
    assert settings.alpha == pytest.approx(alpha, abs=1e-15)
    assert settings.budget == budget


def test_the_defaults_are_the_published_ones() -> None:
    assert migrated() == BlendSettings() == BlendSettings(alpha=0.7, budget=15)


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda: migrated(-1, 1), "vector_weight"),
        (lambda: migrated(1, float("nan")), "keyword_weight"),
        (lambda: migrated(0, 0), "keyword_weight"),
        (lambda: BlendSettings(alpha=1.1), "alpha"),
        (lambda: BlendSettings(budget=-1), "budget"),
        (lambda: blend([1.1], [1.0]), "legs[0][0]"),
        (lambda: blend([1.0], [-1.0]), "legs[1][0]"),
        (lambda: blend([1.0], [1.0], base=[float("inf")]), "base[0]"),
        (lambda: blend([1.0], [1.0], alpha=-0.1), "alpha"),
        (lambda: blend([1.0], [1.0], budget=-1), "budget"),
        (lambda: blend([1.0], [1.0], threshold=1), "threshold"),
        (lambda: blend([1.0], [1.0], threshold=-1.5), "threshold"),
        (lambda: blend([1.0], [1.0], base=[1.7e308], budget=1.7e308), "legs"),
        (lambda: alpha_blend([], alpha=7), "alpha"),
        (lambda: alpha_blend([], threshold=1), "threshold"),
        (lambda: alpha_blend([{"a": 2.0}]), "legs[0][0]"),
        (lambda: alpha_blend([{"a": 1.0}, {"a": -1.0}]), "legs[1][0]"),
        (lambda: alpha_blend([["a"]]), "legs[0]"),
        (lambda: alpha_blend([{"a": 1.0}], base=3), "base"),  # type: ignore[arg-type]
        (lambda: alpha_blend([{"a": 1.0}], base={"a": float("nan")}), "base[0]"),
        (lambda: alpha_blend([{"a": 1.0}], weights=[0]), "weights"),
        (lambda: alpha_blend([{"a": 1.0}], limit=-2), "limit"),
        (lambda: alpha_blend([{"a": 1.0}], base={"a": 1.7e308}, budget=1.7e308), "legs"),
    ],
)
def test_bad_input_is_refused(call: Any, argument: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        call()
    assert caught.value.argument == argument
