"""A suite: sets in one form, every recipe on each, one table."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from memorata.embed import open_embedder
from memorata.engine import RECIPES
from memorata.model.errors import DatasetError
from memorata_lab.evaluate.suite import LEVERS, run_suite, suite_rows, without_levers


def memory(name: str, text: str, session: str = "") -> dict[str, Any]:
    return {"id": name, "text": text, "speaker": "", "session": session, "position": None, "time": None}


def question(name: str, text: str, gold: list[str], **more: Any) -> dict[str, Any]:
    facts = {"id": name, "text": text, "time": None, "kind": "plain", "gold": gold, "gold_sessions": []}
    return facts | {"answerable": bool(gold)} | more


HAYSTACK = {
    "id": "h",
    "memories": [memory("a", "Anna drinks green tea", "x"), memory("b", "The key is under the mat", "y")],
    "questions": [
        question("1", "where is the key?", ["b"]),
        question("2", "where is the key?", ["b"], upto=1),
        question("3", "which zebra?", []),
        question("4", "who drinks tea?", [], gold_sessions=["x"], answerable=True, kind="sessions"),
    ],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, lines in (("two", [HAYSTACK]), ("pairs", [{"first": "a", "second": "b"}])):
        with gzip.open(tmp_path / f"{name}.jsonl.gz", "wt", encoding="utf-8") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
    return tmp_path


def test_a_row_for_each_set_and_recipe(folder: Path) -> None:
    recipes = [RECIPES["bm25"], RECIPES["balanced"]]
    asked = list(run_suite(folder, recipes, open_embedder("lexical")))
    assert [(row.set, row.recipe, row.questions) for row in suite_rows(asked)] == [
        ("two", "bm25", 3),
        ("two", "balanced", 3),
    ]
    # The second question was asked before its answer was there.
    assert suite_rows(asked)[1].hit1 == pytest.approx(2 / 3)
    assert suite_rows(asked)[1].auroc is not None
    kinds = {row.set: row.questions for row in suite_rows(asked, by_kind=True)}
    assert kinds == {"two: plain": 2, "two: sessions": 1}


def test_questions_can_be_bounded_and_sets_chosen(folder: Path) -> None:
    embedder = open_embedder("lexical")
    assert len(list(run_suite(folder, [RECIPES["fast"]], embedder, most_questions=2))) == 2
    assert not list(run_suite(folder, [RECIPES["fast"]], embedder, sets=["pairs"]))


def test_what_is_no_haystack_is_said(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "bad.jsonl.gz", "wt") as file:
        file.write('{"id": "h", "memories": [{"id": "a"}], "questions": []}\n')
    with pytest.raises(DatasetError, match="no haystack"):
        list(run_suite(tmp_path, [RECIPES["fast"]], None))


def test_a_recipe_without_each_lever_that_it_uses() -> None:
    default, *others = without_levers(RECIPES["balanced"])
    assert default is RECIPES["balanced"]
    assert [each.name for each in others] == [f"without {lever}" for lever in LEVERS]
    assert next(each for each in others if each.name == "without session").session_weight == 0
    # What plain words do not use, they cannot be without.
    unused = {"without texts read", "without what was said before, by words"}
    assert unused.isdisjoint(each.name for each in without_levers(RECIPES["bm25"]))
