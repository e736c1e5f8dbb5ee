from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from memorata.model import InvalidArgument, Period, Place, Query

DAY = datetime(2026, 5, 7, tzinfo=UTC)


def test_a_question_and_its_conditions() -> None:
    query = Query(
        text="What tea?",
        now=DAY.astimezone(timezone(timedelta(hours=-4))),
        limit=0,
        period=Period(DAY, DAY),
        place=Place(48.9, 2.4),
    )
    assert query.now == DAY
    assert query.now.tzinfo is UTC
    assert Query(text="", now=DAY).limit == 10
    assert Query(text="", now=DAY).namespace == "default"


@pytest.mark.parametrize(
    ("changes", "argument"),
    [
        ({"text": None}, "text"),
        ({"now": "today"}, "now"),
        ({"namespace": "a//b"}, "namespace"),
        ({"limit": -1}, "limit"),
        ({"limit": 2.5}, "limit"),
        ({"period": DAY}, "period"),
        ({"place": "Paris"}, "place"),
    ],
)
def test_a_bad_query_is_refused(changes: dict[str, Any], argument: str) -> None:
    values: dict[str, Any] = {"text": "What tea?", "now": DAY}
    with pytest.raises(InvalidArgument) as caught:
        Query(**values | changes)
    assert caught.value.argument == argument
