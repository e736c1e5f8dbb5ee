from datetime import UTC, datetime

import numpy as np
import pytest

from memorata.http.plain_data import plain
from memorata.model.memory import Memory, Tier
from memorata.store.port import Hidden

NOW = datetime(2026, 5, 7, tzinfo=UTC)


def test_everything_becomes_what_json_can_hold() -> None:
    given = {
        "n": np.float32(0.5),
        "all": np.array([1, 2]),
        "none": [float("inf"), float("nan"), None],
        "when": NOW,
        "tier": Tier.WORKING,
        "set": {"b", "a"},
        1: True,
        "hidden": Hidden("m1", NOW, NOW, True, "near"),
    }
    assert plain(given) == {
        "n": 0.5,
        "all": [1, 2],
        "none": [None, None, None],
        "when": "2026-05-07T00:00:00+00:00",
        "tier": "working",
        "set": ["a", "b"],
        "1": True,
        "hidden": {
            "memory_id": "m1",
            "forgotten_at": "2026-05-07T00:00:00+00:00",
            "superseded_at": "2026-05-07T00:00:00+00:00",
            "end_given": True,
            "repeat": "near",
        },
    }


def test_a_memory_is_shown_by_its_id_alone() -> None:
    assert plain([Memory(id="m1", content="marmalade", created_at=NOW)]) == ["m1"]


def test_what_has_no_plain_form_is_an_error() -> None:
    with pytest.raises(TypeError, match="no plain form"):
        plain(object())
