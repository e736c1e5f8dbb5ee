"""Arrays in text are read by a server as the lists they were made of, and its own as numpy's."""

import numpy as np
import psycopg
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memorata.store.postgres.arrays import array, register, text_array

TEXTS = st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\x00")))


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(-(2**31), 2**31 - 1)), st.lists(st.floats(allow_nan=False)), TEXTS)
def test_lists_come_back(url: str, numbers: list[int], fractions: list[float], texts: list[str]) -> None:
    with psycopg.connect(url) as connection:
        row = connection.execute(
            "SELECT %s::int[], %s::float8[], %s::text[]",
            (array(numbers), array(fractions), text_array(texts)),
        ).fetchone()
    assert row == (numbers, fractions, texts)


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.integers(-(2**31), 2**31 - 1)),
    st.lists(st.integers(-(2**63), 2**63 - 1)),
    st.lists(st.floats(allow_nan=False)),
)
def test_numbers_come_as_arrays(url: str, few: list[int], many: list[int], fractions: list[float]) -> None:
    with psycopg.connect(url) as connection, connection.cursor(binary=True) as cursor:
        register(cursor)
        values = (array(few), array(many), array(fractions))
        row = cursor.execute("SELECT %s::int[], %s::bigint[], %s::float8[]", values).fetchone() or ()
    assert [each.tolist() for each in row] == [few, many, fractions]
    assert [each.dtype for each in row] == [np.int32, np.int64, np.float64]
