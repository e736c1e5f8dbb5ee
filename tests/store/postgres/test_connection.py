"""One connection: statements that are asked by the thousand, and the number it writes under."""

from collections.abc import Iterator

import numpy as np
import pytest

from recollect.store.postgres.connection import _CURSORS, Server, prepare


@pytest.fixture
def server(base: str) -> Iterator[Server]:
    with Server.connect(base, autocommit=True) as opened:
        prepare(opened, patience=5.0, statement_seconds=5.0)
        yield opened


def test_lists_of_numbers_come_as_arrays(server: Server) -> None:
    ((small, large, real, text, none),) = server.rows(
        "SELECT ARRAY[1, -2], ARRAY[3000000000], ARRAY[0.5::float8], ARRAY['a'], NULL::int[]", ()
    )
    assert (small.tolist(), small.dtype) == ([1, -2], np.dtype(np.int32))
    assert (large.tolist(), large.dtype) == ([3_000_000_000], np.dtype(np.int64))
    assert (real.tolist(), real.dtype) == ([0.5], np.dtype(np.float64))
    assert (text, none) == (["a"], None)


def test_texts_come_as_they_went_in_whichever_way_they_are_asked(server: Server) -> None:
    odd = "a\0b\x01c"
    assert server.rows("SELECT %s::text", (odd,)) == [(odd,)]
    assert server.execute("SELECT %s::text", (odd,)).fetchone() == (odd,)


def test_any_number_of_statements_can_be_asked(server: Server) -> None:
    for number in range(2 * _CURSORS + 1):
        assert server.rows(f"SELECT {number}", ()) == [(number,)]
    assert len(server._asking) <= _CURSORS


def test_the_same_statement_with_other_values_is_answered_anew(server: Server) -> None:
    assert [server.rows("SELECT %s::int", (number,)) for number in (1, 2)] == [[(1,)], [(2,)]]


def test_no_two_connections_write_under_one_number(base: str, server: Server) -> None:
    with Server.connect(base) as other:
        assert other.number != server.number
        assert 0 <= other.number < 2**62
