"""What was said twice, contradictions and summaries over HTTP."""

from memorata import Engine
from memorata_server.testing import TestClient


def test_a_repeat_counts_as_a_mention(client: TestClient, tea: str) -> None:
    again = client.post("/v1/memories", json={"content": "Coffee gives Bob headaches"}).json()
    assert again["mentions"] == 2


def test_a_run_is_listed_and_undone(client: TestClient, engine: Engine) -> None:
    for number in range(2):
        engine.remember("Anna likes green tea", id=f"m{number}", duplicates="off")
    engine.admin.duplicates.supersede(engine.admin.duplicates.find().groups)
    (run,) = client.get("/v1/duplicates/runs").json()["runs"]
    assert run["repeats"] == 1
    undone = client.post("/v1/duplicates/undo", json={"run": run["number"]}).json()
    assert (len(undone["reinstated"]), undone["left"]) == (1, [])
    assert client.post("/v1/duplicates/undo", json={}).status_code == 422


def test_a_contradiction_is_decided(client: TestClient, engine: Engine) -> None:
    old = client.post("/v1/memories", json={"content": "Anna lives in Berlin."}).json()["id"]
    new = client.post("/v1/memories", json={"content": "Anna does not live in Berlin."}).json()["id"]
    found = client.get("/v1/contradictions").json()["contradictions"]
    body = {"newer": new, "older": old, "contradicts": True, "because": "she moved"}
    decided = client.post("/v1/contradictions", json=body)
    assert [(each["newer"], each["older"]) for each in found] == [(new, old)]
    assert (decided.status_code, decided.json()["verdict"], decided.json()["decided_by"]) == (
        200,
        "contradicts",
        "local",
    )
    assert client.get(f"/v1/memories/{old}").json()["superseded_by"] == new
    assert client.get("/v1/contradictions").json() == {"contradictions": []}
    assert len(client.get("/v1/contradictions", params={"resolved": True}).json()["contradictions"]) == 1
    assert client.post("/v1/contradictions", json=body).status_code == 422
    assert client.post("/v1/duplicates/reinstate", json={"ids": [old]}).json() == {"done": 1}
    assert client.get(f"/v1/memories/{old}").json()["superseded_by"] is None
    assert client.post("/v1/duplicates/reinstate", json={"ids": [old]}).status_code == 422


def test_a_correction_supersedes(client: TestClient) -> None:
    old = client.post("/v1/memories", json={"content": "Anna works at Google"}).json()["id"]
    body = {"content": "Anna works at Meta", "category": "correction"}
    assert client.post("/v1/memories", json=body).json()["supersedes"] == [old]


def test_summaries_that_are_none_are_refused(client: TestClient, tea: str) -> None:
    assert client.get("/v1/summaries").json() == {"summaries": []}
    assert client.get("/v1/summaries", params={"state": "x"}).status_code == 422
    for accepted in (True, False):
        for ids, status in (([tea], 422), (["nobody"], 404)):
            body = {"ids": ids, "accepted": accepted}
            assert client.post("/v1/summaries", json=body).status_code == status
