"""The items of the five designs through the public verbs: open, remember, recall, and what a hit explains."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import memorata
from memorata import Engine
from memorata.engine import RecallResult
from memorata.engine.rules import DedupeRules
from memorata.engine.settings import Settings
from memorata.model.errors import EmbedderError, InvalidArgument

NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)


@pytest.fixture
def memory() -> Iterator[Engine]:
    with memorata.open(":memory:", embedder="lexical", clock=lambda: NOW) as engine:
        yield engine


def recall(memory: Engine, query: str, recipe: str = "balanced", **changes: object) -> RecallResult:
    return memory.recall(query, recipe={"base": recipe, **changes})


@pytest.mark.parametrize("adverb", ["usually", "normally"])
def test_a_question_about_habits_weighs_confidence_as_a_preference(memory: Engine, adverb: str) -> None:
    memory.remember("Docker containers are configured with compose files", confidence=0.5)
    question = f"How do I {adverb} configure Docker containers?"
    plain = recall(memory, question, "haia", confidence="none", least_similarity=0.0).hits[0]
    weighed = recall(memory, question, "haia", weighting="query", least_similarity=0.0).hits[0]
    assert weighed.score == pytest.approx(0.70 * plain.score + 0.30 * 0.5)


def test_the_seeds_of_a_walk_weigh_as_a_recipe_says(memory: Engine) -> None:
    memory.remember_many(
        [
            {"content": "Ana Kovač met Bruno Silva in Porto"},
            {"content": "Bruno Silva moved to Lisbon with Carla Dias"},
            {"content": "Carla Dias paints with Ana Kovač and Dora Novak"},
        ]
    )
    by_default, by_degree = (
        recall(memory, "Where did Bruno Silva meet somebody?", "memento", **changes)
        for changes in (
            {},
            {"seed_entity_weight": 0.0, "seed_memory_weight": 0.0, "seed_degree_weight": 1.0},
        )
    )
    assert [hit.score for hit in by_default] != [hit.score for hit in by_degree]
    with pytest.raises(InvalidArgument, match="seed_entity_weight"):
        recall(memory, "x", seed_entity_weight=0.0, seed_memory_weight=0.0, seed_degree_weight=0.0)


TEA = "green tea from Kyoto"


def aged(memory: Engine, days: float, **fields: Any) -> None:
    memory.remember(TEA, created_at=NOW - timedelta(days=days), duplicates="off", **fields)


def test_recency_and_importance_are_weights_of_their_own(memory: Engine) -> None:
    aged(memory, 30, importance=0.5)
    similarity = recall(memory, TEA, "vector").hits[0].score
    weights = {"recency_weight": 0.2, "recency_days": 30.0, "importance_weight": 0.1}
    hit = recall(memory, TEA, "vector", **weights).hits[0]
    assert hit.score == pytest.approx(0.7 * similarity + 0.2 * 0.5 + 0.1 * 0.5)
    assert hit.explanation.value == hit.score
    assert {"recency", "importance"} <= {node.label for node in hit.explanation.walk()}
    # Beside quality, as memini has them: relevance is divided by the best, and counts for what is left.
    quality = recall(memory, TEA, "vector", quality="additive", quality_weight=1.0).hits[0].score
    both = recall(memory, TEA, "vector", quality="additive", quality_weight=0.1, **weights).hits[0]
    assert both.score == pytest.approx(0.6 + 0.1 * quality + 0.2 * 0.5 + 0.1 * 0.5)
    factor = recall(memory, TEA, "vector", quality="multiplicative", quality_weight=0.1, **weights).hits[0]
    assert factor.score == pytest.approx(both.score)


def test_weights_of_a_memorys_own_leave_something_to_relevance(memory: Engine) -> None:
    with pytest.raises(InvalidArgument, match="recency_weight"):
        recall(memory, "x", recency_weight=0.9, importance_weight=0.2)


def test_alpha_and_beta_are_free(memory: Engine) -> None:
    aged(memory, 0, confidence=0.6)
    similarity = recall(memory, TEA, "vector").hits[0].score
    weights = {"confidence": "additive", "weighting": "fixed", "confidence_weight": 0.2}
    assert recall(memory, TEA, "vector", **weights).hits[0].score == pytest.approx(
        0.8 * similarity + 0.2 * 0.6
    )


def test_weights_follow_the_category_of_each_memory(memory: Engine) -> None:
    aged(memory, 0, category="preference", confidence=0.5)
    memory.remember(f"{TEA} and Uji", category="correction", confidence=0.5, duplicates="off")
    plain = {hit.memory.category: hit.score for hit in recall(memory, TEA, "vector")}
    changes = {"confidence": "additive", "weighting": "category"}
    hits = recall(memory, TEA, "vector", **changes).hits
    weighed = {hit.memory.category: hit.score for hit in hits}
    assert weighed["preference"] == pytest.approx(0.70 * plain["preference"] + 0.30 * 0.5)
    assert weighed["correction"] == pytest.approx(0.30 * plain["correction"] + 0.70 * 0.5)
    assert [hit.explanation.value for hit in hits] == [hit.score for hit in hits]


def test_confidence_may_be_a_ranked_list_of_its_own(memory: Engine) -> None:
    aged(memory, 0, confidence=0.4)
    memory.remember(f"{TEA} and Uji", confidence=0.9, duplicates="off")
    hits = recall(memory, TEA, "vector", confidence="rrf", weighting="balanced", rrf_k=60.0).hits
    assert {hit.memory.confidence: hit.score for hit in hits} == pytest.approx(
        {0.4: 0.5 / 61 + 0.5 / 62, 0.9: 0.5 / 62 + 0.5 / 61}
    )
    assert [hit.explanation.value for hit in hits] == [hit.score for hit in hits]


def test_four_factors_are_a_recipe(memory: Engine) -> None:
    aged(memory, 30, confidence=0.6)
    memory.remember(f"{TEA} and Uji", confidence=0.9, created_at=NOW, duplicates="off")
    plain = {hit.memory.confidence: hit.score for hit in recall(memory, TEA, "vector")}
    weighed = {hit.memory.confidence: hit.score for hit in recall(memory, TEA, "four_factor")}
    assert weighed[0.6] == pytest.approx(0.40 * plain[0.6] + 0.25 * 0.6 + 0.20 * 0.5)
    assert weighed[0.9] == pytest.approx(0.40 * plain[0.9] + 0.25 * 0.9 + 0.20)
    used = recall(memory, TEA, "vector")
    older = next(hit.memory.id for hit in used if hit.memory.confidence == 0.6)
    memory.admin.lifecycle.mark_used(older)
    again = {hit.memory.confidence: hit.score for hit in recall(memory, TEA, "four_factor")}
    assert again[0.6] == pytest.approx(weighed[0.6] + 0.15)


def test_adaptive_variety_is_decided_by_the_gap_of_the_scores_as_they_are(memory: Engine) -> None:
    texts = ["tea cup", "tea cup mug", "coffee pot jar lid"]
    memory.remember_many([{"content": text} for text in texts], duplicates="off")
    orders = {}
    kinds: dict[str, dict[str, Any]] = {
        "adaptive": {"diversity": "adaptive"},
        "0.5": {"diversity": "mmr", "trade": 0.5},
        "0.8": {"diversity": "mmr", "trade": 0.8},
    }
    for name, changes in kinds.items():
        hits = recall(memory, "tea coffee", "vector", least_similarity=0.0, **changes).hits
        orders[name] = [hit.memory.content for hit in hits]
        scores = [hit.score for hit in hits]
    assert max(scores) - sum(scores) / len(scores) < 0.1, "after a min-max it would be above 0.3"
    assert orders["adaptive"] == orders["0.5"] == [texts[0], texts[2], texts[1]]
    assert orders["0.8"] == texts


@pytest.mark.parametrize(
    ("strategy", "current"),
    [
        ("keep_first", ["Anna likes green tea"]),
        ("keep_highest_confidence", ["Anna likes green tea."]),
        ("keep_most_recent", ["Anna likes green tea."]),
        ("keep_both", ["Anna likes green tea", "Anna likes green tea."]),
    ],
)
def test_which_of_two_repeats_stays_is_a_setting(strategy: str, current: list[str]) -> None:
    settings = Settings(db=":memory:", embedder="lexical", dedupe={"strategy": strategy})
    with settings.open() as memory:
        first = memory.remember("Anna likes green tea", confidence=0.7)
        second = memory.remember("Anna likes green tea.", confidence=0.85)
        listed = memory.list().memories
        assert sorted(each.content for each in listed) == current
        if strategy in ("keep_highest_confidence", "keep_most_recent"):
            assert [(each.confidence, each.mentions) for each in listed] == [(0.85, 2)]
            assert memory.get(first.id).superseded_by == second.id


def test_the_threshold_of_repeats_is_a_setting() -> None:
    texts = ["Anna really likes green tea", "Anna likes green tea"]
    for threshold, count in ((0.7, 1), (0.95, 2)):
        with memorata.open(
            ":memory:", embedder="lexical", config={"dedupe": {"threshold": threshold}}
        ) as memory:
            for text in texts:
                memory.remember(text)
            assert len(memory.list().memories) == count


def test_rules_of_deduplication_come_from_files_and_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORATA_DEDUPE", '{"threshold": 0.9}')
    with Settings(db=":memory:", embedder="lexical").open() as memory:
        assert memory.runtime.dedupe == DedupeRules(threshold=0.9)
        assert memory.admin.duplicates.find(paraphrases=True).groups == ()
    for wrong, said in (
        ({"threshold": 2}, "threshold in dedupe"),
        ({"strategy": "x"}, "strategy"),
        ({"x": 1}, "dedupe"),
    ):
        with pytest.raises(InvalidArgument, match=said):
            Settings(dedupe=wrong)


@pytest.mark.parametrize(
    ("lines", "budget", "share"),
    [
        ("vectorSimilarityWeight = 12\nkeywordMatchWeight = 4", 12, 0.75),
        ("vectorSimilarityWeight = 15", 15, 0.7),
        ("keywordMatchWeight = 15", 15, 0.5),
    ],
)
def test_settings_of_the_old_form_are_migrated_and_say_so(
    tmp_path: Path, lines: str, budget: float, share: float
) -> None:
    (tmp_path / "old.toml").write_text(f'db = ":memory:"\nembedder = "lexical"\n{lines}\n')
    with Settings(config=str(tmp_path / "old.toml")).open() as memory:
        recipe = memory.admin.recipes.get()
        assert (recipe.name, recipe.fusion, recipe.blend_budget) == ("openvault", "alpha_blend", budget)
        assert recipe.vector_weight == pytest.approx(share)
        assert "as before: read as the recipe openvault" in memory.notes[0]
        memory.remember(TEA)
        assert memory.recall(TEA).recipe == "openvault"


def test_parameters_of_the_recipe_are_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORATA_PARAMETERS", '{"vector_weight": 0.9}')
    with Settings(db=":memory:", embedder="lexical").open() as memory:
        assert memory.admin.recipes.get().vector_weight == 0.9
    for wrong, said in (({"vector_weight": 2}, "vector_weight in parameters"), ({"x": 1}, "parameters")):
        with pytest.raises(InvalidArgument, match=said):
            Settings(parameters=wrong)
    with pytest.raises(InvalidArgument, match="a shipped one"):
        Settings(db=":memory:", recipe="own", embedder="lexical").open()


def test_what_matters_most_never_fades(memory: Engine) -> None:
    aged(memory, 3650, importance=1.0)
    memory.remember(f"{TEA} and Uji", created_at=NOW, importance=1.0, duplicates="off")
    for recipe in ("openvault", "vector"):
        changes = {} if recipe == "openvault" else {"fading": "importance", "fading_weight": 1.0}
        hits = recall(memory, TEA, recipe, **changes).hits
        assert hits[0].memory.content == TEA, "ten years have taken nothing of it"
        assert recall(memory, TEA, recipe, forgetting_floor=1.0, **changes).hits[0].score < hits[0].score


def test_prompts_are_chosen_from_a_list_and_a_change_says_what_will_happen(tmp_path: Path) -> None:
    file = tmp_path / "m.db"
    with Settings(db=file, embedder="builtin").open() as memory:
        memory.remember(TEA)
        own = memory.embedder
        assert own is not None
    with Settings(db=file, prompts="romance").open() as memory:
        assert memory.embedder is not None
        prompts = memory.embedder.prompts
        assert prompts.query == prompts.document == "task: romantic feelings | text: "
        told = next(note for note in memory.notes if note.startswith("prompts changed from own to romance"))
        assert "1 memory will be embedded again" in told
        assert "in about" in told
        memory.admin.reembed()
        assert memory.admin.use_prompts("relationship")[0].startswith("prompts changed from romance to")
        memory.admin.reembed()
    with Settings(db=file).open() as memory:
        assert memory.embedder is not None
        assert memory.embedder.prompts.query == "task: relationship of people | text: "
        with pytest.raises(EmbedderError, match="own"):
            memory.admin.use_prompts("own")
    with Settings(db=file, prompts="own").open() as memory:
        assert memory.embedder is not None
        assert memory.embedder.name == own.name
    with pytest.raises(InvalidArgument, match="prompts"):
        Settings(prompts="poetry")
