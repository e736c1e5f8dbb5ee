"""What compiled conditions ask Python about, where SQLite would be nearly right."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from memorata.store.sqlite.database import register

Called = Callable[..., object]


@pytest.fixture
def called() -> Iterator[Called]:
    """Call a function in SQL."""
    with closing(sqlite3.connect(":memory:")) as connection:
        register(connection)

        def call(name: str, *given: str) -> object:
            marks = ", ".join("?" * len(given))
            return connection.execute(f"SELECT memorata_{name}({marks})", given).fetchone()[0]

        yield call


def test_text_is_found_whatever_its_case_in_every_script(called: Called) -> None:
    for text, wanted in (
        ("GRÜNER TEE", "grüner"),
        ("STRASSE", "straße"),
        ("straße", "STRASSE"),
        ("ΣΑΣ", "σας"),
    ):
        assert called("contains", text, wanted.casefold()) == 1
    assert called("contains", "tea\0MILK", "milk") == 1
    assert called("contains", "tea", "tee") == 0


def test_a_list_has_a_text_exactly(called: Called) -> None:
    written = json.dumps(["tea", "a\0b", "100%"])
    assert [called("has", written, value) for value in ("tea", "a\0b", "100%")] == [1, 1, 1]
    assert [called("has", written, value) for value in ("te", "TEA", "a", "100_", "")] == [0] * 5


def test_metadata_is_compared_as_python_compares(called: Called) -> None:
    """Numbers from 2**53 on are told apart, and what is no number is no match."""
    metadata = json.dumps({"n": 2**53 + 1, "deep": {"x": "a"}, "flag": True})
    for filter_, holds in (
        ({"metadata.n": {">": 2**53}}, 1),
        ({"metadata.n": {">": 2**53 + 1}}, 0),
        ({"metadata.deep.x": "a"}, 1),
        ({"metadata.flag": {">": 0}}, 0),
        ({"metadata.none": {"exists": False}}, 1),
    ):
        assert called("metadata", metadata, json.dumps(filter_)) == holds
