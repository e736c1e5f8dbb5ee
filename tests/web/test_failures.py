"""An error is a page with the right status, and a notice inside a page that is live."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from starlette.testclient import TestClient

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
from memorata.service.jobs import Jobs
from memorata.web.failures import failure
from memorata.web.values import Values
from memorata.web.visit import Visit

NOW = datetime(2026, 5, 20, tzinfo=UTC)


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
    visit = Visit(engine, "default", ("default",), Values({}), "/", {}, "", "", NOW, Jobs(lambda: NOW))
    assert failure(visit, error).status_code == status


def test_where_things_are_kept_is_told_to_those_who_run_the_server(engine: Engine) -> None:
    error = StoreUnavailable("/srv/secret.db is locked")
    visit = Visit(engine, "default", ("default",), Values({}), "/", {}, "", "", NOW, Jobs(lambda: NOW))
    for who, told in (
        (visit, True),  # nobody is asked for a key
        (replace(visit, login=True), True),
        (replace(visit, login=True, may_administer=False), False),
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
