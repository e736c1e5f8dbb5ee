"""The table of limits in the docs says what the code does."""

import importlib
import re
from pathlib import Path

import pytest

from memorata.model import memory
from memorata.store import filters
from memorata_server import connections, schemas

TABLE = Path(__file__).parents[1] / "docs" / "limits.md"
_ROW = r"^\|.*\| ([\d,]+) \| `([\w.]+)\.(\w+)` \|$"
ROWS = re.findall(_ROW, TABLE.read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize(("value", "module", "name"), ROWS)
def test_a_limit_is_what_the_table_says(value: str, module: str, name: str) -> None:
    assert f"{getattr(importlib.import_module(module), name):,}" == value


@pytest.mark.parametrize("module", [memory, schemas, filters, connections])
def test_every_limit_is_in_the_table(module: object) -> None:
    names = {name for name in vars(module) if name.startswith("MAX_")}
    assert names
    assert names <= {name for _, _, name in ROWS}
