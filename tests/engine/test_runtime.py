import logging
from pathlib import Path

import pytest

import memorata
from memorata.model.errors import IndexCorrupt


def test_what_is_damaged_is_rebuilt_and_done_again(caplog: pytest.LogCaptureFixture) -> None:
    tries: list[int] = []

    def action() -> int:
        tries.append(len(tries))
        if len(tries) == 1:
            raise IndexCorrupt("a list is cut short")
        return 42

    with memorata.open(":memory:", embedder="lexical") as memory, caplog.at_level(logging.WARNING):
        memory.remember("green tea")
        assert memory.runtime.run(["default"], action) == 42
        assert len(memory.recall("green tea")) == 1
    assert tries == [0, 1]
    assert "rebuilding" in caplog.text
    assert "a list is cut short" in caplog.text


def test_damage_that_a_rebuild_does_not_mend_is_not_hidden() -> None:
    def action() -> None:
        raise IndexCorrupt("for good")

    with memorata.open(":memory:", embedder="lexical") as memory, pytest.raises(IndexCorrupt, match="good"):
        memory.runtime.run(["default"], action)


def test_what_is_only_read_is_not_rebuilt_and_the_damage_is_told(tmp_path: Path) -> None:
    def action() -> None:
        raise IndexCorrupt("a list is cut short")

    memorata.open(tmp_path / "m.db", embedder="lexical").close()
    with (
        memorata.open(tmp_path / "m.db", read_only=True) as memory,
        pytest.raises(IndexCorrupt, match=r"a list is cut short; .* only read: copy it .*--repair"),
    ):
        memory.runtime.run(["default"], action)


def test_words_are_those_of_the_analyser() -> None:
    with memorata.open(":memory:", embedder="lexical") as memory:
        tea = memory.remember("green teas")
        words = memory.runtime.terms_of(tea)
    assert words["content"] == {"green": 1, "tea": 1}
