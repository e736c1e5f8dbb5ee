"""Jobs over HTTP."""

import json
import threading
from collections.abc import Callable
from typing import Any

from starlette.testclient import TestClient

from memorata import Engine
from memorata.engine.access import Gatekeeper
from memorata.http.jobs import Job, Jobs


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
            job.progress(step, 1000, "stepping")
            go_on.wait(0.01)
        return {}

    job = client.app.state.service.jobs.start("steps", "default", "local", work)  # type: ignore[attr-defined]
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
    client = open_client(required=True, token=Gatekeeper(engine.store).create("a", ["acme"], ["write"])[1])
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
    gate, go_on = Gatekeeper(engine.store), threading.Event()
    answers = {}
    for scope in ("read", "write", "admin"):
        client = open_client(required=True, token=gate.create(scope, ["*"], [scope])[1])
        jobs: Jobs = client.app.state.service.jobs  # type: ignore[attr-defined]
        job = jobs.start("reembed", "*", "somebody", lambda job: {"over": go_on.wait(10)})
        assert client.get(f"/v1/jobs/{job.id}").status_code == 200
        answers[scope] = client.delete(f"/v1/jobs/{job.id}").status_code
    go_on.set()
    assert answers == {"read": 403, "write": 403, "admin": 200}


def test_a_key_with_too_many_jobs_in_hand_is_told_to_come_back(
    open_client: Callable[..., TestClient], engine: Engine
) -> None:
    gate, go_on = Gatekeeper(engine.store), threading.Event()
    token = gate.create("one", ["acme"], ["write"])[1]
    client = open_client(required=True, token=token)
    jobs: Jobs = client.app.state.service.jobs  # type: ignore[attr-defined]
    jobs.start("block", "*", "local", lambda job: {"over": go_on.wait(10)})
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
    key, token = Gatekeeper(engine.store).create("a guest", ["acme"], ["read"])
    client = open_client(required=True, token=token)
    service, go_on = client.app.state.service, threading.Event()  # type: ignore[attr-defined]

    def work(job: Job) -> dict[str, Any]:
        while not go_on.wait(0.01):
            job.progress(job.done + 1)
        return {}

    job = service.jobs.start("steps", "acme", "somebody", work)
    lines = []
    with client.stream("GET", f"/v1/jobs/{job.id}/events") as stream:
        for line in stream.iter_lines():
            lines.append(line)
            if len(lines) == 2:
                service.gate.revoke(key.id)
    assert job.state == "running"
    assert "event: progress" in lines
    assert "event: end" not in lines
    assert client.get(f"/v1/jobs/{job.id}/events").status_code == 401
    go_on.set()
