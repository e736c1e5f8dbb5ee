"""Recipes over HTTP."""

import pytest

from memorata.engine import PARAMETERS, RECIPES
from memorata_server.testing import TestClient


def test_recipes_come_with_all_their_parameters(client: TestClient) -> None:
    found = client.get("/v1/recipes").json()
    assert (found["default"], found["saved"]) == ("balanced", [])
    assert [each["name"] for each in found["recipes"]] == list(RECIPES)
    one = next(each for each in found["recipes"] if each["name"] == "balanced")
    assert [each["name"] for each in one["parameters"]] == [each.name for each in PARAMETERS]
    weight = next(each for each in one["parameters"] if each["name"] == "vector_weight")
    assert (weight["type"], weight["low"], weight["high"]) == ("float", 0, 1)
    assert weight["value"] == RECIPES["balanced"].vector_weight


def test_a_recipe_of_ones_own_is_saved_used_and_taken_back(client: TestClient, tea: str) -> None:
    body = {"name": "mine", "base": "fast", "parameters": {"vector_weight": 0.25}, "evidence": {"by": "me"}}
    saved = client.post("/v1/recipes", json=body)
    assert (saved.status_code, saved.json()["versions"], saved.json()["evidence"]) == (201, 1, {"by": "me"})
    assert client.post("/v1/recipes/use", json={"name": "mine"}).json()["name"] == "mine"
    assert client.get("/v1/recipes").json()["default"] == "mine"
    assert client.post("/v1/recall", json={"query": "tea"}).json()["recipe"] == "mine"
    assert client.get("/v1/recipes", params={"namespace": "other"}).json()["default"] == "balanced"
    assert client.post("/v1/recipes/rollback", json={"name": None}).json()["name"] == "balanced"
    assert client.post("/v1/recipes/rollback", json={"name": "mine"}).status_code == 200
    assert client.get("/v1/recipes").json()["saved"] == []


def test_what_is_no_recipe_is_not_saved(client: TestClient) -> None:
    for bad in (
        {"name": "balanced"},
        {"name": "a b"},
        {"name": "mine", "base": "nobody"},
        {"name": "mine", "parameters": {"vector_weight": 2}},
        {"name": "mine", "parameters": {"nobody": 2}},
        {"name": "mine", "evidence": []},
    ):
        assert client.post("/v1/recipes", json=bad).status_code == 422
    assert client.post("/v1/recipes/use", json={"name": "nobody"}).status_code == 422
    assert client.post("/v1/recipes/use", json={}).status_code == 422
    assert client.get("/v1/recipes").json()["saved"] == []


@pytest.mark.parametrize("evidence", ['{"said": "\\ud800"}', '{"gain": NaN}', '{"gain": [1e999]}'])
def test_evidence_that_no_answer_could_hold_is_not_saved(client: TestClient, evidence: str) -> None:
    headers = {"Content-Type": "application/json"}
    body = f'{{"name": "mine", "evidence": {evidence}}}'
    answer = client.post("/v1/recipes", content=body, headers=headers)
    assert (answer.status_code, answer.json()["type"]) == (422, "memorata:invalid")
    assert client.get("/v1/recipes").json()["saved"] == []
