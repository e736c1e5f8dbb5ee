"""Both stores say the same of a row that is none that was written."""

from collections.abc import Callable
from typing import Any

import pytest

from memorata.model import Memory
from memorata.model.errors import StoreCorrupt
from memorata.store import rows as in_file
from memorata.store.postgres import rows as on_server


@pytest.mark.parametrize(
    ("read", "count"),
    [
        (lambda values: in_file.memory(values, "default"), len(in_file.COLUMNS) + 1),
        (lambda values: on_server.memory(values, "default"), len(on_server.COLUMNS) - 1),
    ],
)
def test_a_row_of_nothing_names_its_memory(read: Callable[[list[Any]], Memory], count: int) -> None:
    with pytest.raises(StoreCorrupt, match=r"the row of memory m1 cannot be read \(.+\); restore it from a"):
        read(["m1", *[None] * (count - 1)])
