"""One connection: how it is set up, and statements that are asked by the thousand."""

from collections.abc import Iterator

import numpy as np
import pytest

from memorata.store.postgres.connection import _CURSORS, Server, prepare


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


def test_a_number_is_read_to_its_last_bit_whatever_the_server_is_set_to(base: str) -> None:
    with Server.connect(base, options="-cextra_float_digits=-3", autocommit=True) as opened:
        prepare(opened, patience=5.0, statement_seconds=5.0)
        assert opened.execute("SELECT 1 / 3::float8").fetchone() == (1 / 3,)


def test_what_is_asked_often_is_prepared_where_nobody_stands_in_between(server: Server) -> None:
    for _ in range(10):
        server.execute("SELECT %s::int", (1,))
    row = server.execute("SELECT count(*) FROM pg_prepared_statements", prepare=False).fetchone()
    assert row == (1,)
