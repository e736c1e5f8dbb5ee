"""The jobs that can be begun over HTTP."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from memorata import Engine
from memorata.http import long_work
from memorata.learn.training_set import TrainingSet
from memorata.model.errors import NotEnoughData


def ended(client: TestClient, kind: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    """Begin a job and return it at its end."""
    begun = client.post(f"/v1/jobs/{kind}", json=body)
    assert begun.status_code == 202, begun.text
    where = begun.headers["location"]
    assert client.app.state.service.jobs.find(where.rpartition("/")[2]).wait(60)  # type: ignore[attr-defined]
    found: dict[str, Any] = client.get(where).json()
    return found


def test_duplicates_are_shown_and_then_superseded(client: TestClient, engine: Engine) -> None:
    for number in range(3):
        engine.remember("Anna likes green tea in the morning", id=f"m{number}", duplicates="off")
    look = ended(client, "duplicates", {})
    assert (look["state"], look["result"]["count"], look["result"]["run"]) == ("done", 1, None)
    assert len(engine.list().memories) == 3
    (group,) = look["result"]["groups"]
    assert sorted([group["keep"], *group["repeats"]]) == ["m0", "m1", "m2"]
    assert ended(client, "duplicates", {"apply": True, "keep": ["nobody"]})["result"]["count"] == 0
    done = ended(client, "duplicates", {"apply": True, "keep": [group["keep"]]})
    assert done["result"]["run"]["repeats"] == 2
    assert len(engine.list().memories) == 1
    assert "green tea" not in str(done)


def test_upkeep_is_shown_and_then_done(client: TestClient, engine: Engine, tea: str) -> None:
    look = ended(client, "maintain", {"dry_run": True})
    assert (look["state"], look["result"]["dry_run"], look["result"]["expired"]) == ("done", True, [])
    assert ended(client, "maintain", {})["result"]["dry_run"] is False


def test_tuning_with_too_little_feedback_says_how_much_it_takes(client: TestClient, tea: str) -> None:
    failed = ended(client, "tune", {"save_as": "better"})
    assert failed["state"] == "failed"
    assert "too few to learn from" in failed["problem"]
    assert client.get("/v1/recipes").json()["saved"] == []


def test_a_long_search_keeps_its_lease(client: TestClient, tea: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[TrainingSet] = []

    def look(material: TrainingSet, *given: Any, **options: Any) -> Any:
        tried.append(material)
        raise NotEnoughData("questions", found=0, needed=20)

    monkeypatch.setattr(long_work, "tune_weights", look)
    assert ended(client, "tune", {})["state"] == "failed"
    assert [each.lease is not None for each in tried] == [True]


def test_everything_is_embedded_again(client: TestClient, tea: str) -> None:
    assert ended(client, "reembed", {"dry_run": True})["result"]["dry_run"] is True
    done = ended(client, "reembed", {})
    assert (done["state"], done["result"]["failed"]) == ("done", 0)


def test_the_database_is_looked_through(client: TestClient, tea: str) -> None:
    assert ended(client, "check")["result"] == {"problems": []}


def test_what_cannot_be_asked_is_refused(client: TestClient) -> None:
    for kind, bad in (
        ("duplicates", {"strategy": "toss"}),
        ("duplicates", {"apply": "yes"}),
        ("maintain", {"dry_run": 1}),
        ("tune", {"grid": []}),
        ("tune", {"nobody": 1}),
        ("reembed", {"batch": 0}),
    ):
        assert client.post(f"/v1/jobs/{kind}", json=bad).status_code == 422
    assert client.get("/v1/jobs").json() == {"jobs": []}


def test_what_another_server_does_is_not_done_here(client: TestClient, engine: Engine, tea: str) -> None:
    for kind, namespace in (("maintain", "default"), ("tune", "default"), ("reembed", "*")):
        lease = engine.store.leases.acquire(kind, namespace, "another server", 60, engine.now())
        assert lease is not None
        refused = ended(client, kind, {})
        assert refused["state"] == "failed"
        assert "is being done by another server" in refused["problem"]
        engine.store.leases.release(lease)
    assert ended(client, "maintain", {})["state"] == "done"
