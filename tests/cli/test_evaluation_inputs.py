"""From what people type to what an evaluation is made of."""

from pathlib import Path

import pytest

from memorata.cli.evaluation_inputs import (
    dataset_of,
    embedders,
    measures_of,
    progress_of,
    recipes_of,
    reranker_of,
    run_files,
)
from memorata.cli.output import Output
from memorata.cli.session import Given, Session
from memorata.engine import RECIPES
from memorata.evaluate.sections import MEASURES
from memorata.model.errors import DatasetError, InvalidArgument


def test_no_names_are_all_recipes_and_the_usual_measures() -> None:
    assert recipes_of([], []) == list(RECIPES.values())
    assert measures_of(None) == list(MEASURES)


def test_names_are_taken_once_and_in_their_order() -> None:
    assert [recipe.name for recipe in recipes_of(["fast", "bm25", "fast"], [])] == ["fast", "bm25"]
    assert measures_of(["mrr", "any@3", "mrr"]) == ["mrr", "any@3"]


def test_a_changed_recipe_has_another_name() -> None:
    (changed,) = recipes_of(["balanced"], ["vector_weight=0.7", "k1=1.2"])
    assert (changed.name, changed.vector_weight, changed.k1) == (
        "balanced+vector_weight=0.7+k1=1.2",
        0.7,
        1.2,
    )


def test_options_of_a_format_have_their_types(home: Path) -> None:
    (home / "talks.json").write_text("[]")
    for said, meant in (("no", "False"), ("YES", "True")):
        assert (
            f"captions={meant}" in dataset_of("locomo", Path("talks.json"), None, [f"captions={said}"]).name
        )
    assert "turns=user" in dataset_of("longmemeval", Path("talks.json"), "user", []).name
    with pytest.raises(InvalidArgument, match="yes or no"):
        dataset_of("locomo", Path("talks.json"), None, ["captions=2"])


def test_folders_stand_for_the_runs_in_them(home: Path) -> None:
    for name in ("b.jsonl", "a.jsonl", "x.labels.jsonl", "a.machine.json"):
        (home / name).touch()
    assert run_files([home, home / "a.jsonl"]) == [home / "a.jsonl", home / "b.jsonl"]
    (home / "empty").mkdir()
    with pytest.raises(DatasetError, match="without run files"):
        run_files([home / "empty"])


def test_an_embedder_is_opened_only_for_recipes_that_need_one(home: Path) -> None:
    session = Session(Given())
    with embedders(session, [RECIPES["bm25"]], home, None) as found:
        assert found == (None, None)
    with embedders(session, [RECIPES["vector"]], home, None) as (lexical, timed):
        assert lexical is timed
        assert lexical is not None
    cache = home / "folder" / "vectors.db"
    with embedders(session, [RECIPES["vector"]], home, cache) as (cached, timed):
        assert cached is not timed
        assert cached is not None
        assert timed is not None
        assert cached.name == timed.name
    assert cache.exists()


def test_no_reranker_is_opened_where_none_is_asked_for(home: Path) -> None:
    assert reranker_of(Session(Given()), list(RECIPES.values())) is None


def test_in_a_log_progress_is_a_line_for_each_tenth(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_of(Output(), 2) as advance:
        for step in range(1, 201):
            advance(step / 100, "asking")
    assert capsys.readouterr().err.splitlines() == [f"{tenth} % done" for tenth in range(10, 101, 10)]
    with progress_of(Output(quiet=True), 1) as advance:
        advance(1.0, "asking")
    assert capsys.readouterr().err == ""
