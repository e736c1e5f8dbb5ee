"""Reading a text with its neighbours: BM25 over a window.

What the best of a session say for the whole of it.
"""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from memorata.model.checks import FloatArray
from memorata.model.errors import InvalidArgument
from memorata.rank.context import STEPS, ContextWindow, best_sessions, session_means, window_bm25

FAR = np.inf
counts = st.integers(0, 9).map(float)


def window(
    tf: Any, lengths: Any, weights: Any, scales: Any, *, average_length: float, k1: float, b: float
) -> FloatArray:
    """Score windows given as (terms, 1 + neighbours, texts): the text comes first, then its neighbours."""
    frequencies, sizes = np.asarray(tf, np.float64), np.asarray(lengths, np.float64)
    others = [frequencies[:, neighbour] for neighbour in range(1, frequencies.shape[1])]
    own, around = sizes[0], sizes[1:]
    worth, scale = np.asarray(weights, np.float64), np.asarray(scales, np.float64)
    return window_bm25(frequencies[:, 0], others, own, around, worth, scale, average_length, k1, b)


def test_the_next_but_one_has_the_square_of_the_weight() -> None:
    weights = ContextWindow(before=0.7, after=0.3).weights(np.ones(1), np.zeros((4, 1)))
    np.testing.assert_allclose(weights[:, 0], [0.7, 0.49, 0.3, 0.09])
    assert STEPS == (-1, -2, 1, 2)


def test_a_long_text_leans_on_its_neighbours_less_and_a_short_one_fully() -> None:
    weights = ContextWindow(before=0.5, words=30).weights(np.array([5.0, 30.0, 60.0]), np.zeros((4, 3)))
    np.testing.assert_allclose(weights[0], [0.5, 0.5, 0.25])


def test_a_pause_of_the_half_life_halves_a_weight_and_nobody_weighs_nothing() -> None:
    pauses = np.array([[0.0, 1.0, 2.0, FAR]] * 4)
    weights = ContextWindow(before=0.8, hours=1.0).weights(np.ones(4), pauses)
    np.testing.assert_allclose(weights[0], [0.8, 0.4, 0.2, 0.0])


def test_a_word_said_in_two_turns_counts_less_than_two_words() -> None:
    same = window([[[1.0], [1.0]]], [[5.0], [5.0]], [[1.0]], [1.0], average_length=5.0, k1=1.0, b=0.0).sum()
    different = window(
        [[[1.0], [0.0]], [[0.0], [1.0]]],
        [[5.0], [5.0]],
        [[1.0]],
        [1.0, 1.0],
        average_length=5.0,
        k1=1.0,
        b=0.0,
    ).sum()
    assert same == pytest.approx(4 / 3)
    assert different == pytest.approx(2.0)


@given(
    arrays.arrays(np.float64, (2, 1, 3), elements=counts),
    arrays.arrays(np.float64, (1, 3), elements=st.integers(1, 40).map(float)),
    st.floats(0, 3),
    st.floats(0, 1),
)
def test_without_neighbours_it_is_bm25_to_the_last_bit(
    tf: FloatArray, lengths: FloatArray, k1: float, b: float
) -> None:
    got = window(tf, lengths, np.zeros((0, 3)), [1.5, 0.5], average_length=7.0, k1=k1, b=b)
    for row, idf in enumerate((1.5, 0.5)):
        for text, (times, length) in enumerate(zip(tf[row, 0].tolist(), lengths[0].tolist(), strict=True)):
            norm = k1 * (1 - b + b * (length / 7.0))
            plain = times * (k1 + 1) / (times + norm) if times else 0.0
            assert got[row, text] == idf * plain


@given(
    arrays.arrays(np.float64, (2, 3, 4), elements=counts),
    arrays.arrays(np.float64, (3, 4), elements=st.integers(0, 40).map(float)),
    arrays.arrays(np.float64, (2, 4), elements=st.floats(0, 1)),
)
def test_it_is_what_a_loop_over_terms_and_texts_computes(
    tf: FloatArray, lengths: FloatArray, weights: FloatArray
) -> None:
    k1, b, average, scales = 0.9, 0.75, 11.0, [2.0, 0.3]
    got = window(tf, lengths, weights, scales, average_length=average, k1=k1, b=b)
    mean_window = 1 + sum(sum(column) for column in weights.T.tolist()) / 4
    for term in range(2):
        for text in range(4):
            x = tf[term, 0, text] + sum(weights[n, text] * tf[term, n + 1, text] for n in range(2))
            length = lengths[0, text] + sum(weights[n, text] * lengths[n + 1, text] for n in range(2))
            room = k1 * (1 - b + b * length / (average * mean_window))
            expected = scales[term] * x * (k1 + 1) / (x + room) if x else 0.0
            assert got[term, text] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("changed", "argument"),
    [
        ({"before": -0.1}, "before"),
        ({"after": 1.1}, "after"),
        ({"words": 0}, "words"),
        ({"hours": 0}, "hours"),
        ({"before": float("nan")}, "before"),
    ],
)
def test_a_reading_refuses_what_makes_no_sense(changed: dict[str, float], argument: str) -> None:
    with pytest.raises(InvalidArgument, match=argument):
        ContextWindow(**changed)


turns = st.lists(st.tuples(st.integers(-1, 3), st.floats(0, 10)), max_size=20)


@given(turns, st.integers(1, 4))
def test_it_is_the_sum_of_the_best_of_each_session_over_how_many_could_speak(
    rows: list[tuple[int, float]], best: int
) -> None:
    numbers = np.array([session for session, _ in rows], np.int32)
    got = session_means(numbers.astype(np.intp), np.array([score for _, score in rows], np.float64), best)
    for position, (session, score) in enumerate(rows):
        mates = [other for number, other in rows if number == session] if session >= 0 else [score]
        assert got[position] == pytest.approx(sum(sorted(mates, reverse=True)[:best]) / best)


def test_nothing_gives_nothing() -> None:
    assert session_means(np.zeros(0, np.intp), np.zeros(0)).size == 0


@pytest.mark.parametrize(
    ("sessions", "scores", "best", "argument"),
    [
        ([1], [0.5, 0.5], 3, "sessions"),
        ([1.5], [0.5], 3, "sessions"),
        ([1], [-0.5], 3, "scores"),
        ([1], [float("nan")], 3, "scores"),
        ([1], [0.5], 0, "best"),
    ],
)
def test_what_makes_no_sense_is_refused(
    sessions: list[float], scores: list[float], best: int, argument: str
) -> None:
    with pytest.raises(InvalidArgument, match=argument):
        best_sessions(sessions, scores, 5, best=best)


@given(turns, st.integers(0, 5), st.sampled_from([0.0, 0.5, 1.0]))
def test_the_best_sessions_are_those_of_the_largest_sums_with_their_best_memories(
    rows: list[tuple[int, float]], limit: int, fade: float
) -> None:
    numbers = np.array([session for session, _ in rows], np.int32)
    scores = [score for _, score in rows]
    found = best_sessions(numbers, scores, limit, fade=fade)
    names = {session if session >= 0 else -1 - place for place, (session, _) in enumerate(rows)}
    assert len(found) == min(limit, len(names))
    assert [score for score, _ in found] == sorted((score for score, _ in found), reverse=True)
    for score, who in found:
        session = rows[who[0]][0]
        mates = (
            [place for place in range(len(rows)) if rows[place][0] == session] if session >= 0 else [who[0]]
        )
        best = sorted((scores[place] for place in mates), reverse=True)[:3]
        assert [scores[place] for place in who] == best
        assert set(who.tolist()) <= set(mates)
        worth = [1, fade, fade * fade]
        assert score == pytest.approx(sum(map(float.__mul__, best, map(float, worth))) / sum(worth))
    if found and len(names) > limit:
        assert found[-1][0] == pytest.approx(
            sorted((score for score, _ in best_sessions(numbers, scores, 99, fade=fade)), reverse=True)[
                limit - 1
            ]
        )
