"""Jobs over HTTP: begun, looked at, watched, stopped."""

import json
import threading
from collections.abc import Callable
from typing import Any

import pytest

from memorata import Engine
from memorata.engine.access import ApiKeys
from memorata.model.errors import NotEnoughData
from memorata_lab.learn.training_set import TrainingSet
from memorata_server.jobs import Job, Jobs
from memorata_server.testing import TestClient


def test_a_check_is_begun_looked_at_and_watched_to_its_end(client: TestClient, tea: str) -> None:
    begun = client.post("/v1/jobs/check")
    assert (begun.status_code, begun.json()["kind"]) == (202, "check")
    where = begun.headers["location"]
    with client.stream("GET", f"{where}/events") as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        events = [line for line in stream.iter_lines() if line]
    assert events[-2] == "event: end"
    last = json.loads(events[-1].removeprefix("data: "))
    assert (last["state"], last["result"]) == ("done", {"problems": []})
    assert client.get(where).json() == last
    assert [job["id"] for job in client.get("/v1/jobs").json()["jobs"]] == [last["id"]]


def test_every_step_is_told_and_a_job_can_be_stopped(client: TestClient) -> None:
    go_on = threading.Event()

    def work(job: Job) -> dict[str, Any]:
        for step in range(1000):
            job.progress("stepping", step, 1000)
            go_on.wait(0.01)
        return {}

    job = client.app.state.server.jobs.start("steps", "default", "local", work)  # type: ignore[attr-defined]
    states = []
    with client.stream("GET", f"/v1/jobs/{job.id}/events") as stream:
        for line in stream.iter_lines():
            if line.startswith("data: "):
                states.append(json.loads(line.removeprefix("data: ")))
                if len(states) == 2:
                    assert client.delete(f"/v1/jobs/{job.id}").status_code == 200
    assert [state["state"] for state in states][-1] == "stopped"
    assert states[0]["done"] <= states[1]["done"]


def test_the_jobs_about_one_namespace_are_those_of_one_that_the_key_is_for(
    open_client: Callable[..., TestClient], engine: Engine
) -> None:
    client = open_client(required=True, token=ApiKeys(engine.store).create("a", ["acme"], ["write"])[1])
    assert client.post("/v1/jobs/maintain?namespace=acme", json={}).status_code == 202
    answers = {
        namespace: client.get("/v1/jobs", params={"namespace": namespace})
        for namespace in ("acme", "bolt", "a b", "*")
    }
    assert [answer.status_code for answer in answers.values()] == [200, 403, 422, 200]
    assert [len(answers[namespace].json()["jobs"]) for namespace in ("acme", "*")] == [1, 0]


def test_a_job_that_nobody_began_is_not_found(client: TestClient) -> None:
    for method, path in (("GET", ""), ("DELETE", ""), ("GET", "/events")):
        answer = client.request(method, f"/v1/jobs/nobody{path}")
        assert (answer.status_code, answer.json()["type"]) == (404, "memorata:not-found")


def test_a_job_about_everything_is_stopped_only_by_those_who_could_begin_it(
    open_client: Callable[..., TestClient], engine: Engine
) -> None:
    keys, go_on = ApiKeys(engine.store), threading.Event()
    answers = {}
    for scope in ("read", "write", "admin"):
        client = open_client(required=True, token=keys.create(scope, ["*"], [scope])[1])
        jobs: Jobs = client.app.state.server.jobs  # type: ignore[attr-defined]
        job = jobs.start("reembed", "*", "somebody", lambda job: {"over": go_on.wait(60)})
        assert client.get(f"/v1/jobs/{job.id}").status_code == 200
        answers[scope] = client.delete(f"/v1/jobs/{job.id}").status_code
    go_on.set()
    assert answers == {"read": 403, "write": 403, "admin": 200}


def test_a_key_with_too_many_jobs_in_hand_is_told_to_come_back(
    open_client: Callable[..., TestClient], engine: Engine
) -> None:
    keys, go_on = ApiKeys(engine.store), threading.Event()
    token = keys.create("one", ["acme"], ["write"])[1]
    client = open_client(required=True, token=token)
    jobs: Jobs = client.app.state.server.jobs  # type: ignore[attr-defined]
    jobs.start("block", "*", "local", lambda job: {"over": go_on.wait(60)})
    answers = [client.post("/v1/jobs/maintain?namespace=acme", json={}) for _ in range(5)]
    assert [answer.status_code for answer in answers] == [202, 202, 202, 202, 429]
    assert answers[-1].json()["type"] == "memorata:too-many"
    assert int(answers[-1].headers["retry-after"]) > 0
    first = answers[0].headers["location"]
    assert client.delete(first).json()["state"] == "stopped"
    assert client.post("/v1/jobs/maintain?namespace=acme", json={}).status_code == 202
    go_on.set()


def test_nobody_watches_on_with_a_key_that_was_revoked(
    open_client: Callable[..., TestClient], engine: Engine
) -> None:
    key, token = ApiKeys(engine.store).create("a guest", ["acme"], ["read"])
    client = open_client(required=True, token=token)
    server, go_on = client.app.state.server, threading.Event()  # type: ignore[attr-defined]

    def work(job: Job) -> dict[str, Any]:
        while not go_on.wait(0.01):
            job.progress("", job.done + 1)
        return {}

    job = server.jobs.start("steps", "acme", "somebody", work)
    lines = []
    with client.stream("GET", f"/v1/jobs/{job.id}/events") as stream:
        for line in stream.iter_lines():
            lines.append(line)
            if len(lines) == 2:
                server.keys.revoke(key.id)
    assert job.state == "running"
    assert "event: progress" in lines
    assert "event: end" not in lines
    assert client.get(f"/v1/jobs/{job.id}/events").status_code == 401
    go_on.set()


def ended(client: TestClient, kind: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    """Begin a job and return it at its end."""
    begun = client.post(f"/v1/jobs/{kind}", json=body)
    assert begun.status_code == 202, begun.text
    where = begun.headers["location"]
    assert client.app.state.server.jobs.find(where.rpartition("/")[2]).wait(60)  # type: ignore[attr-defined]
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


def test_thresholds_are_tuned_by_a_job(client: TestClient, engine: Engine) -> None:
    for number in range(25):
        engine.remember(f"Route {number} has the code K{number * 37}.", id=f"route{number}")
    for number in range(25):
        found = engine.recall(f"code of route {number}", limit=3)
        for hit in found:
            kind = "yes" if hit.memory.id == f"route{number}" else "no"
            engine.admin.feedback.record(found.id, hit.memory.id, "relevant", kind)
    done = ended(client, "tune", {"thresholds": "f1", "save_as": "gated"})
    assert done["state"] == "done", done
    assert set(done["result"]["evidence"]["setting"]) == {"least_similarity", "least_confidence"}
    assert (done["result"]["saved"] == "gated") == done["result"]["accepted"]
    assert client.post("/v1/jobs/tune", json={"thresholds": "luck"}).status_code == 422


def test_a_long_search_keeps_its_lease(client: TestClient, tea: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[TrainingSet] = []

    def look(material: TrainingSet, *given: Any, **options: Any) -> Any:
        tried.append(material)
        raise NotEnoughData("questions", found=0, needed=20)

    monkeypatch.setattr("memorata_lab.jobs.tune_weights", look)
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
