"""Who comes in: nobody through another name, nobody with a revoked key, no form from elsewhere."""

from collections.abc import Mapping

import pytest
from starlette.requests import Request
from starlette.responses import Response

from memorata.engine import Engine
from memorata.engine.access import LOCAL, Gatekeeper
from memorata.model.errors import AccessDenied, NotAdmitted
from memorata.web.door import COOKIE, Door
from memorata.web.signing import Visitor


def request(host: str = "localhost", cookie: str = "", headers: Mapping[str, str] | None = None) -> Request:
    given = {"host": host, **(headers or {})}
    if cookie:
        given["cookie"] = f"{COOKIE}={cookie}"
    raw = [(name.encode(), value.encode()) for name, value in given.items()]
    scope = {
        "type": "http",
        "method": "GET",
        "path": "/",
        "headers": raw,
        "scheme": "http",
        "query_string": b"",
    }
    return Request(scope)


def cookie_of(door: Door, guest_request: Request) -> str:
    response = Response()
    door.greet(response, guest_request, door.guest(guest_request).visitor)
    return response.headers["set-cookie"].partition("=")[2].partition(";")[0]


@pytest.mark.parametrize("host", ["localhost", "localhost:8000", "127.0.0.1:80", "127.0.0.2", "[::1]:8000"])
def test_without_a_key_a_loopback_name_may_come_in(host: str) -> None:
    assert Door(None).guest(request(host)).access == LOCAL


@pytest.mark.parametrize("host", ["evil.example", "192.168.1.5", "localhost.evil.example", "0.0.0.0", ""])
def test_without_a_key_no_other_name_may(host: str) -> None:
    with pytest.raises(AccessDenied, match="localhost"):
        Door(None).guest(request(host))


@pytest.mark.parametrize(
    ("host", "name"),
    [("localhost", "memorata"), ("localhost:8765", "memorata-8765"), ("[::1]", "memorata"),
     ("[::1]:80", "memorata-80")],
)  # fmt: skip
def test_two_servers_on_one_machine_leave_each_others_cookies_alone(host: str, name: str) -> None:
    response, door = Response(), Door(None)
    door.greet(response, request(host), door.guest(request(host)).visitor)
    assert response.headers["set-cookie"].partition("=")[0] == name


def test_with_keys_any_name_will_do_but_one_has_to_log_in(engine: Engine) -> None:
    guest = Door(Gatekeeper(engine.store)).guest(request("memory.example"))
    assert guest.access is None


def entered(door: Door, secret: str) -> tuple[Visitor, str]:
    visitor, response = door.log_in(secret), Response()
    door.greet(response, request(), visitor)
    return visitor, response.headers["set-cookie"].partition("=")[2].partition(";")[0]


def test_a_key_opens_until_it_is_revoked(engine: Engine) -> None:
    gate = Gatekeeper(engine.store)
    key, secret = gate.create("me", ["*"], ["read"])
    door = Door(gate)
    _, cookie = entered(door, secret)
    access = door.guest(request(cookie=cookie)).access
    assert access is not None
    assert access.name == key.id
    gate.revoke(key.id)
    assert door.guest(request(cookie=cookie)).access is None


def test_a_key_opens_until_the_visitor_leaves(engine: Engine) -> None:
    gate = Gatekeeper(engine.store)
    door = Door(gate)
    visitor, cookie = entered(door, gate.create("me", ["*"], ["read"])[1])
    assert door.guest(request(cookie=cookie)).access is not None
    door.log_out(visitor)
    assert door.guest(request(cookie=cookie)).access is None


def test_a_wrong_key_does_not_open(engine: Engine) -> None:
    with pytest.raises(NotAdmitted):
        Door(Gatekeeper(engine.store)).log_in("rcl_0000000000000000_" + "A" * 43)


def test_the_cookie_is_for_this_site_and_not_for_scripts() -> None:
    door, response = Door(None), Response()
    door.greet(response, request(), door.guest(request()).visitor)
    written = response.headers["set-cookie"].lower()
    assert "httponly" in written
    assert "samesite=strict" in written
    assert "secure" not in written


def test_a_form_needs_the_token_of_its_cookie() -> None:
    door = Door(None)
    here = request(cookie=cookie_of(door, request()))
    guest = door.guest(here)
    door.check_form(here, guest, door.token(guest.visitor))
    for token in ("", "0" * 64, door.token(door.guest(request()).visitor)):
        with pytest.raises(AccessDenied, match="too old"):
            door.check_form(here, guest, token)


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://["},
    ],
)
def test_a_form_from_another_site_is_refused_even_with_the_token(headers: dict[str, str]) -> None:
    door = Door(None)
    here = request(cookie=cookie_of(door, request()), headers=headers)
    guest = door.guest(here)
    with pytest.raises(AccessDenied, match="another site"):
        door.check_form(here, guest, door.token(guest.visitor))


def test_other_names_are_served_where_they_were_named() -> None:
    door = Door(None, hosts=["memory.home"])
    assert door.guest(request("memory.home:8000")).access == LOCAL
    with pytest.raises(AccessDenied):
        door.guest(request("other.home"))
