"""Arrays in text are read by a server as the lists they were made of."""

import psycopg
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect.store.postgres.arrays import array, text_array

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
