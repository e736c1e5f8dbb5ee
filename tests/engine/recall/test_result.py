import re
from datetime import UTC, datetime

import memorata
from memorata.engine import RecallResult, Rejected
from memorata.engine.recall.result import MissedThreshold
from memorata.model import Explanation, Hit, Memory

TEA = Memory(id="m1", content="tea", created_at=datetime(2026, 5, 7, tzinfo=UTC))
HIT = Hit(TEA, 0.5, lambda: Explanation.leaf("relevance", 0.5))
MISSED = (MissedThreshold("similarity", 0.3, 0.6), MissedThreshold("confidence", 0.5, 0.65))


def test_an_answer_is_a_sequence_of_hits() -> None:
    answer = RecallResult((HIT,))
    assert (list(answer), len(answer)) == ([HIT], 1)
    assert len(RecallResult(())) == 0


def test_it_prints_as_a_short_table() -> None:
    with memorata.open(":memory:", embedder="lexical", clock=lambda: TEA.created_at) as memory:
        memory.remember("Anna drinks\n  green tea")
        memory.remember("Anna drinks green tea with Tom, " * 9)
        table = str(memory.recall("Who drinks green tea?"))
        row = r" *\d+%  2026-05-07  'Anna drinks green tea"
        assert sorted(bool(re.fullmatch(f"{row}'", line)) for line in table.splitlines()) == [False, True]
        assert sorted(bool(re.fullmatch(f"{row} .*…", line)) for line in table.splitlines()) == [
            False,
            True,
        ]
        lines = str(memory.recall("Tungsten melts?")).splitlines()
        assert lines[0] == "no hits"
        assert lines[1].startswith("refused: 'Anna drinks")
        assert "\nnote: nothing found of “3 May 2020”" in str(memory.recall("Who drank tea on 3 May 2020?"))
    assert str(RecallResult(())) == "no hits"


def test_plain_data_holds_everything() -> None:
    answer = RecallResult(
        (HIT,), ("no embedder",), Rejected(HIT, MISSED), (), "balanced", "e", 2, {"search": 1.0}
    )
    assert answer.as_dict(explain=True) == {
        "recall_id": "",
        "confidence": 0.0,
        "support": 0.0,
        "hits": [
            {
                "id": "m1",
                "score": 0.5,
                "confidence": 0.0,
                "refused": False,
                "content": "tea",
                "category": "fact",
                "created_at": "2026-05-07T00:00:00+00:00",
                "explanation": {"label": "relevance", "value": 0.5},
            }
        ],
        "refused": [],
        "degraded": ["no embedder"],
        "rejected": {
            "id": "m1",
            "score": 0.5,
            "reason": "similarity 0.300 is below 0.600 and confidence 0.50 is below 0.65",
            "missed": [
                {"measure": "similarity", "value": 0.3, "least": 0.6},
                {"measure": "confidence", "value": 0.5, "least": 0.65},
            ],
        },
        "history": [],
        "recipe": "balanced",
        "embedder": "e",
        "omitted": 2,
        "milliseconds": {"search": 1.0},
        "methods": {},
        "agreement": None,
        "period": None,
        "aliases": {},
        "meant": [],
        "sessions": [],
    }
    assert "explanation" not in answer.as_dict()["hits"][0]
