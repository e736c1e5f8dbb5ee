"""Who comes in: nobody through another name, nobody with a revoked key, no form from elsewhere."""

from collections.abc import Mapping

import pytest
from starlette.requests import Request
from starlette.responses import Response

from memorata.engine import Engine
from memorata.engine.access import LOCAL, ApiKeys
from memorata.model.errors import AccessDenied, NotAdmitted
from memorata_server.auth import Session
from memorata_server.testing import TestClient
from memorata_server.web.context import COOKIE, PageSessions


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


def cookie_of(sessions: PageSessions, page: Request) -> str:
    response = Response()
    sessions.set_cookie(response, page, sessions.browser(page).session)
    return response.headers["set-cookie"].partition("=")[2].partition(";")[0]


@pytest.mark.parametrize("host", ["localhost", "localhost:8000", "127.0.0.1:80", "127.0.0.2", "[::1]:8000"])
def test_without_a_key_a_loopback_name_may_come_in(host: str) -> None:
    assert PageSessions(None).browser(request(host)).access == LOCAL


@pytest.mark.parametrize("host", ["evil.example", "192.168.1.5", "localhost.evil.example", "0.0.0.0", ""])
def test_without_a_key_no_other_name_may(host: str) -> None:
    with pytest.raises(AccessDenied, match="localhost"):
        PageSessions(None).browser(request(host))


@pytest.mark.parametrize(
    ("host", "name"),
    [("localhost", "memorata"), ("localhost:8765", "memorata-8765"), ("[::1]", "memorata"),
     ("[::1]:80", "memorata-80")],
)  # fmt: skip
def test_two_servers_on_one_machine_leave_each_others_cookies_alone(host: str, name: str) -> None:
    response, sessions = Response(), PageSessions(None)
    sessions.set_cookie(response, request(host), sessions.browser(request(host)).session)
    assert response.headers["set-cookie"].partition("=")[0] == name


def test_with_keys_any_name_will_do_but_one_has_to_log_in(engine: Engine) -> None:
    browser = PageSessions(ApiKeys(engine.store)).browser(request("memory.example"))
    assert browser.access is None


def entered(sessions: PageSessions, secret: str) -> tuple[Session, str]:
    session, response = sessions.log_in(secret), Response()
    sessions.set_cookie(response, request(), session)
    return session, response.headers["set-cookie"].partition("=")[2].partition(";")[0]


def test_a_key_opens_until_it_is_revoked(engine: Engine) -> None:
    keys = ApiKeys(engine.store)
    key, secret = keys.create("me", ["*"], ["read"])
    sessions = PageSessions(keys)
    _, cookie = entered(sessions, secret)
    access = sessions.browser(request(cookie=cookie)).access
    assert access is not None
    assert access.name == key.id
    keys.revoke(key.id)
    assert sessions.browser(request(cookie=cookie)).access is None


def test_a_key_opens_until_the_visitor_leaves(engine: Engine) -> None:
    keys = ApiKeys(engine.store)
    sessions = PageSessions(keys)
    session, cookie = entered(sessions, keys.create("me", ["*"], ["read"])[1])
    assert sessions.browser(request(cookie=cookie)).access is not None
    sessions.log_out(session)
    assert sessions.browser(request(cookie=cookie)).access is None


def test_a_wrong_key_does_not_open(engine: Engine) -> None:
    with pytest.raises(NotAdmitted):
        PageSessions(ApiKeys(engine.store)).log_in("mem_0000000000000000_" + "A" * 43)


def test_the_cookie_is_for_this_site_and_not_for_scripts() -> None:
    sessions, response = PageSessions(None), Response()
    sessions.set_cookie(response, request(), sessions.browser(request()).session)
    written = response.headers["set-cookie"].lower()
    assert "httponly" in written
    assert "samesite=strict" in written
    assert "secure" not in written


def test_a_form_needs_the_token_of_its_cookie() -> None:
    sessions = PageSessions(None)
    here = request(cookie=cookie_of(sessions, request()))
    browser = sessions.browser(here)
    sessions.check_form(here, browser, sessions.token(browser.session))
    for token in ("", "0" * 64, sessions.token(sessions.browser(request()).session)):
        with pytest.raises(AccessDenied, match="too old"):
            sessions.check_form(here, browser, token)


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
    sessions = PageSessions(None)
    here = request(cookie=cookie_of(sessions, request()), headers=headers)
    browser = sessions.browser(here)
    with pytest.raises(AccessDenied, match="another site"):
        sessions.check_form(here, browser, sessions.token(browser.session))


def test_other_names_are_served_where_they_were_named() -> None:
    sessions = PageSessions(None, hosts=["memory.home"])
    assert sessions.browser(request("memory.home:8000")).access == LOCAL
    with pytest.raises(AccessDenied):
        sessions.browser(request("other.home"))


@pytest.mark.parametrize("path", ["/", "/memories", "/nowhere", "/memories/nobody", "/static/app.css"])
def test_every_answer_has_the_policy(client: TestClient, path: str) -> None:
    headers = client.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"


def test_pages_are_kept_by_nobody_and_scripts_are_checked_anew(client: TestClient) -> None:
    assert client.get("/").headers["cache-control"] == "no-store"
    assert client.get("/static/app.js").headers["cache-control"] == "no-cache"


def test_no_page_needs_what_the_policy_forbids(client: TestClient) -> None:
    for path in ("/?q=tea", "/memories", "/memories/tea"):
        page = client.get(path).text
        assert " style=" not in page
        assert "<style" not in page
        assert " onclick=" not in page
        assert "<script>" not in page
        assert "http://" not in page.replace("http://www.w3.org", "")
        assert "https://" not in page
