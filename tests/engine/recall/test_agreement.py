"""Several recalls, one answer: agreement is confidence, and a caller may require it."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.embed.lexical import LexicalEmbedder
from memorata.engine import Engine, RecallResult
from memorata.engine import open as open_engine
from memorata.engine.recall.agreement import agreement, rank_biased_overlap
from memorata.engine.recipes import Recipe
from memorata.model import Source
from memorata.model.errors import InvalidArgument
from memorata.model.query import Query

THINGS = [f"thing{first}{second}" for first in "abcdefgh" for second in "vwxyz"]
rankings = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8)


def overlap_slowly(first: list[str], second: list[str], persistence: float) -> float:
    """Depth by depth, with sets."""
    total = weights = 0.0
    for depth in range(1, max(len(first), len(second)) + 1):
        one, other = set(first[:depth]), set(second[:depth])
        total += persistence ** (depth - 1) * 2 * len(one & other) / (len(one) + len(other))
        weights += persistence ** (depth - 1)
    return total / weights if weights else 1.0


@given(rankings, rankings, st.floats(0.05, 0.99))
def test_the_overlap_is_what_counting_depth_by_depth_gives(
    first: list[str], second: list[str], p: float
) -> None:
    found = rank_biased_overlap(first, second, persistence=p)
    assert found == pytest.approx(overlap_slowly(first, second, p))
    assert found == pytest.approx(rank_biased_overlap(second, first, persistence=p))
    assert -1e-12 <= found <= 1 + 1e-12


@given(rankings)
def test_a_ranking_agrees_with_itself(ranking: list[str]) -> None:
    assert rank_biased_overlap(ranking, ranking) == pytest.approx(1)


def test_the_top_counts_most() -> None:
    base = ["a", "b", "c", "d"]
    assert rank_biased_overlap(base, ["b", "a", "c", "d"]) < rank_biased_overlap(base, ["a", "b", "d", "c"])
    assert rank_biased_overlap([], ["a"]) == 0


def test_agreement_is_the_mean_over_pairs() -> None:
    found = agreement([["a", "b"], ["a", "b"], ["c", "d"]], depth=2)
    assert found.confidence == pytest.approx(1 / 3)
    assert found.pairs.tolist() == [[1, 1, 0], [1, 1, 0], [0, 0, 1]]
    assert found.support == pytest.approx({"a": 2 / 3, "b": 2 / 3, "c": 1 / 3, "d": 1 / 3})
    assert list(found.support) == ["a", "b", "c", "d"]


def test_only_the_first_few_are_looked_at() -> None:
    assert agreement([["a", "b"], ["a", "c"]], depth=1).confidence == 1


def test_nothing_found_each_time_is_agreement_too() -> None:
    found = agreement([[], []])
    assert (found.confidence, dict(found.support)) == (1.0, {})


@pytest.mark.parametrize(
    "changes",
    [
        {"rankings": [["a"]]},
        {"rankings": "ab"},
        {"rankings": [["a", "a"], ["b"]]},
        {"rankings": [["a"], [5]]},
        {"depth": 0},
        {"persistence": 0},
        {"persistence": 1},
        {"persistence": float("nan")},
    ],
)
def test_bad_arguments(changes: dict[str, Any]) -> None:
    good: dict[str, Any] = {"rankings": [["a"], ["b"]], "depth": 2, "persistence": 0.9}
    with pytest.raises(InvalidArgument):
        agreement(**good | changes)


class NextThing(LexicalEmbedder):
    """Takes a query about a thing for one about the next, so that vectors and words disagree."""

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        at = next((at for at, thing in enumerate(THINGS) if thing in text), 0)
        return super().embed_query(f"A note about {THINGS[(at + 1) % len(THINGS)]}.")


@pytest.fixture
def engine() -> Iterator[Engine]:
    plain = Recipe(name="plain", vector_weight=0.9, vector_pool=20, lexical_pool=20, least_match=0.0)
    with open_engine(":memory:", embedder=NextThing(), recipe=plain) as memory:
        memory.remember_many([{"id": thing, "content": f"A note about {thing}."} for thing in THINGS])
        yield memory


def recall(engine: Engine, query: str, limit: int = 1, **changes: Any) -> RecallResult:
    return engine.recall(query, limit=limit, recipe={"samples": 2, **changes})


def test_meaning_and_words_that_disagree_make_little_confidence(engine: Engine) -> None:
    overlap = recall(engine, "what of thingav?").agreement
    assert overlap is not None
    assert overlap.samples == ("as asked", "vector leg alone", "lexical leg alone")
    assert overlap.confidence == pytest.approx(1 / 3)
    assert overlap.support == pytest.approx({"thingaw": 2 / 3, "thingav": 1 / 3})
    assert len(engine.admin.feedback.recalls()) == 1  # only what was asked is logged
    assert engine.recall("what of thingav?").agreement is None


def test_more_samples_leave_out_a_word_each() -> None:
    with open_engine(":memory:", embedder=None, recipe="confident") as engine:
        engine.remember("Anna prefers green tea")
        overlap = engine.recall("which tea does Anna prefer").agreement
        assert overlap is not None
        assert overlap.samples == (
            "as asked", "without 'prefer'", "without 'which'", "without 'does'", "without 'Anna'",
        )  # fmt: skip
        assert overlap.confidence == 1


def test_a_caller_may_require_agreement(engine: Engine) -> None:
    refused = recall(engine, "what of thingav?", least_agreement=0.5)
    assert refused.hits == ()
    assert refused.agreement is not None
    assert refused.agreement.refused == "the answers agree to 0.33, below 0.50"
    assert refused.rejected is not None
    assert refused.rejected.reason == refused.agreement.refused
    assert not engine.admin.feedback.recalls()[0].shown
    kept = recall(engine, "what of thingav?", limit=2, least_support=1.0)
    assert kept.agreement is not None
    assert all(kept.agreement.support[hit.memory.id] == 1 for hit in kept)


def test_other_words_are_samples_too(engine: Engine) -> None:
    query = "what of thingav?"
    found = engine.recall(Query(query, variants=["thingav, please"]), limit=1, recipe={"vector_weight": 0.0})
    assert found.agreement is not None
    assert found.agreement.samples == ("as asked", "as 'thingav, please'")
    assert found.hits[0].memory.id == "thingav"
    with pytest.raises(InvalidArgument, match="variants"):
        engine.recall(Query(query, variants="thingav"))


def test_one_sample_is_none() -> None:
    with open_engine(":memory:", embedder=None) as engine:
        engine.remember("tea")
        found = recall(engine, "tea")
        assert (found.agreement, len(found)) == (None, 1)
        assert "can be asked in one way only" in found.degraded[-1]
        several = engine.recall(Query("tea", variants=["some tea"])).agreement
        assert several is not None
        assert several.confidence == 1
        with pytest.raises(InvalidArgument, match="least_agreement"):
            recall(engine, "tea", least_agreement=2)


def test_sessions_are_kept_as_far_as_their_hits_are() -> None:
    with open_engine(":memory:", embedder="lexical") as memory:
        said = [f"tea with Anna, cup {cup}" for cup in range(3)] + ["Anna sails"]
        for place, content in enumerate(said):
            memory.remember(content, source=Source(session="kitchen", position=place), duplicates="off")
        memory.remember("tea for Bob", source=Source(session="garden"))
        # One session was asked for, and it has three hits.
        changes: dict[str, Any] = {"samples": 2}
        found = memory.recall(Query("tea with Anna", sessions=True), limit=1, recipe=changes)
        assert [len(each.hits) for each in found.sessions] == [3]
        assert found.agreement is not None
        assert set(found.agreement.support) >= {hit.memory.id for hit in found}
        changes["least_support"] = 0.8
        strict = memory.recall(
            Query("tea with Anna", variants=["Bob"], sessions=True), limit=2, recipe=changes
        )
        held = [hit for each in strict.sessions for hit in each.hits]
        assert held == list(strict.hits)
        assert 0 < len(held) < len(memory.recall(Query("tea with Anna", sessions=True), limit=2))
