"""What the best of a session say for the whole of it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.model.errors import InvalidArgument
from memorata.rank.sessions import best_sessions, session_means

turns = st.lists(st.tuples(st.integers(-1, 3), st.floats(0, 10)), max_size=20)


@given(turns, st.integers(1, 4))
def test_it_is_the_sum_of_the_best_of_each_session_over_how_many_could_speak(
    rows: list[tuple[int, float]], best: int
) -> None:
    numbers = np.array([session for session, _ in rows], np.int32)
    got = session_means(numbers, [score for _, score in rows], best=best)
    for position, (session, score) in enumerate(rows):
        mates = [other for number, other in rows if number == session] if session >= 0 else [score]
        assert got[position] == pytest.approx(sum(sorted(mates, reverse=True)[:best]) / best)


def test_nothing_gives_nothing() -> None:
    assert session_means(np.zeros(0, np.int32), []).size == 0


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
        session_means(sessions, scores, best=best)


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
