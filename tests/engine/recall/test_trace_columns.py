"""What a ranking was made of, as columns: every number that the log keeps can be checked by hand."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memorata.engine import Engine
from memorata.engine import open as open_engine
from memorata.engine.recall.fusion import Trace
from memorata.engine.recall.log import DAY, RANK, UNCHANGED_COLUMNS, TraceColumns, trace_columns
from memorata.index.record import MACHINE, RECORD, SPEAKER
from memorata.model.entity import Place
from memorata.model.memory import Source
from memorata.model.query import Query

NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)


@pytest.fixture
def engine() -> Iterator[Engine]:
    with open_engine(":memory:", embedder="lexical", clock=lambda: NOW) as memory:
        yield memory


def test_columns_hold_what_the_candidates_were_ranked_by(engine: Engine) -> None:
    old = NOW - timedelta(days=10)
    engine.remember_many(
        [
            {"id": "a", "content": "green tea", "created_at": old, "confidence": 0.5},
            {
                "id": "b",
                "content": "tea, said by a machine",
                "source": Source(speaker="assistant", session="s"),
            },
            {"id": "c", "content": "nothing of the kind", "source": Source(session="s")},
            {"id": "d", "content": "rain"},
        ]
    )
    found = engine.recall("green tea", recipe={"text_depth": 0})
    assert found.trace is not None
    (down,) = trace_columns([found.trace])
    column = {name: down.values[:, place].tolist() for place, name in enumerate(down.columns)}
    ids = engine.store.ids("default", down.slots.tolist())
    order = [ids[slot] for slot in down.slots.tolist()]
    assert order[: len(found)] == [hit.memory.id for hit in found]
    assert down.shown == tuple(range(len(found)))
    at = {name: order.index(name) for name in order}
    assert column["score"][0] == pytest.approx(found.hits[0].score)
    assert column["age"][at["a"]] == 10
    assert column["age"][at["b"]] == 0
    assert column["confidence"][at["a"]] == 0.5
    assert column["machine"][at["a"]] == 0
    assert column["machine"][at["b"]] == 1
    assert np.isnan(column["session"][at["a"]])
    assert column["session"][at["b"]] == column["session"][at["c"]]
    assert np.isnan(column["lexical"][at["d"]])
    assert column["vector"][at["a"]] == pytest.approx(1.0, abs=1e-6)


def test_the_same_content_has_the_same_number(engine: Engine) -> None:
    engine.remember_many(["green tea", "green tea", "tea"], duplicates="off")
    found = engine.recall("green tea")
    assert found.trace is not None
    (down,) = trace_columns([found.trace])
    repeats = down.values[:, down.columns.index("repeat")]
    assert len(down.slots) == 3
    assert np.isnan(repeats).sum() == 1
    assert len(found) == 2  # the repeat is logged and not shown
    assert down.shown == (0, 1)


def test_a_leg_whose_scores_do_not_tell_its_order_keeps_its_ranks(engine: Engine) -> None:
    engine.remember_many(["green tea", "red tea"])
    found = engine.recall("tea")
    assert found.trace is not None
    name, slots, _ = found.trace.legs[1]
    assert f"lexical{RANK}" not in trace_columns([found.trace])[0].columns
    found.trace.legs[1] = name, slots[::-1], np.full(slots.size, 0.5)
    (down,) = trace_columns([found.trace])
    ranks = down.values[:, down.columns.index(f"lexical{RANK}")]
    assert down.slots[np.argsort(ranks)].tolist() == slots[::-1].tolist()


def test_what_a_fusion_left_out_is_not_in_its_columns(engine: Engine) -> None:
    near = Place(48.0, 2.0)
    engine.remember_many(["green tea", {"content": "rain", "place": near}])
    found = engine.recall(Query("green tea", near=near), recipe="openvault")
    assert found.trace is not None
    (down,) = trace_columns([found.trace])
    assert down.values.shape == (len(down.slots), len(down.columns))
    assert engine.admin.feedback.recalls()[0].shown == down.shown


def one_by_one(trace: Trace) -> TraceColumns:
    """The slow and obvious way: a recall by itself, a leg after the other, a candidate after the other."""
    kept = trace.kept.tolist()
    order = kept + [place for place in range(trace.slots.size) if place not in kept]
    slots = trace.slots[order].tolist()
    records = [trace.records[trace.order[place]] for place in order]
    columns: dict[str, list[float]] = {"score": trace.scores[order].tolist()}
    for name, found, scores in trace.legs:
        said = [
            (slot, score)
            for slot, score in zip(found.tolist(), scores.tolist(), strict=True)
            if slot in slots
        ]
        columns[name] = [dict(said).get(slot, np.nan) for slot in slots]
        if said != sorted(said, key=lambda pair: (-np.float32(pair[1]), pair[0])):
            ranks = {slot: rank for rank, (slot, _) in enumerate(said)}
            columns[f"{name}{RANK}"] = [ranks.get(slot, np.nan) for slot in slots]
    if trace.unread.size:
        columns["unread"] = [float(slot in trace.unread) for slot in slots]
    if trace.near is not None:
        columns["near"] = [float(trace.near[trace.order[place]]) for place in order]
    now = trace.moment.now.timestamp()
    columns["age"] = [(now - record["created"]) / DAY for record in records]
    columns["event"] = [(now - record["event"]) / DAY for record in records]
    columns["session"] = [record["session"] if record["session"] >= 0 else np.nan for record in records]
    contents = [int(record["fingerprint"]) for record in records]
    known = sorted(set(contents))
    columns["repeat"] = [known.index(each) if contents.count(each) > 1 else np.nan for each in contents]
    columns["machine"] = [float(record["role"] == MACHINE) for record in records]
    columns["position"] = [float(record["position"]) for record in records]
    columns["spoken"] = [float(record["lengths"][SPEAKER] > 0) for record in records]
    columns |= {name: [float(record[name]) for record in records] for name in UNCHANGED_COLUMNS}
    values = np.array(list(columns.values()), np.float32).T
    return TraceColumns(np.array(slots), tuple(columns), values, tuple(trace.shown))


class _Moment:
    """All that columns need of a moment."""

    def __init__(self, now: datetime) -> None:
        self.now = now


def some_trace(seed: int, legs: tuple[str, ...]) -> Trace:
    """A recall that might have been: scores that tie, legs that found others, sessions and repeats."""
    random = np.random.default_rng(seed)
    size = int(random.integers(1, 12))
    trace = Trace.__new__(Trace)
    trace.slots = random.permutation(40)[:size]
    trace.scores = -np.sort(-random.integers(0, 5, size) / 4)
    trace.kept = random.permutation(size)[: random.integers(0, size + 1)]
    trace.shown = range(min(3, trace.kept.size))
    trace.order = random.permutation(size)
    trace.records = np.zeros(size, RECORD)
    for name, most in (("session", 3), ("fingerprint", 4), ("role", 2), ("created", 9), ("tier", 3)):
        trace.records[name] = random.integers(0, most, size)
    trace.records["session"] -= 1
    trace.unread = trace.slots[: random.integers(0, 2)]
    trace.near = random.random(size) if random.random() < 0.5 else None
    trace.legs = []
    for name in legs:
        found = random.permutation(40)[: random.integers(0, 20)]
        scores = random.integers(0, 4, found.size) / 3
        if random.random() < 0.5:
            best = np.lexsort((found, -scores))
            found, scores = found[best], scores[best]
        trace.legs.append((name, found, scores))
    trace.moment = _Moment(NOW + timedelta(hours=seed % 7))  # type: ignore[assignment]
    return trace


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 10**6), st.sampled_from([("vector", "lexical"), ("lexical",), ()])),
        max_size=6,
    )
)
def test_many_recalls_at_once_give_what_each_gives_alone(asked: list[tuple[int, tuple[str, ...]]]) -> None:
    traces = [some_trace(*each) for each in asked]
    for down, trace in zip(trace_columns(traces), traces, strict=True):
        wanted = one_by_one(trace)
        assert down.slots.tolist() == wanted.slots.tolist()
        assert down.columns == wanted.columns
        np.testing.assert_array_equal(down.values, wanted.values)
        assert down.shown == wanted.shown
