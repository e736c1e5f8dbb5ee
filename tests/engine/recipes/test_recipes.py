import pytest

import memorata
from memorata.engine import RECIPES, recipe
from memorata.model import InvalidArgument


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


def test_the_published_numbers() -> None:
    memento, memini, vault, haia = (RECIPES[name] for name in ("memento", "memini", "openvault", "haia"))
    assert (memento.fusion, memento.vector_weight, memento.coverage, memento.diversity) == (
        "aligned",
        0.7,
        "leg",
        "adaptive",
    )
    assert (memini.fusion, memini.vector_weight, memini.quality_weight, memini.temporal_boost) == (
        "relative",
        0.5,
        0.20,
        0.40,
    )
    assert [(pools.vector_pool, pools.lexical_pool) for pools in map(memini.for_limit, (1, 10, 20))] == [
        (50, 50),
        (50, 50),
        (100, 100),
    ]
    assert (vault.vector_weight, vault.blend_budget, vault.blend_threshold, vault.k1) == (0.7, 15, 0.5, 1.2)
    assert (haia.least_similarity, haia.least_confidence, haia.weighting) == (0.75, 0.50, "semantic")
    assert (RECIPES["azure"].fusion, RECIPES["azure"].vector_weight, RECIPES["azure"].rrf_k) == (
        "rrf",
        0.65,
        60,
    )
    assert (RECIPES["pinecone"].fusion, RECIPES["pinecone"].vector_weight) == ("zscored_rrf", 0.6)
    assert (RECIPES["semstreams"].path_decay, RECIPES["semstreams"].path_depth) == (0.85, 2)
    assert RECIPES["adaptive"].legs_by_query
    legs = {name: (each.graph, each.graph_weight) for name, each in RECIPES.items() if each.graph != "none"}
    assert legs.pop("confident") == legs.pop("precise") == legs["balanced"]
    # 3/7 beside meaning and words, which are 1 together, is 30 beside 70.
    assert legs == {"balanced": ("names", 0.25), "memento": ("walk", 3 / 7), "semstreams": ("paths", 0.5)}


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
