"""The dashboard of experiments: started by a form, shown as they stand, stopped, and the winner kept."""

import re
from dataclasses import replace

import pytest

from memorata.engine import Engine
from memorata_lab.learn.experiments import Experiments, ExperimentStatus
from memorata_server.testing import TestClient

FORM = {
    "name": "more meaning",
    "variant": "much",
    "vector_weight": "0.9",
    "graph_weight": "0",
    "users": "2",
    "days": "1",
}


def test_an_experiment_is_started_and_shown(client: TestClient, engine: Engine, token: str) -> None:
    assert "Nothing is being compared" in client.get("/experiments").text
    answer = client.post("/experiments", data={"token": token, **FORM, "share": "0.25"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/experiments")
    running = Experiments(engine).list()[0]
    assert [(each.name, each.weight) for each in running.experiment.variants] == [
        ("as it is", 0.75),
        ("much", 0.25),
    ]
    assert dict(running.experiment.variants[1].settings) == {"vector_weight": 0.9, "graph_weight": 0.0}
    page = client.get("/experiments").text
    assert "more meaning" in page
    assert "<code>vector_weight=0.9</code>" in page
    assert "No decision yet" in page


def test_what_users_did_is_counted(client: TestClient, engine: Engine, token: str) -> None:
    client.post("/experiments", data={"token": token, **FORM})
    for number in range(12):
        found = Experiments(engine).recall("more meaning", f"user {number}", "who drinks tea?")
        engine.admin.feedback.record(found.id, found.hits[0].memory.id, "click")
    page = client.get("/experiments").text
    users = [int(each) for each in re.findall(r"</td>\s*<td>(\d+)</td><td>\d+</td><td>100.0 %</td>", page)]
    assert sum(users) == 12


def test_stopping(client: TestClient, engine: Engine, token: str) -> None:
    client.post("/experiments", data={"token": token, **FORM})
    client.post("/experiments/stop", data={"token": token, "name": "more meaning"})
    assert Experiments(engine).list()[0].stopped is not None
    page = client.get("/experiments").text
    assert "stopped 20 May 2026" in page
    assert "Stop it" not in page


def test_only_a_winner_is_kept(
    client: TestClient, engine: Engine, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.post("/experiments", data={"token": token, **FORM})
    keep = {"token": token, "name": "more meaning", "recipe": "winner"}
    assert "Save the winner as" not in client.get("/experiments").text
    assert client.post("/experiments/keep", data=keep).status_code == 400
    assert engine.admin.recipes.list() == ()

    status_of = Experiments.status

    def decided(experiments: Experiments, name: str, *, namespace: str | None = None) -> ExperimentStatus:
        status = status_of(experiments, name, namespace=namespace)
        return replace(status, winner="much", reason="winner: 'much' is worth more")

    monkeypatch.setattr(Experiments, "status", decided)
    assert "Save the winner as" in client.get("/experiments").text
    assert client.post("/experiments/keep", data=keep).status_code == 303
    assert (engine.admin.recipes.get().name, engine.admin.recipes.get().vector_weight) == ("winner", 0.9)


@pytest.mark.parametrize(
    "change",
    [{"vector_weight": "0.5", "graph_weight": "0.25"}, {"vector_weight": "much"},
     {"vector_weight": "9"}, {"share": "2"}, {"share": "x"},
     {"method": "dice"}, {"users": "1"}, {"name": ""}],
)  # fmt: skip
def test_bad_forms_start_nothing(
    client: TestClient, engine: Engine, token: str, change: dict[str, str]
) -> None:
    assert client.post("/experiments", data={"token": token, **FORM, **change}).status_code == 400
    assert Experiments(engine).list() == ()


def test_nobody_stops_what_does_not_run(client: TestClient, token: str) -> None:
    assert client.post("/experiments/stop", data={"token": token, "name": "x"}).status_code == 404


def test_markup_in_a_name_is_text(client: TestClient, token: str) -> None:
    client.post("/experiments", data={"token": token, **FORM, "name": "<b>x</b>"})
    page = client.get("/experiments").text
    assert "<b>" not in page
    assert "&lt;b&gt;x" in page
