"""One who has a key, or none, against others who use the same server."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

import memorata
from memorata.engine import Engine
from memorata.engine.access import ApiKeys
from memorata.model.errors import InvalidArgument, NotAdmitted
from memorata.service.formats.record import Notes
from memorata.service.transfer import sources
from memorata_server import auth
from memorata_server.auth import FAILURES, RateLimiter, Sessions
from memorata_server.http import server as http_server
from memorata_server.http.app import create_api
from memorata_server.http.middleware import Limits
from memorata_server.sockets import check_network
from memorata_server.testing import TestClient
from memorata_server.web.app import create_pages

WRONG = "mem_0000000000000000_" + "A" * 43


@pytest.fixture
def engine() -> Iterator[Engine]:
    with memorata.open(":memory:", embedder="lexical") as opened:
        yield opened


@pytest.fixture
def keys(engine: Engine) -> ApiKeys:
    return ApiKeys(engine.store)


@pytest.fixture
def stopped_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop the clock of limits on invalid keys: on a busy machine a token comes back between two guesses."""
    monkeypatch.setattr(RateLimiter.__init__, "__defaults__", (lambda: 0.0,))


def test_logins_of_one_key_end_no_session_of_another(keys: ApiKeys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auth, "MAX_LOGINS", 3)
    mine, theirs = (keys.create(name, ["*"], ["read"])[1] for name in ("mine", "theirs"))
    sessions = Sessions(keys)
    session = sessions.log_in(mine)
    others = [sessions.log_in(theirs) for _ in range(20)]
    assert sessions.access(session) is not None
    assert [sessions.access(other) is not None for other in others] == [False] * 17 + [True] * 3


@pytest.mark.usefixtures("stopped_clock")
def test_keys_cannot_be_guessed_on_the_page(keys: ApiKeys) -> None:
    right = keys.create("mine", ["*"], ["read"])[1]
    sessions = Sessions(keys)
    for _ in range(FAILURES[1]):
        with pytest.raises(NotAdmitted, match="key"):
            sessions.log_in(WRONG, "10.0.0.1")
    with pytest.raises(NotAdmitted, match="too many invalid keys; try again in 1 s"):
        sessions.log_in(right, "10.0.0.1")
    assert sessions.access(sessions.log_in(right, "10.0.0.2")) is not None


@pytest.mark.untraced
@pytest.mark.usefixtures("stopped_clock")
def test_the_page_says_by_address_who_guesses(engine: Engine, keys: ApiKeys) -> None:
    right = keys.create("mine", ["*"], ["read"])[1]
    pages = create_pages(engine, keys=keys)
    client = TestClient(pages, client=("10.0.0.1", 1), follow_redirects=False)

    def log_in(key: str) -> tuple[int, str]:
        token = re.findall(r'name="token" value="([0-9a-f]+)"', client.get("/login").text)[0]
        answer = client.post("/login", data={"key": key, "token": token})
        return answer.status_code, answer.text

    for _ in range(FAILURES[1]):
        assert log_in(WRONG)[0] == 403
    status, text = log_in(right)
    assert status == 403
    assert "too many invalid keys" in text
    pages.state.jobs.close()


@pytest.mark.usefixtures("stopped_clock")
def test_a_guess_over_the_limit_is_not_even_looked_up(engine: Engine, keys: ApiKeys) -> None:
    right = keys.create("mine", ["*"], ["read"])[1]
    with TestClient(create_api(engine, keys), client=("10.0.0.1", 1)) as client:

        def status(key: str) -> int:
            return client.get("/v1/recipes", headers={"Authorization": f"Bearer {key}"}).status_code

        answers = [status(WRONG) for _ in range(FAILURES[1] + 1)]
        assert answers == [401] * FAILURES[1] + [429]
        assert status(right) == 429


def test_a_forged_header_changes_no_address_unless_a_proxy_is_trusted(
    engine: Engine, keys: ApiKeys, monkeypatch: pytest.MonkeyPatch
) -> None:
    configurations: list[Any] = []

    class Server:
        def __init__(self, config: Any, *rest: object) -> None:
            configurations.append(config)

        def run(self, sockets: object) -> None:
            return

    monkeypatch.setattr(http_server, "_Server", Server)
    api: FastAPI = create_api(engine, keys)
    http_server.serve(api, [], lambda: None)
    http_server.serve(api, [], lambda: None, ["10.0.0.0/8"])
    assert [config.proxy_headers for config in configurations] == [False, True]
    assert configurations[1].forwarded_allow_ips == ["10.0.0.0/8"]
    with pytest.raises(InvalidArgument, match="--trusted-proxy must be an address, or a network"):
        check_network("--trusted-proxy", "anybody")


def test_what_took_long_counts_for_many_requests(engine: Engine, keys: ApiKeys) -> None:
    token = keys.create("mine", ["*"], ["read"])[1]
    api = create_api(engine, keys, limits=Limits(rate=1, burst=30))
    with TestClient(api) as client:

        def status() -> int:
            return client.get("/v1/recipes", headers={"Authorization": f"Bearer {token}"}).status_code

        assert status() == 200
        (caller,) = (key.id for key in keys.list())
        api.state.server.rate.charge(caller, 40)
        assert status() == 429


def test_a_folder_gives_away_nothing_outside_of_it(tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("The password is tulip.")
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "tea.md").write_text("Anna prefers green tea.")
    (folder / "same.md").symlink_to("tea.md")
    (folder / "link.md").symlink_to(tmp_path / "secret.md")
    notes = Notes()
    labels = [source.label for source in sources(str(folder), None, notes)]
    assert labels == ["same.md", "tea.md"]
    assert [note["reason"] for note in notes.skipped] == ["a link to a file outside of the folder"]
