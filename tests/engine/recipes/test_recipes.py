import importlib.metadata

import pytest

import memorata
from memorata.engine import RECIPES, recipe
from memorata.engine.recipes import ShippedRecipes
from memorata.model import InvalidArgument
from memorata.model.errors import MissingExtra


def test_ours_and_the_published_ones_are_there() -> None:
    assert {"balanced", "fast", "bm25", "vector"} <= set(RECIPES)
    published = {
        "memento",
        "memini",
        "openvault",
        "haia",
        "semstreams",
        "azure",
        "elastic",
        "pinecone",
        "adaptive",
    }
    assert published <= set(RECIPES)
    for name, shipped in RECIPES.items():
        assert shipped.name == name
        assert shipped.doc.endswith(".")


def test_an_unknown_recipe_lists_those_there_are() -> None:
    with pytest.raises(InvalidArgument, match=r"recipe must be one of 'balanced', .* got 'best'"):
        recipe("best")


def test_a_threshold_is_carried_over_to_the_embedder_in_use_and_can_be_had_literally() -> None:
    facts = ["Anna drinks green tea with honey.", "Ben repairs violins in Tromsø.", "The rent is 900 euros."]
    questions = ["What does Anna drink?", "Who repairs violins?", "How much is the rent?"]
    with memorata.open(":memory:", embedder="builtin") as memory:
        memory.remember_many([{"content": fact, "confidence": 0.9} for fact in facts])
        for question, fact in zip(questions, facts, strict=True):
            assert [hit.memory.content for hit in memory.recall(question, recipe="haia")] == [fact]
        literal = memory.recall("What does Anna drink?", recipe={"base": "haia", "reference_noise": 0.0})
        assert literal.hits == ()
        assert literal.rejected is not None
        assert [missed.least for missed in literal.rejected.missed] == [0.75]


def test_a_published_recipe_without_its_satellite_names_the_line_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **chosen: ())
    alone = ShippedRecipes({"ours": {"doc": "Ours."}, "alike": {"like": "ours", "k1": 1.0}})
    assert list(alone) == ["ours", "alike"]
    assert (alone["alike"].doc, alone["alike"].k1, "theirs" in alone) == ("Ours.", 1.0, False)
    with pytest.raises(MissingExtra, match=r"the recipe haia needs .*: pip install . packages/memorata-lab"):
        alone["haia"]
