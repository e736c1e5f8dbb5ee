from typing import Any

import pytest

from memorata.http.limits import Limits
from memorata.model.errors import InvalidArgument


@pytest.mark.parametrize(
    "bad",
    [
        {"body": 0},
        {"stream": -1},
        {"rate": 0},
        {"rate": float("nan")},
        {"burst": 0},
        {"seconds": 0},
        {"threads": 0},
        {"threads": 1.5},
        {"waiting": -1},
    ],
)
def test_limits_that_let_nothing_through_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument, match=next(iter(bad))):
        Limits(**bad)


def test_no_rate_is_no_limit() -> None:
    assert Limits().rate is None
