"""Jobs over HTTP."""

import json
import threading
from collections.abc import Callable
from typing import Any

from starlette.testclient import TestClient

from recollect import Engine
from recollect.engine.access import Gatekeeper
from recollect.http.jobs import Job, Jobs


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


def test_a_job_that_nobody_began_is_not_found(client: TestClient) -> None:
    for method, path in (("GET", ""), ("DELETE", ""), ("GET", "/events")):
        answer = client.request(method, f"/v1/jobs/nobody{path}")
        assert (answer.status_code, answer.json()["type"]) == (404, "recollect:not-found")


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
