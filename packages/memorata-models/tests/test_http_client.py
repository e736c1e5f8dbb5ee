import gzip
import pickle
import random
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from email.utils import formatdate
from pathlib import Path
from threading import Thread
from time import monotonic, sleep
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.embed.circuit_breaker import RetryPolicy
from memorata.model.errors import (
    EmbeddingServiceError,
    InvalidArgument,
    ServiceAnswerInvalid,
    ServiceRefused,
    ServiceUnreachable,
)
from memorata_models import http_client
from memorata_models.http_client import authorised, checked_address, post_json


class Waiting:
    """A retry that notes its pauses instead of sleeping."""

    def __init__(self, **settings: Any) -> None:
        self.pauses: list[float] = []
        self.retry = RetryPolicy(
            **{"first_pause": 1.0, "random": lambda: 1.0, "sleep": self.pauses.append, **settings}
        )


def test_an_answer_is_decoded(service: Any, reply: Callable[..., Any]) -> None:
    service.says(reply({"ok": [1, 2]}))
    assert post_json(service.address + "/x?y=1", {"a": "ä"}, {"X-Key": "k"}, RetryPolicy()) == {"ok": [1, 2]}
    assert service.asked == [{"a": "ä"}]
    assert service.paths == ["/x?y=1"]
    assert service.headers[0]["X-Key"] == "k"
    assert service.headers[0]["Content-Type"] == "application/json"


@pytest.mark.parametrize("headers", [{}, {"Connection": "close"}])
def test_no_socket_stays_open(
    service: Any, reply: Callable[..., Any], headers: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[socket.socket] = []
    connect = socket.create_connection

    def noted(*arguments: Any, **settings: Any) -> socket.socket:
        opened.append(connect(*arguments, **settings))
        return opened[-1]

    monkeypatch.setattr(socket, "create_connection", noted)
    service.says(reply({"ok": 1}, headers=headers), reply(status=500, headers=headers), reply({}, cut=True))
    assert post_json(service.address, {}, {}, RetryPolicy()) == {"ok": 1}
    with pytest.raises(ServiceUnreachable):
        post_json(service.address, {}, {}, Waiting(attempts=2).retry)
    assert [connection.fileno() for connection in opened] == [-1] * 3


def test_a_service_that_recovers_is_asked_again(service: Any, reply: Callable[..., Any]) -> None:
    service.says(reply(status=500), reply(status=503), reply({"ok": True}))
    waiting = Waiting()
    assert post_json(service.address, {}, {}, waiting.retry) == {"ok": True}
    assert waiting.pauses == [1.0, 2.0]


def test_a_service_that_does_not_recover_is_given_up(service: Any, reply: Callable[..., Any]) -> None:
    service.says(*[reply(b"on fire", status=500)] * 4)
    waiting = Waiting()
    with pytest.raises(ServiceUnreachable, match=r"500 .*on fire.*gave up after 4 attempts"):
        post_json(service.address, {}, {}, waiting.retry)
    assert waiting.pauses == [1.0, 2.0, 4.0]


def test_the_server_says_when_to_come_back(service: Any, reply: Callable[..., Any]) -> None:
    busy = [reply(status=429, headers={"Retry-After": "7"}), reply(status=503, headers={"Retry-After": "0"})]
    service.says(*busy, reply({}))
    waiting = Waiting()
    post_json(service.address, {}, {}, waiting.retry)
    assert waiting.pauses == [7.0, 0.0]


def test_the_server_may_say_it_as_a_date(service: Any, reply: Callable[..., Any]) -> None:
    service.says(
        reply(status=429, headers={"Retry-After": formatdate(1_000_012, usegmt=True)}),
        reply(status=429, headers={"Retry-After": formatdate(999_999, usegmt=True)}),
        reply(status=429, headers={"Retry-After": "soon"}),
        reply({}),
    )
    waiting = Waiting(wall_clock=lambda: 1_000_000.0)
    post_json(service.address, {}, {}, waiting.retry)
    # Twelve seconds from now; a moment ago; and a date nobody can read, for which the usual pause applies.
    assert waiting.pauses == [12.0, 0.0, 4.0]


def test_nobody_waits_an_hour(service: Any, reply: Callable[..., Any]) -> None:
    service.says(reply(status=429, headers={"Retry-After": "3600"}))
    waiting = Waiting()
    with pytest.raises(ServiceUnreachable, match="asks to wait 3600 s"):
        post_json(service.address, {}, {}, waiting.retry)
    assert waiting.pauses == []


@pytest.mark.parametrize(
    ("status", "says"),
    [
        (401, "API key is missing or wrong"),
        (403, "may not"),
        (404, "model or the address"),
        (400, "will not"),
    ],
)
def test_a_refusal_is_not_repeated(service: Any, reply: Callable[..., Any], status: int, says: str) -> None:
    service.says(reply({"error": "no such thing"}, status=status))
    with pytest.raises(ServiceRefused, match=says) as caught:
        post_json(service.address, {}, {}, RetryPolicy())
    assert caught.value.status == status
    assert "no such thing" in str(caught.value)
    assert len(service.asked) == 1


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize(
    ("location", "points_to"),
    [("https://x.example/v2/e", "https://x.example/v2/e"), ("/v2/e", "{address}/v2/e")],
)
def test_a_redirect_is_not_followed_and_says_where_it_leads(
    service: Any, reply: Callable[..., Any], status: int, location: str, points_to: str
) -> None:
    service.says(reply(b"moved", status=status, headers={"Location": location}))
    with pytest.raises(ServiceRefused) as caught:
        post_json(service.address + "/v1/e", {}, {}, Waiting().retry)
    there = points_to.format(address=service.address)
    assert f"and points to '{there}'; give that address, if it is right" in str(caught.value)
    assert (caught.value.status, len(service.asked)) == (status, 1)


@pytest.mark.parametrize(
    ("status", "headers"), [(302, {}), (302, {"Location": "http://[::1"}), (403, {"Location": "/elsewhere"})]
)
def test_where_nothing_leads_is_a_refusal_like_any_other(
    service: Any, reply: Callable[..., Any], status: int, headers: dict[str, str]
) -> None:
    service.says(reply(b"moved", status=status, headers=headers))
    with pytest.raises(ServiceRefused, match=f"answered {status} "):
        post_json(service.address, {}, {}, Waiting().retry)


def test_a_slow_service_is_not_waited_for(service: Any, reply: Callable[..., Any]) -> None:
    service.says(reply({}, delay=30), reply({"ok": 1}))
    waiting = Waiting(timeout=1.0)
    assert post_json(service.address, {}, {}, waiting.retry) == {"ok": 1}
    assert len(waiting.pauses) == 1


def test_a_dripping_service_is_stopped_too(service: Any, reply: Callable[..., Any]) -> None:
    service.says(reply(b'{"slow": "answer"}', drip=0.05))
    with pytest.raises(ServiceUnreachable, match=r"did not answer within 0\.2 s"):
        post_json(service.address, {}, {}, Waiting(timeout=0.2, attempts=1).retry)


def test_all_attempts_together_have_an_end(service: Any, reply: Callable[..., Any]) -> None:
    service.says(*[reply({}, delay=30)] * 4)
    began = monotonic()
    with pytest.raises(ServiceUnreachable, match=r"did not answer within 0\.3 s; gave up after 1 attempt$"):
        post_json(service.address, {}, {}, RetryPolicy(total=0.3))
    assert monotonic() - began < 20
    assert len(service.asked) == 1


def test_nobody_pauses_for_longer_than_there_is_time(service: Any, reply: Callable[..., Any]) -> None:
    service.says(reply(status=429, headers={"Retry-After": "7"}))
    waiting = Waiting(total=5.0)
    with pytest.raises(ServiceUnreachable, match=r"429 .* gave up after 1 attempt$"):
        post_json(service.address, {}, {}, waiting.retry)
    assert waiting.pauses == []


def test_a_pause_that_took_too_long_leaves_no_time_and_breaks_nothing(
    service: Any, reply: Callable[..., Any]
) -> None:
    service.says(reply(status=500), reply({}, delay=1))
    now = [0.0]

    def overslept(seconds: float) -> None:
        now[0] += 100.0

    retry = RetryPolicy(total=5.0, clock=lambda: now[0], sleep=overslept)
    with pytest.raises(ServiceUnreachable, match=r"did not answer within 0\.001 s; gave up after 2 attempts"):
        post_json(service.address, {}, {}, retry)


def raw_service(
    *parts: bytes, pause: float = 0.0, context: ssl.SSLContext | None = None
) -> tuple[socket.socket, str]:
    """A service that sends these bytes as they are, whatever it is asked."""
    listening = socket.create_server(("127.0.0.1", 0))

    def accepted() -> socket.socket:
        caller = listening.accept()[0]
        return caller if context is None else context.wrap_socket(caller, server_side=True)

    def answer() -> None:
        with suppress(OSError), accepted() as caller:
            asked = b""
            while not asked.endswith(b"{}"):
                asked += caller.recv(65_536)
            for part in parts:
                caller.sendall(part)
                sleep(pause)

    Thread(target=answer, daemon=True).start()
    scheme = "http" if context is None else "https"
    return listening, f"{scheme}://127.0.0.1:{listening.getsockname()[1]}"


def test_a_service_that_drips_its_headers_is_stopped_too() -> None:
    letters = [bytes([each]) for each in b"HTTP/1.1 200 OK\r\nX-Long: " + b"a" * 200]
    listening, address = raw_service(*letters, pause=0.05)
    began = monotonic()
    with listening, pytest.raises(ServiceUnreachable, match=r"did not answer within 0\.3 s"):
        post_json(address, {}, {}, Waiting(timeout=0.3, attempts=1).retry)
    assert monotonic() - began < 8


def test_a_secure_service_that_says_nothing_is_stopped_too() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        began = monotonic()
        address = f"https://127.0.0.1:{listening.getsockname()[1]}"
        with pytest.raises(ServiceUnreachable, match=r"did not answer within 0\.3 s"):
            post_json(address, {}, {}, Waiting(timeout=0.3, attempts=1).retry)
        assert monotonic() - began < 20


def test_a_secure_service_is_known_by_its_certificate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    if shutil.which("openssl") is None:
        pytest.skip("needs the openssl command, which makes a certificate")
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *("-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"),
            *("-keyout", str(key), "-out", str(certificate)),
        ],
        check=True,
        capture_output=True,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    parts = (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", b"{}")
    for trusted in (True, False):
        listening, address = raw_service(*parts, context=context)
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate if trusted else tmp_path / "none.pem"))
        retry = Waiting(attempts=1).retry
        with listening:
            if trusted:
                assert post_json(address, {}, {}, retry) == {}
            else:
                with pytest.raises(ServiceUnreachable, match="CERTIFICATE_VERIFY_FAILED"):
                    post_json(address, {}, {}, retry)


@pytest.mark.parametrize("answers", [True, False])
def test_a_host_of_many_silent_addresses_takes_no_longer_than_one(
    service: Any, reply: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, answers: bool
) -> None:
    service.says(reply({"ok": 1}))
    there = ("127.0.0.1", int(service.address.rpartition(":")[2]))
    with ExitStack() as stack:
        silent = stack.enter_context(socket.socket())
        silent.bind(("127.0.0.1", 0))
        silent.listen(0)
        for _ in range(4):
            # Whoever comes after these is not even refused.
            caller = stack.enter_context(socket.socket())
            caller.setblocking(False)
            caller.connect_ex(silent.getsockname())
        places = [silent.getsockname()] * 3 + [there] * answers
        found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", place) for place in places]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *asked, **more: found)
        began = monotonic()
        retry = Waiting(timeout=2.0, attempts=1).retry
        if answers:
            assert post_json("http://many.example", {}, {}, retry) == {"ok": 1}
        else:
            with pytest.raises(ServiceUnreachable, match=r"did not answer within 2 s"):
                post_json("http://many.example", {}, {}, retry)
        # Not two seconds for each of the three that are silent.
        assert monotonic() - began < 5.5


def test_a_host_without_an_address_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", lambda *asked, **more: [])
    with pytest.raises(ServiceUnreachable, match=r"nowhere\.example has no address"):
        post_json("http://nowhere.example", {}, {}, Waiting(attempts=1).retry)


def test_an_answer_without_end_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_client, "_MAX_BYTES", 1_000)
    listening, address = raw_service(b"HTTP/1.1 200 OK\r\n\r\n", b"1" * 100_000)
    with listening, pytest.raises(ServiceAnswerInvalid, match="more than 1,000 bytes"):
        post_json(address, {}, {}, Waiting(attempts=1).retry)


@pytest.mark.parametrize(
    "date", ["Fri, 31 Dec 99999999999 23:59:59 GMT", "Fri, 31 Dec 2026 23:59:59 +999999999999999", "soon"]
)
def test_a_date_that_no_calendar_has_is_passed_over(
    service: Any, reply: Callable[..., Any], date: str
) -> None:
    service.says(reply(status=429, headers={"Retry-After": date}), reply({"ok": 1}))
    waiting = Waiting()
    assert post_json(service.address, {}, {}, waiting.retry) == {"ok": 1}
    assert waiting.pauses == [1.0]


@pytest.mark.parametrize("status", [200, 401, 503])
def test_a_key_that_the_service_repeats_is_not_shown(
    service: Any, reply: Callable[..., Any], status: int
) -> None:
    service.says(reply(b"<p>Unknown key: sk-secret</p>", status=status))
    with pytest.raises(EmbeddingServiceError, match=r"Unknown key: \*\*\*") as raised:
        post_json(service.address, {}, authorised("sk-secret"), Waiting(attempts=1).retry)
    assert "secret" not in str(raised.value)


def test_a_date_without_a_zone_is_that_of_http(
    service: Any, reply: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        service.says(reply(status=503, headers={"Retry-After": "Mon Jan 12 13:46:52 1970"}), reply({}))
        waiting = Waiting(wall_clock=lambda: 1_000_000.0)
        post_json(service.address, {}, {}, waiting.retry)
    finally:
        monkeypatch.undo()
        time.tzset()
    assert waiting.pauses == [12.0]


def test_a_length_of_thousands_of_digits_is_never_reached() -> None:
    length = b"Content-Length: " + b"9" * 5_000
    listening, address = raw_service(b"HTTP/1.1 200 OK\r\n" + length + b"\r\n\r\n{}")
    with listening, pytest.raises(ServiceUnreachable, match="could not be read"):
        post_json(address, {}, {}, Waiting(attempts=1).retry)


@pytest.mark.parametrize("status", [b"401", b"503"])
def test_a_reason_is_short_and_plain_and_keeps_the_key(status: bytes) -> None:
    reason = b"\x1b[31mNo such key: sk-secret" + b"!" * 10_000
    listening, address = raw_service(b"HTTP/1.1 " + status + b" " + reason + b"\r\n\r\n")
    with listening, pytest.raises(EmbeddingServiceError) as caught:
        post_json(address, {}, authorised("sk-secret"), Waiting(attempts=1).retry)
    said = str(caught.value)
    assert "No such key: ***" in said
    assert len(said) < 400
    assert said.isprintable()


def test_what_is_no_http_at_all_is_shown_short_and_plain() -> None:
    listening, address = raw_service(b"\x1b[31mNo such key: sk-secret" + b"!" * 10_000 + b"\r\n\r\n")
    with (
        listening,
        pytest.raises(ServiceUnreachable, match=r"illegal status line: .*No such key: \*\*\*") as caught,
    ):
        post_json(address, {}, authorised("sk-secret"), Waiting(attempts=1).retry)
    assert len(str(caught.value)) < 300
    assert str(caught.value).isprintable()


def test_a_key_that_stands_where_a_redirect_leads_is_not_shown(
    service: Any, reply: Callable[..., Any]
) -> None:
    service.says(reply(status=302, headers={"Location": "/login?key=sk-secret"}))
    with pytest.raises(ServiceRefused, match=r"points to .*/login\?key=\*\*\*") as caught:
        post_json(service.address, {}, authorised("sk-secret"), Waiting().retry)
    assert "secret" not in str(caught.value)


def test_a_failure_tells_whether_there_was_an_answer(service: Any, reply: Callable[..., Any]) -> None:
    service.says(reply(status=500), reply(status=503))
    with pytest.raises(ServiceUnreachable) as caught:
        post_json(service.address, {}, {}, Waiting(attempts=2).retry)
    assert caught.value.status == 503
    assert pickle.loads(pickle.dumps(caught.value)).status == 503
    with pytest.raises(ServiceUnreachable) as caught:
        post_json("http://127.0.0.1:1", {}, {}, Waiting(attempts=1).retry)
    assert caught.value.status is None


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (b"429 Later\r\nRetry-After: \xb2", "429 Later"),
        (b"200 OK\r\nContent-Length: \xb2", "could not be read"),
    ],
)
def test_digits_that_are_no_numbers_are_no_length_and_no_date(answer: bytes, says: str) -> None:
    listening, address = raw_service(b"HTTP/1.1 " + answer + b"\r\n\r\n{}")
    with listening, pytest.raises(ServiceUnreachable, match=says):
        post_json(address, {}, {}, Waiting(attempts=1).retry)


def test_an_answer_that_breaks_off_is_asked_for_again(service: Any, reply: Callable[..., Any]) -> None:
    service.says(reply({"long": "answer"}, cut=True), reply({"ok": 1}))
    assert post_json(service.address, {}, {}, Waiting().retry) == {"ok": 1}


def test_a_connection_refused_asks_whether_the_service_runs() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    waiting = Waiting(attempts=2)
    with pytest.raises(ServiceUnreachable, match="refused the connection: is the service running"):
        post_json(f"http://127.0.0.1:{port}", {}, {}, waiting.retry)
    assert waiting.pauses == [1.0]


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"<!DOCTYPE html><html>", "a web page"),
        (b'{"data": [', "not JSON"),
        (b"", "not JSON"),
        (b"\xff", "not JSON"),
        (b"[" * 200_000, "not JSON"),
    ],
)
def test_what_is_not_json_is_shown(service: Any, reply: Callable[..., Any], body: bytes, says: str) -> None:
    service.says(reply(body))
    with pytest.raises(ServiceAnswerInvalid, match=says):
        post_json(service.address, {}, {}, RetryPolicy())


def test_what_is_compressed_though_nobody_asked_for_it_is_said(
    service: Any, reply: Callable[..., Any]
) -> None:
    service.says(reply(gzip.compress(b"{}"), headers={"Content-Encoding": "gzip"}))
    with pytest.raises(ServiceAnswerInvalid, match="something compressed, which was not asked for"):
        post_json(service.address, {}, {}, RetryPolicy())
    assert service.headers[0]["Accept-Encoding"] == "identity"


@given(st.integers(0, 50), st.floats(0, 1))
def test_a_pause_is_between_half_and_all_of_its_bound(attempt: int, chance: float) -> None:
    bound = min(30.0, 0.5 * 2**attempt)
    assert bound / 2 <= RetryPolicy(random=lambda: chance).pause(attempt, None) <= bound


def test_clients_that_failed_together_do_not_return_together() -> None:
    assert RetryPolicy().pause(0, None) != RetryPolicy().pause(0, None)
    seeded = [RetryPolicy(random=random.Random(7).random).pause(0, None) for _ in range(2)]
    assert seeded[0] == seeded[1]


@pytest.mark.parametrize(
    "settings", [{"timeout": 0}, {"attempts": 0}, {"first_pause": -1}, {"longest_pause": -1}, {"total": 0}]
)
def test_patience_is_positive(settings: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument):
        RetryPolicy(**settings)


@pytest.mark.parametrize(
    "address",
    [
        "",
        "ftp://x",
        "http://",
        "localhost:11434",
        "http://x:999999",
        None,
        "http://[::1",
        "http://a..b",
        f"http://{'x' * 64}.example",
        "http://ho st",
        "http://x/v\n1",
        "http://x/v 1",
        "http://x/vü",
    ],
)
def test_an_address_is_an_address(address: Any) -> None:
    with pytest.raises(InvalidArgument, match="address"):
        checked_address("address", address)


@pytest.mark.parametrize(
    "address",
    [
        "http://anna:secret@x",
        "http://secret@x/v1",
        "ftp://anna:secret@x",
        "http://x/v1?key=secret",
        "http://x/v1#secret",
    ],
)
def test_an_address_with_a_secret_in_it_is_refused_and_not_shown(address: str) -> None:
    with pytest.raises(InvalidArgument, match=r"address must be .* without @") as caught:
        checked_address("address", address)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("address", ["http://bücher.example/v1", "https://[::1]:8080", "http://x/a%20b"])
def test_other_addresses_are_taken_as_they_are(address: str) -> None:
    assert checked_address("address", address) == address


@pytest.mark.parametrize("key", ["sk-secret\n", "sk-secret ", "schlüssel-secret", 7])
def test_a_key_that_no_header_can_hold_is_refused_and_not_shown(key: Any) -> None:
    with pytest.raises(InvalidArgument, match="api_key must be ASCII without white space") as caught:
        authorised(key)
    assert "secret" not in str(caught.value)
