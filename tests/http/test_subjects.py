"""All about somebody over HTTP, shown and removed."""

from starlette.testclient import TestClient

from memorata import Engine


def test_all_about_somebody_is_shown_and_removed(client: TestClient, engine: Engine, tea: str) -> None:
    client.post("/v1/relations", json={"subject": "Anna", "type": "knows", "object": "Bob"})
    found = client.get("/v1/about", params={"subject": "anna"}).json()
    assert [each["id"] for each in found["memories"]] == [tea]
    assert [each["type"] for each in found["relations"]] == ["knows"]
    assert found["entities"][0]["entity"]["name"] == "Anna"
    assert client.delete("/v1/about", params={"subject": "anna"}).json() == {"removed": 1}
    assert client.get("/v1/about", params={"subject": "anna"}).status_code == 404
    assert client.delete("/v1/about", params={"subject": "anna"}).status_code == 404
    assert client.delete("/v1/about").status_code == 422
    assert len(engine.list(hidden=True).memories) == 2


def test_a_namespace_is_removed_with_what_its_requests_were_answered_with(
    client: TestClient, engine: Engine
) -> None:
    there = {"namespace": "acme/alice"}
    client.post("/v1/memories", params=there, json={"content": "tea"}, headers={"Idempotency-Key": "a"})
    assert client.delete("/v1/namespaces", params=there).json() == {"removed": 1}
    assert client.get("/v1/namespaces").json() == {"namespaces": []}
    assert engine.store.replies.find("local", "a") is None
    assert client.delete("/v1/namespaces", params=there).status_code == 422


def test_a_purge_lets_go_of_what_jobs_found_there(client: TestClient, tea: str) -> None:
    begun = client.post("/v1/jobs/duplicates", json={}).headers["location"]
    assert client.app.state.service.jobs.find(begun.rpartition("/")[2]).wait(10)  # type: ignore[attr-defined]
    assert client.get(begun).status_code == 200
    client.post("/v1/memories/purge", json={"ids": [tea]})
    assert client.get(begun).status_code == 404


def test_a_namespace_that_is_to_go_has_to_be_named_even_if_it_is_the_server_s_own(
    client: TestClient, tea: str
) -> None:
    answer = client.delete("/v1/namespaces")
    assert (answer.status_code, answer.json()["detail"]) == (422, "query.namespace: Field required")
    assert client.get(f"/v1/memories/{tea}").status_code == 200
    assert client.delete("/v1/namespaces?namespace=default").json() == {"removed": 3}
