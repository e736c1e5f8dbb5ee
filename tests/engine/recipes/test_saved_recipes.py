"""Recipes of one's own: saved with evidence, used by name or by default, and rolled back."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memorata.engine import RECIPES, Engine, Recipe
from memorata.engine import open as open_engine
from memorata.engine.saved_recipes import own_name
from memorata.model.errors import InvalidArgument

MINE = Recipe(name="whatever", vector_weight=0.25)


@pytest.fixture
def engine() -> Iterator[Engine]:
    with open_engine(":memory:", embedder="lexical") as memory:
        memory.remember("Anna prefers green tea")
        yield memory


def test_a_saved_recipe_is_found_by_name(engine: Engine) -> None:
    saved = engine.admin.recipes.save("mine", MINE, evidence={"gain": 0.1})
    assert (saved.recipe.name, saved.recipe.vector_weight, saved.versions) == ("mine", 0.25, 1)
    assert (saved.evidence, saved.in_use) == ({"gain": 0.1}, False)
    assert engine.recall("tea", recipe="mine").recipe == "mine"
    assert engine.admin.recipes.get("mine") == saved.recipe
    assert engine.admin.recipes.get(MINE) is MINE
    assert engine.admin.recipes.get() is RECIPES["balanced"]


def test_versions_are_rolled_back_one_by_one(engine: Engine) -> None:
    engine.admin.recipes.save("mine", MINE)
    engine.admin.recipes.save("mine", MINE.changed({"vector_weight": 0.75}))
    assert engine.admin.recipes.get("mine").vector_weight == 0.75
    assert engine.admin.recipes.rollback("mine").vector_weight == 0.25
    assert engine.admin.recipes.get("mine").vector_weight == 0.25
    assert engine.admin.recipes.rollback("mine") is RECIPES["balanced"]
    assert engine.admin.recipes.list() == ()
    with pytest.raises(InvalidArgument, match="recipe must be one of"):
        engine.admin.recipes.get("mine")
    with pytest.raises(InvalidArgument, match=r"a saved recipe, and there is none: recipes\.save makes one"):
        engine.admin.recipes.rollback("mine")


def test_a_namespace_uses_what_it_is_told(engine: Engine) -> None:
    engine.admin.recipes.save("mine", MINE)
    assert engine.admin.recipes.use("mine").name == "mine"
    assert engine.recall("tea").recipe == "mine"
    assert engine.recall("tea", recipe="fast").recipe == "fast"
    assert engine.admin.recipes.get(namespace="acme/bob") is RECIPES["balanced"]
    assert [each.in_use for each in engine.admin.recipes.list()] == [True]
    assert engine.admin.recipes.use("fast") is RECIPES["fast"]
    assert engine.admin.recipes.rollback().name == "mine"
    assert engine.admin.recipes.use(None) is RECIPES["balanced"]
    engine.admin.recipes.rollback()
    engine.admin.recipes.rollback("mine")
    assert engine.recall("tea").recipe == "balanced"  # what was in use is no more


def test_nothing_to_roll_back_is_said(engine: Engine) -> None:
    with pytest.raises(InvalidArgument, match="name must be given where no recipe was ever put in use"):
        engine.admin.recipes.rollback()
    engine.admin.recipes.save("mine", MINE)
    with pytest.raises(InvalidArgument, match="one of the saved recipes: mine"):
        engine.admin.recipes.rollback("balanced")


@pytest.mark.parametrize("name", ["", "two words", "balanced", "rollback", "use", "x" * 65])
def test_a_name_that_means_something_else_is_refused(engine: Engine, name: str) -> None:
    with pytest.raises(InvalidArgument, match="name must be"):
        engine.admin.recipes.save(name, MINE)


def test_a_name_nobody_has_is_refused_with_those_there_are(engine: Engine) -> None:
    engine.admin.recipes.save("mine", MINE)
    with pytest.raises(InvalidArgument, match="'mine', got 'yours'"):
        engine.recall("tea", recipe="yours")
    with pytest.raises(InvalidArgument, match="recipe must be one of"):
        engine.admin.recipes.use("yours")
    with pytest.raises(InvalidArgument, match="recipe must be a Recipe"):
        engine.admin.recipes.save("mine", "balanced")  # type: ignore[arg-type]


def test_a_memory_can_be_opened_with_a_saved_recipe(tmp_path: Path) -> None:
    with open_engine(tmp_path / "m.db", embedder="lexical") as engine:
        engine.admin.recipes.save("mine", MINE)
    with open_engine(tmp_path / "m.db", embedder="lexical", recipe="mine") as engine:
        assert engine.recipe.vector_weight == 0.25
    with pytest.raises(InvalidArgument, match="recipe must be one of"):
        open_engine(tmp_path / "m.db", embedder="lexical", recipe="yours")


def test_another_process_sees_what_is_in_use(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with open_engine(path, embedder="lexical") as one, open_engine(path, embedder="lexical") as two:
        assert two.admin.recipes.get() is RECIPES["balanced"]
        one.admin.recipes.save("mine", MINE)
        one.admin.recipes.use("mine")
        assert two.admin.recipes.get().name == "mine"


def test_a_purged_namespace_uses_nothing_of_its_own(engine: Engine) -> None:
    engine.admin.recipes.save("mine", MINE, namespace="acme/bob")
    engine.admin.recipes.use("mine", namespace="acme/bob")
    assert engine.admin.recipes.get(namespace="acme/bob").name == "mine"
    engine.admin.namespaces.purge("acme/bob")
    assert engine.admin.recipes.get(namespace="acme/bob") is RECIPES["balanced"]


@pytest.mark.parametrize("name", ["", "two words", "x" * 65, "use", "fast"])
def test_a_name_can_be_tried_before_there_is_anything_to_save(name: str) -> None:
    with pytest.raises(InvalidArgument, match="save_as must be"):
        own_name("save_as", name)
    assert own_name("save_as", "mine") == "mine"


@pytest.mark.parametrize(
    "evidence", [{"said": "\ud800"}, {"gain": float("nan")}, {"by": object()}, ["gain"], "x"]
)
def test_evidence_that_json_cannot_hold_is_not_saved(engine: Engine, evidence: Any) -> None:
    with pytest.raises(InvalidArgument, match="evidence must be a mapping that JSON can hold"):
        engine.admin.recipes.save("mine", MINE, evidence=evidence)
    assert engine.admin.recipes.list() == ()


def test_names_that_nobody_has_are_not_kept(engine: Engine) -> None:
    for number in range(50):
        with pytest.raises(InvalidArgument, match="recipe must be one of"):
            engine.admin.recipes.get(f"nobody{number}")
    assert len(engine.admin.recipes._recipes) == 0
    engine.admin.recipes.save("nobody7", MINE)
    assert engine.admin.recipes.get("nobody7").name == "nobody7"
