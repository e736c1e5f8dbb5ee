from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from memorata.store import memories as writing
from memorata.store import segments
from memorata.store.conformance import StoreConformance
from memorata.store.port import Entry, Page, Store
from memorata.store.sqlite.store import SqliteStore


class TestFile(StoreConformance):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        opened = SqliteStore(tmp_path / "memories.db", durable=False)
        yield opened
        opened.close()


class TestMemory(StoreConformance):
    @pytest.fixture
    def store(self) -> Iterator[Store]:
        opened = SqliteStore(":memory:")
        yield opened
        opened.close()


class TestSmallSegments(StoreConformance):
    """The same promises where nothing waits in the tail and segments are merged all the time."""

    @pytest.fixture
    def store(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
        monkeypatch.setattr(writing, "TAIL", 1)
        monkeypatch.setattr(segments, "TAIL", 1)
        monkeypatch.setattr(segments, "_FAN_OUT", 2)
        monkeypatch.setattr(segments, "SPAN", 16)
        opened = SqliteStore(":memory:", memory_budget=1)
        yield opened
        opened.close()


class Halving(SqliteStore):
    """Writes what comes before the mistake."""

    def add(self, entries: Sequence[Entry]) -> int:
        for each in entries:
            super().add([each])
        return 0


class Leaking(SqliteStore):
    """Answers for everybody."""

    def view(self, namespace: str, now: Any, **options: Any) -> Any:
        return super().view("acme/bob", now, **options)


class Forgetful(SqliteStore):
    """Loses the cursor."""

    def page(self, *given: Any, **options: Any) -> Page:
        return Page(super().page(*given, **options).memories, None)


class Remembering(SqliteStore):
    """Hides nothing."""

    def forget(self, namespace: str, ids: Sequence[str], now: Any) -> None:
        return None


SUITE = StoreConformance()


@pytest.mark.parametrize(
    ("broken", "check"),
    [
        (Halving, SUITE.test_a_batch_is_written_whole_or_not_at_all),
        (Leaking, SUITE.test_namespaces_do_not_see_each_other),
        (Forgetful, SUITE.test_pages_show_everything_once_newest_first),
        (Remembering, SUITE.test_what_is_forgotten_is_hidden_until_it_is_restored),
    ],
)
def test_the_suite_notices_a_store_that_breaks_its_promise(
    broken: type[SqliteStore], check: Callable[[Store], None]
) -> None:
    with closing(broken(":memory:")) as store, pytest.raises(AssertionError):
        check(store)
    with closing(SqliteStore(":memory:")) as store:
        check(store)
