"""What is counted, and under which number; what the counts are good for is in `test_database.py`."""

from memorata.store.postgres.writers import Writer, adding_up, adding_up_the_silent


def test_no_two_count_under_one_number() -> None:
    assert len({Writer().number for _ in range(100)}) == 100
    assert all(0 <= Writer().number < 2**62 for _ in range(100))


def test_a_count_is_what_the_writer_knows_and_not_one_more_than_the_row() -> None:
    assert "VALUES (7, 3, clock_timestamp())" in Writer(7, 2).counting()
    assert "writes = excluded.writes" in Writer(7, 2).counting()


def test_former_writers_are_never_among_the_silent() -> None:
    assert "number <> -1 AND heard <" in adding_up_the_silent()
    assert "'{1,2}'::bigint[]" in adding_up(iter([1, 2]))
