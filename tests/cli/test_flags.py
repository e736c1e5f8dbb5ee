"""Flags take no value, and their help does not look as if they did."""

from collections.abc import Callable
from typing import Any

import pytest

Run = Callable[..., Any]


@pytest.mark.parametrize("command", [(), ("recall",), ("model",), ("model", "list"), ("tune", "weights")])
def test_no_type_stands_behind_a_flag(cli: Run, command: tuple[str, ...]) -> None:
    shown = cli(*command, "--help")
    assert shown.code == 0
    assert "bool" not in shown.out
    assert "--help" in shown.out


def test_what_takes_a_value_still_says_so(cli: Run) -> None:
    lines = cli("recall", "--help").lines
    assert any("--limit" in line and "int" in line for line in lines)
    assert any("--db" in line and "PATH" in line for line in lines)
