import re

import pytest

from memorata.embed.subwords import SubwordReader
from memorata.text import tokens


def test_the_cache_of_words_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "MAX_CACHED_WORDS", 3)
    read: list[str] = []

    def once(word: str) -> tuple[int, ...]:
        read.append(word)
        return (len(word),)

    reader = SubwordReader(re.compile(r"\w+"), once)
    assert reader.ids("a bb a bb a") == [1, 2, 1, 2, 1]
    assert read == ["a", "bb"]
    assert reader.ids("ccc dddd a") == [3, 4, 1]
    assert read == ["a", "bb", "ccc", "dddd", "a"]
