"""Addresses carry the namespace where it is not the usual one, and leave out what is empty."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from memorata.engine import Engine
from memorata.model.errors import (
    AccessDenied,
    InvalidArgument,
    MemorataError,
    MemoryNotFound,
    NotEnoughData,
    ServiceUnreachable,
    StoreCorrupt,
    StoreReadOnly,
    StoreUnavailable,
    VersionConflict,
    WorkUnderWay,
)
from memorata_server.jobs import Jobs
from memorata_server.testing import TestClient
from memorata_server.web.context import PageContext, PageRoute, failure
from memorata_server.web.forms import Values

NOW = datetime(2026, 5, 20, tzinfo=UTC)


def context(engine: Engine, **more: object) -> PageContext:
    plain = PageContext(
        engine, "default", ("default",), Values({}), "/", {}, "", "token", NOW, Jobs(lambda: NOW)
    )
    return replace(plain, **more)  # type: ignore[arg-type]


def test_addresses(engine: Engine) -> None:
    here = context(engine)
    assert here.url("/memories/a b") == "/memories/a%20b"
    assert (
        here.url("/", {"q": "ä&b", "recipe": ""}, limit=None, tag=("x", "y")) == "/?q=%C3%A4%26b&tag=x&tag=y"
    )
    assert context(engine, namespace="acme/bob").url("/map") == "/map?namespace=acme%2Fbob"
    assert context(engine, prefix="/web").url("/map") == "/web/map"


def test_a_name_of_dots_is_no_way_up(engine: Engine) -> None:
    here = context(engine)
    assert here.url("/memories/a/../b") == "/memories/a%2F../b"
    assert here.url("/memories/./b/act") == "/memories%2F./b/act"
    assert here.url("/memories/..") == "/memories%2F.."
    assert here.url("/memories/.../.b") == "/memories/.../.b"


def test_going_on(engine: Engine) -> None:
    assert context(engine).go("/x").status_code == 303
    fragment = context(engine, fragment=True).go("/x")
    assert (fragment.status_code, fragment.headers["hx-redirect"]) == (204, "/x")


def test_whoever_only_looks_needs_to_read() -> None:
    def nothing(visit: PageContext) -> None:
        raise NotImplementedError

    assert PageRoute("/", nothing).scope == "read"  # type: ignore[arg-type]
    assert PageRoute("/", nothing, "POST").scope == "write"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (InvalidArgument("k", 1, "2"), 400),
        (AccessDenied("no"), 403),
        (MemoryNotFound("m", "n"), 404),
        (VersionConflict("m", 1, 2), 409),
        (WorkUnderWay("tune", "default", "kite", NOW), 409),
        (NotEnoughData("questions", 1, 20), 400),
        (ServiceUnreachable("no answer"), 503),
        (StoreReadOnly("m.db", "its folder may not be written"), 403),
        (StoreUnavailable("locked"), 503),
        (StoreCorrupt("broken"), 500),
    ],
)
def test_statuses(engine: Engine, error: MemorataError, status: int) -> None:
    context = PageContext(
        engine, "default", ("default",), Values({}), "/", {}, "", "", NOW, Jobs(lambda: NOW)
    )
    assert failure(context, error).status_code == status


def test_where_things_are_kept_is_told_to_those_who_run_the_server(engine: Engine) -> None:
    error = StoreUnavailable("/srv/secret.db is locked")
    context = PageContext(
        engine, "default", ("default",), Values({}), "/", {}, "", "", NOW, Jobs(lambda: NOW)
    )
    for who, told in (
        (context, True),  # nobody is asked for a key
        (replace(context, login=True), True),
        (replace(context, login=True, may_administer=False), False),
    ):
        text = bytes(failure(who, error).body).decode()
        assert ("secret.db" in text) == told
        assert ("log says why" in text) != told


def test_a_value_in_an_error_is_escaped(client: TestClient) -> None:
    answer = client.get("/", params={"recipe": "<script>x</script>"})
    assert answer.status_code == 400
    assert "<script>x" not in answer.text
    assert "&lt;script&gt;x" in answer.text


def test_a_live_page_gets_a_notice(client: TestClient) -> None:
    answer = client.get("/?q=x&vector_weight=2", headers={"HX-Request": "true", "HX-Target": "results"})
    assert answer.status_code == 400
    assert answer.text.startswith('<div class="notice bad" role="alert">')
    assert "<html" not in answer.text
