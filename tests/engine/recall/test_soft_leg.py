"""Words of like meaning: what a table of token vectors says of candidates, and what it is asked about."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import memorata
from memorata.embed.token_table import LoadedTable
from memorata.engine import RECIPES, Recipe
from memorata.engine.recall.fusion import SOFT, fuse
from memorata.engine.recall.legs import search
from memorata.engine.recall.query import RecallContext
from memorata.engine.recall.soft_leg import soft_leg
from memorata.model.errors import ModelCorrupt

WORDS = ["where", "live", "home", "is", "porto", "tea", "green", "?"]
RECIPE = Recipe(name="soft", complete=True, soft_weight=0.5, least_match=0.0)


class Table:
    """Eight words, of which "home" is much like "live"."""

    name = "eight"
    languages: tuple[str, ...] = ("en",)
    trust = 1.0

    def __init__(self, error: Exception | None = None) -> None:
        self.read: list[str] = []
        self._error = error

    def load(self) -> LoadedTable:
        if self._error is not None:
            raise self._error
        rows = np.eye(len(WORDS), dtype=np.float32)
        rows[2] = 0.8 * rows[1] + 0.6 * rows[2]
        return LoadedTable(rows, np.array([0.1, 1, 1, 0, 1, 1, 1, 0]), self._ids, WORDS.__getitem__)

    def _ids(self, texts: Sequence[str]) -> list[list[int]]:
        self.read += texts
        words = [text.lower().replace("?", " ?").replace(".", "").split() for text in texts]
        return [[WORDS.index(word) for word in row if word in WORDS] for row in words]


Make = Callable[..., RecallContext]


def test_a_word_of_like_meaning_is_met(context: Make) -> None:
    said = context(["Home is Porto", "Green tea"], "Where live?", tables=[Table()])
    found = soft_leg(RECIPE, said, np.array([0, 1]))
    assert found.slots.tolist() == [0]
    assert found.scores.tolist() == [1.0]
    assert found.detail is not None
    assert "live" in found.detail(np.array([0])).names


def test_explanations_name_the_words_of_the_query() -> None:
    with memorata.open(":memory:", embedder="builtin") as memory:
        memory.remember("The job queue moved to PostgreSQL before the releases.")
        memory.remember("我喜欢绿茶")
        text = str(memory.recall("Was PostgreSQL in a release, with queues?").hits[0].explanation)
        for words in (r"\(.*PostgreSQL in content .*release in content", r"\(.*PostgreSQL \d.*queues \d"):
            assert re.search(words, text), words
        for piece in ("gre ", "releas ", "postgresql"):
            assert piece not in text
        assert "喜欢 in content" in str(memory.recall("喜欢什么茶").hits[0].explanation)
        memory.remember("The ponies are happy in the houses.")
        memory.remember("Das Haus hat viele Bäume.")
        text = str(memory.recall("Which pony is in a house?").hits[0].explanation)
        assert "pony in content" in text
        assert "poni" not in text
        assert "Häuser in content" in str(memory.recall("Welche Häuser haben Bäume?").hits[0].explanation)


def test_a_table_that_does_not_know_the_script_has_no_say(context: Make) -> None:
    table = Table()
    assert not soft_leg(RECIPE, context(["Porto"], "我住在哪里", tables=[table]), np.array([0])).slots.size
    assert table.read == []


def test_what_a_table_of_many_languages_is_not_trusted_with_goes_to_exact_words(context: Make) -> None:
    table = Table()
    table.languages, table.trust = ("en", "de", "fr", "es"), 0.5
    said = context(["live in Porto", "Home is Porto"], "live in Porto", tables=[table])
    legs = search(RECIPE, said)
    assert legs.soft.scores[0] == pytest.approx(0.5)
    told = fuse(RECIPE, said, legs).explain(0)
    parts = {part.label: part for part in told.parts}
    assert parts[SOFT].value == pytest.approx(0.5 * 0.5 * 0.5)
    assert parts["lexical"].value == pytest.approx(0.5 * (1 - 0.5 * 0.5))
    assert "at 50%: so far are token vectors of many languages trusted" in (parts[SOFT].note or "")


def test_a_weaker_embedder_counts_less_beside_words_of_like_meaning_and_in_full_without(
    context: Make,
) -> None:
    recipe = RECIPE.changed({"by_language": True})
    for tables, share in (([Table()], 0.5 * 0.6), ([], 0.5)):
        said = context(["live in Porto", "Green tea"], "live in Porto", tables=tables, reliability=0.6)
        told = fuse(recipe, said, search(recipe, said)).explain(0)
        vector = next(part for part in told.parts if part.label == "vector")
        assert vector.value == pytest.approx(share)
        assert ("at 60%" in (vector.note or "")) == bool(tables)


def test_without_a_table_words_have_all_of_their_share(context: Make) -> None:
    said = context(["I live in Porto", "Green tea"], "live in Porto")
    before = fuse(RECIPE.changed({"soft_weight": 0.0}), said, search(RECIPE, said))
    after = fuse(RECIPE, said, search(RECIPE, said))
    assert after.scores.tolist() == before.scores.tolist()


def test_the_fused_score_says_what_was_met(context: Make) -> None:
    said = context(["Home is Porto", "Green tea is my tea"], "Where live?", tables=[Table()])
    candidates = fuse(RECIPE, said, search(RECIPE, said))
    explanation = candidates.explain(candidates.slots.tolist().index(0))
    (part,) = [part for part in explanation.parts if part.label == SOFT]
    assert part.value == pytest.approx(0.25)
    assert "live" in part.note


def test_a_question_just_before_lends_its_words(context: Make) -> None:
    turns: list[dict[str, Any]] = [
        {"content": text, "source": {"speaker": "Anna", "session": "s", "position": place}}
        for place, text in enumerate(["Where is your home?", "Porto.", "Home is fine.", "Tea."])
    ]
    said = context(turns, "where live", tables=[Table()])
    slots = np.arange(4)
    alone = dict(zip(*(part.tolist() for part in _of(RECIPE, said, slots)), strict=True))
    assert 1 not in alone
    assert 3 not in alone
    recipe = RECIPE.changed({"soft_question": 0.9, "soft_before": 0.3})
    lent = dict(zip(*(part.tolist() for part in _of(recipe, said, slots)), strict=True))
    assert lent[1] == pytest.approx(0.9 * alone[0])
    assert lent[3] == pytest.approx(0.3 * alone[2])


def test_tokens_are_read_once(context: Make) -> None:
    table = Table()
    said = context(["Home is Porto", "Green tea"], "live", tables=[table])
    for _ in range(2):
        soft_leg(RECIPE, said, np.array([0, 1]))
    assert sorted(table.read) == ["Green tea", "Home is Porto", "live", "live"]


def test_two_tables_are_read_once_each(context: Make) -> None:
    one, other = Table(), Table()
    other.name, other.languages = "other", ("en", "de", "fr", "es")
    texts = ["Wir wohnen in der Stadt Porto", "Green tea"]
    said = context(texts, "live", tables=[other, one])
    for _ in range(2):
        soft_leg(RECIPE, said, np.array([0, 1]))
    assert sorted(one.read) == sorted(other.read) == sorted([*texts, "live", "live"])


def test_a_table_for_the_language_of_all_is_enough(context: Make) -> None:
    one, many = Table(), Table()
    many.name, many.languages = "many", ("en", "de", "fr", "es")
    said = context(["Home is Porto", "Wo wir wohnen, ist es schön"], "Where live?", tables=[many, one])
    alone = context(["Home is Porto", "Wo wir wohnen, ist es schön"], "Where live?", tables=[Table()])
    for slots, enough in (([0], True), ([0, 1], False)):
        found = soft_leg(RECIPE, said, np.array(slots))
        assert (many.read == []) is enough
        if enough:
            assert found.scores.tolist() == soft_leg(RECIPE, alone, np.array(slots)).scores.tolist()


def test_a_damaged_table_is_said_and_left_out(context: Make) -> None:
    said = context(["Home"], "live", tables=[Table(ModelCorrupt("it has another hash"))])
    assert not soft_leg(RECIPE, said, np.array([0])).slots.size
    assert "it has another hash" in said.failures[0]


def test_meaning_counts_only_as_far_as_the_language_is_known(context: Make) -> None:
    recipe = RECIPES["balanced"]
    said = context(["我住在波尔图", "喝茶"], "我住在哪里", familiarity=0.0)
    parts = fuse(recipe, said, search(recipe, said)).explain(0).parts
    assert {part.label: part.value for part in parts}["vector"] == 0


def _of(recipe: Recipe, said: RecallContext, slots: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    found = soft_leg(recipe, said, slots)
    return found.slots, found.scores
