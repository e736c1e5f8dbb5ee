"""What a ranking was made of, as columns: every number that the log keeps can be checked by hand."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from recollect.engine import Engine
from recollect.engine import open as open_engine
from recollect.engine.trace import RANK, written_down
from recollect.model.memory import Source
from recollect.model.place import Place

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
    found = engine.recall("green tea")
    assert found.trace is not None
    down = written_down(found.trace)
    column = {name: down.values[:, place].tolist() for place, name in enumerate(down.columns)}
    ids = engine.store.ids_of("default", down.slots.tolist())
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
    assert np.isnan(column["words"][at["d"]])
    assert column["meaning"][at["a"]] == pytest.approx(1.0, abs=1e-6)


def test_the_same_content_has_the_same_number(engine: Engine) -> None:
    engine.remember_many(["green tea", "green tea", "tea"], duplicates="off")
    found = engine.recall("green tea")
    assert found.trace is not None
    down = written_down(found.trace)
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
    assert f"words{RANK}" not in written_down(found.trace).columns
    found.trace.legs[1] = name, slots[::-1], np.full(slots.size, 0.5)
    down = written_down(found.trace)
    ranks = down.values[:, down.columns.index(f"words{RANK}")]
    assert down.slots[np.argsort(ranks)].tolist() == slots[::-1].tolist()


def test_nothing_found_leaves_no_trace(engine: Engine) -> None:
    assert engine.recall("anything").trace is None


def test_what_a_fusion_left_out_is_not_in_its_columns(engine: Engine) -> None:
    near = Place(48.0, 2.0)
    engine.remember_many(["green tea", {"content": "rain", "place": near}])
    found = engine.recall("green tea", recipe="openvault", near=near)
    assert found.trace is not None
    down = written_down(found.trace)
    assert down.values.shape == (len(down.slots), len(down.columns))
    assert engine.recalls()[0].shown == down.shown
