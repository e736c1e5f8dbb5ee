"""Review: groups side by side, decided one by one or together, and every decision can be taken back."""

import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

import memorata
from memorata.engine import Engine
from memorata_server.testing import TestClient
from memorata_server.web.app import create_pages


@pytest.fixture
def engine() -> Iterator[Engine]:
    """Return a memory in which two things were said twice, from before repeats were heard."""
    with memorata.open(":memory:", embedder="lexical", config={"duplicates": "off"}) as memory:
        memory.remember("Anna prefers green tea.", id="tea")
        memory.remember("Anna prefers green tea!", id="again")
        memory.remember("The <b>attic</b> key is under the mat.", id="key")
        memory.remember("The <b>attic</b> key is under the mat.", id="key2")
        memory.remember("Boris drinks coffee.", id="coffee")
        yield memory


def looked(client: TestClient, token: str, strategy: str = "keep_highest_confidence") -> str:
    form = {"token": token, "strategy": strategy}
    assert client.post("/review/find", data=form).status_code == 303
    end = time.monotonic() + 60
    while 'class="running"' in (page := client.get("/review").text) and time.monotonic() < end:
        time.sleep(0.01)
    return page


def current(engine: Engine) -> set[str]:
    return {memory.id for memory in engine.list().memories}


def run_of(location: str) -> str:
    return location.partition("run=")[2]


def test_before_anybody_looked_it_says_what_to_do(client: TestClient) -> None:
    assert "No search for duplicates yet" in client.get("/review").text


def test_looking_shows_the_groups_and_changes_nothing(client: TestClient, engine: Engine, token: str) -> None:
    page = looked(client, token)
    assert "2 groups among 5 memories" in page
    groups = [set(re.findall('name="memory" value="([^"]+)"', part)) for part in page.split("<form")]
    assert {"tea", "again"} in groups
    assert {"key", "key2"} in groups
    assert len(current(engine)) == 5
    assert "<b>attic" not in page


@pytest.mark.parametrize("keep", ["tea", "again"])
def test_one_is_kept_and_that_can_be_undone(
    client: TestClient, engine: Engine, token: str, keep: str
) -> None:
    looked(client, token)
    form = {"token": token, "memory": ["tea", "again"], "keep": keep}
    answer = client.post("/review/resolve", data=form)
    assert current(engine) & {"tea", "again"} == {keep}
    page = client.get(answer.headers["location"]).text
    assert "Resolved: 1 memory superseded." in page
    assert "1 group among" in page
    client.post("/review/undo", data={"token": token, "run": run_of(answer.headers["location"])})
    assert {"tea", "again"} <= current(engine)
    assert "undone" in client.get("/review").text


def test_merging_writes_a_memory_of_all_their_words(client: TestClient, engine: Engine, token: str) -> None:
    looked(client, token)
    client.post("/review/resolve", data={"token": token, "memory": ["tea", "again"], "do": "merge"})
    left = [memory for memory in engine.list().memories if "green tea" in memory.content]
    assert len(left) == 1
    assert [run.strategy for run in engine.admin.duplicates.runs()] == ["merge"]


def test_what_was_purged_since_it_was_found_is_not_shown(
    client: TestClient, engine: Engine, token: str
) -> None:
    assert "green tea" in looked(client, token)
    engine.purge("again")
    page = client.get("/review").text
    assert "green tea" not in page
    assert "attic" in page


def test_keeping_both_leaves_them_and_takes_them_off_the_list(
    client: TestClient, engine: Engine, token: str
) -> None:
    looked(client, token)
    client.post("/review/resolve", data={"token": token, "memory": ["tea", "again"], "do": "both"})
    assert len(current(engine)) == 5
    assert "1 group among" in client.get("/review").text


def test_all_at_once_as_proposed(client: TestClient, engine: Engine, token: str) -> None:
    looked(client, token)
    answer = client.post("/review/resolve-all", data={"token": token})
    assert len(current(engine)) == 3
    assert "Resolved: 2 memories superseded." in client.get(answer.headers["location"]).text


def test_what_was_settled_is_noted_by_how_it_was_proposed(
    client: TestClient, engine: Engine, token: str
) -> None:
    looked(client, token, "keep_most_recent")
    client.post("/review/resolve-all", data={"token": token})
    assert [run.strategy for run in engine.admin.duplicates.runs()] == ["keep_most_recent"]
    assert "keep most recent · 2 memories superseded" in client.get("/review").text


def test_bad_forms_change_nothing(client: TestClient, engine: Engine, token: str) -> None:
    def status(path: str, **form: object) -> int:
        return client.post(path, data={"token": token, **form}).status_code

    assert status("/review/resolve", memory=["tea", "again"], keep="tea") == 400
    assert status("/review/resolve-all") == 400
    looked(client, token)
    assert status("/review/resolve", memory=["tea", "coffee"], keep="tea") == 400
    assert status("/review/resolve", memory=["tea", "again"], keep="coffee") == 400
    assert status("/review/resolve", memory=["tea", "again"], do="explode") == 400
    assert status("/review/find", strategy="magic") == 400
    assert status("/review/undo", run="7") == 400
    assert len(current(engine)) == 5


@pytest.fixture
def torn() -> Iterator[tuple[Engine, TestClient, str]]:
    """Return a memory that has heard something and its opposite."""
    with memorata.open(":memory:", embedder="lexical") as memory:
        memory.remember("Anna lives in Berlin.", id="berlin")
        memory.remember("Anna no longer lives in Berlin.", id="gone")
        client = TestClient(create_pages(memory), base_url="http://localhost", follow_redirects=False)
        page = client.get("/memories").text
        yield memory, client, page.partition('name="token" value="')[2].partition('"')[0]


@pytest.mark.parametrize(("do", "left"), [("replace", {"gone"}), ("both", {"gone", "berlin"})])
def test_a_contradiction_is_decided(torn: tuple[Engine, TestClient, str], do: str, left: set[str]) -> None:
    engine, client, token = torn
    assert [(each.newer, each.older) for each in engine.admin.duplicates.contradictions()] == [
        ("gone", "berlin")
    ]
    assert "Anna no longer lives in Berlin." in client.get("/review").text
    form = {"token": token, "newer": "gone", "older": "berlin", "do": do, "because": "She moved."}
    assert client.post("/review/decide", data={**form, "because": ""}).status_code == 400
    assert client.post("/review/decide", data=form).status_code == 303
    assert current(engine) == left
    assert engine.admin.duplicates.contradictions() == ()
    assert client.post("/review/decide", data=form).status_code == 400


def test_summaries_wait_in_the_same_queue(client: TestClient, engine: Engine, token: str) -> None:
    long_ago = datetime(2026, 1, 1, tzinfo=UTC)
    for number in range(8):
        engine.remember(f"Green <i>tea</i> with Anna, cup {number}.", tier="episodic", created_at=long_ago)
    assert client.post("/review/themes", data={"token": token}).status_code == 303
    end = time.monotonic() + 60
    while 'class="running"' in (page := client.get("/review").text) and time.monotonic() < end:
        time.sleep(0.01)
    (proposal,) = engine.admin.lifecycle.summaries()
    assert "1 to decide" in page
    assert "proposed of 8 memories" in page
    assert "<i>tea" not in page
    assert "proposed of" not in client.get("/review?only=duplicates").text
    form = {"token": token, "summary": proposal.summary.id}
    assert client.post("/review/summary", data={**form, "do": "maybe"}).status_code == 400
    assert client.post("/review/summary", data={**form, "do": "accept"}).status_code == 303
    assert engine.admin.lifecycle.summaries() == ()
    assert proposal.summary.id in current(engine)
    assert "nothing to decide" in client.get("/review").text
