"""A row that is none that was written names its memory."""

import pytest

from memorata.model.errors import StoreCorrupt
from memorata.store import rows


def test_a_row_of_nothing_names_its_memory() -> None:
    with pytest.raises(StoreCorrupt, match=r"the row of memory m1 cannot be read \(.+\); restore it from a"):
        rows.memory(["m1", *[None] * len(rows.COLUMNS)], "default")
