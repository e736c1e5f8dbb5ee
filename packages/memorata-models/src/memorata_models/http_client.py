"""One POST to an HTTP service, one JSON answer: time limits, retries, and errors that say what happened.

A request that failed for a passing reason (no connection, 408, 425, 429, 5xx) is sent again after a pause
that doubles each time and is shortened at random, so that many clients do not come back in step
(exponential back-off with jitter). A server's ``Retry-After`` is honoured as it stands. Randomness, the
clock and sleeping are arguments. Proxies are not looked up in the environment: the address given is the
address called.

The standard library's client has no limit for a whole request: a socket's own starts anew with every address
of a host and with every byte that is read. So the socket is opened here, each address of the host with its
share of the time, and shut down by a timer when the time is over.
"""

from __future__ import annotations

import http.client
import json
import math
import re
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import SplitResult, urljoin, urlsplit

from memorata.extend.embedding import RetryPolicy
from memorata.extend.errors import (
    InvalidArgument,
    ServiceAnswerInvalid,
    ServiceRefused,
    ServiceUnreachable,
    shown,
)

_TRANSIENT_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504})
_REDIRECT_STATUSES = frozenset({301, 302, 303, 307, 308})
_LENGTH_STATUSES = frozenset({400, 422, 500})
"""What services answer to a text that is longer than they read, beside 413."""
_TOO_LONG = re.compile(
    rb"too (large|long|many tokens)|context (length|size|window)|exceed\w*\W+(the )?(max|context|model|limit)"
    rb"|(less|fewer|more) than \d+ tokens|max(imum)? .{0,40}tokens"
)
_ADVICE = {
    401: "the API key is missing or wrong",
    403: "the API key may not do this",
    404: "the model or the address is unknown to the service",
    413: "the texts are too long for the service",
}
_EXPECTED_ADDRESS = "an address such as http://127.0.0.1:11434"
_MAX_ADDRESS_SHOWN = 300
_MAX_REASON_SHOWN = 100
_MAX_LENGTH_DIGITS = 18
_MIN_SECONDS = 0.001
"""Of an attempt for which there is no time left: a socket does not take fewer than none."""
_BLOCK_BYTES = 1 << 16
_MAX_BYTES = 1 << 28
"""How many bytes an answer may have: a thousand vectors of ten thousand dimensions, written out."""


class _TransientError(Exception):
    """A failure that may be gone at the next attempt."""

    def __init__(self, message: str, status: int | None = None, retry_after: float | None = None) -> None:
        self.status, self.retry_after = status, retry_after
        super().__init__(message)


def post_json(address: str, body: object, headers: Mapping[str, str], retry: RetryPolicy) -> Any:  # noqa: ANN401
    """Return the decoded JSON answer to a POST of `body`.

    Raises `ServiceUnreachable` after failures for a passing reason, `ServiceRefused` and
    `ServiceAnswerInvalid`.
    """
    payload = json.dumps(body).encode()
    until = math.inf if retry.total is None else retry.clock() + retry.total
    for attempt in range(retry.attempts):
        try:
            seconds = max(_MIN_SECONDS, min(retry.timeout, until - retry.clock()))
            answer, content = _exchange(address, payload, headers, seconds)
            return _decode(address, answer, content, headers, retry)
        except _TransientError as error:
            failure, attempts = error, attempt + 1
        wait = retry.pause(attempt, failure.retry_after)
        if wait > retry.longest_pause:
            raise ServiceUnreachable(
                f"{address} {failure}, and asks to wait {wait:g} s; try again later", failure.status
            ) from failure
        # An attempt with no time left for it is none.
        if attempts == retry.attempts or retry.clock() + wait >= until:
            break
        retry.sleep(wait)
    tries = "1 attempt" if attempts == 1 else f"{attempts} attempts"
    raise ServiceUnreachable(f"{address} {failure}; gave up after {tries}", failure.status) from failure


def checked_address(argument: str, address: str) -> str:
    """Return an ``http`` or ``https`` address without a slash at its end.

    A path is to follow it, and it is shown, and recorded, wherever the service is named: so it has neither a
    query nor a user's name and password.
    """
    if not isinstance(address, str):
        raise InvalidArgument(argument, address, _EXPECTED_ADDRESS)
    if "@" in address or "?" in address or "#" in address:
        apart = "a key or a password is given apart from it, as the API key"
        expected = f"{_EXPECTED_ADDRESS}, without @, ? and #; {apart}"
        raise InvalidArgument(argument, "one that is not shown", expected)
    try:
        parts = urlsplit(address)
        host = (parts.hostname or "").encode("idna")
        good = parts.scheme in ("http", "https") and host and parts.port != 0 and parts.path.isascii()
    except ValueError:
        good = False
    if not good or any(letter.isspace() or not letter.isprintable() for letter in address):
        raise InvalidArgument(argument, address, _EXPECTED_ADDRESS)
    return address.rstrip("/")


def authorised(api_key: str | None) -> dict[str, str]:
    """Return the headers that authenticate a request; none without a key, or with an empty one."""
    if api_key is None or api_key == "":
        return {}
    if not isinstance(api_key, str) or not all("!" <= letter <= "~" for letter in api_key):
        # Not shown: but for the end of a line, say, it may be the key.
        raise InvalidArgument("api_key", "one that is not shown", "ASCII without white space")
    return {"Authorization": f"Bearer {api_key}"}


def without_key(text: str, headers: Mapping[str, str]) -> str:
    """Return the answer of a service without the key of the request, which some repeat in errors."""
    key = headers.get("Authorization", "").removeprefix("Bearer ")
    return text.replace(key, "***") if key else text


def _exchange(
    address: str, payload: bytes, headers: Mapping[str, str], seconds: float
) -> tuple[http.client.HTTPResponse, bytes]:
    """Return the answer to one request, and its body."""
    parts = urlsplit(address)
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    try:
        with (
            _connection(parts, seconds) as connection,
            # Where the server is to close, the connection hands its socket to the answer and forgets it.
            _send(connection, target or "/", payload, headers) as answer,
        ):
            return answer, _body(answer, address)
    except TimeoutError as error:
        # Of what it was given, a thousandth may have gone by before it was asked.
        waited = f"{seconds:.2g}" if seconds < 10 else f"{seconds:.0f}"
        raise _TransientError(f"did not answer within {waited} s") from error
    except ConnectionRefusedError as error:
        raise _TransientError("refused the connection: is the service running?") from error
    except (OSError, http.client.HTTPException) as error:
        reason = f"{type(error).__name__}: {_printable(str(error), headers)}"
        raise _TransientError(f"could not be read ({reason})") from error


def _send(
    connection: http.client.HTTPConnection, target: str, payload: bytes, headers: Mapping[str, str]
) -> http.client.HTTPResponse:
    connection.request("POST", target, payload, {"Content-Type": "application/json", **headers})
    return connection.getresponse()


@contextmanager
def _connection(parts: SplitResult, seconds: float) -> Iterator[http.client.HTTPConnection]:
    """Give a connection that is shut down when the time is over, and a TimeoutError says so."""
    until = time.monotonic() + seconds
    host, secure = parts.hostname or "", parts.scheme == "https"
    kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
    connection = kind(host, parts.port)
    sock = _open_socket(host, connection.port, until)
    if secure:
        context = ssl.create_default_context()
        sock = context.wrap_socket(sock, server_hostname=host, do_handshake_on_connect=False)
    expired = threading.Event()

    def expire() -> None:
        expired.set()
        with suppress(OSError):
            # Not the method of a secure one, which forgets its keys while they are in use.
            socket.socket.shutdown(sock, socket.SHUT_RDWR)

    timer = threading.Timer(max(_MIN_SECONDS, until - time.monotonic()), expire)
    timer.daemon = True
    timer.start()
    try:
        if isinstance(sock, ssl.SSLSocket):
            sock.do_handshake()
        connection.sock = sock
        yield connection
    except (OSError, http.client.HTTPException):
        if expired.is_set():
            raise TimeoutError from None
        raise
    finally:
        timer.cancel()
        connection.close()
        sock.close()
    if expired.is_set():
        # What looks like the end of an answer was the end of the time.
        raise TimeoutError


def _open_socket(host: str, port: int, until: float) -> socket.socket:
    """Return a socket to the first of a host's addresses that answers, each with its share of the time."""
    addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    failure = OSError(f"{host} has no address")
    for at, (family, kind, protocol, _, address) in enumerate(addresses):
        sock = socket.socket(family, kind, protocol)
        try:
            sock.settimeout(max(_MIN_SECONDS, (until - time.monotonic()) / (len(addresses) - at)))
            sock.connect(address)
        except OSError as error:
            sock.close()
            failure = error
        else:
            sock.settimeout(None)
            return sock
    raise failure


def _body(answer: http.client.HTTPResponse, address: str) -> bytes:
    blocks, size = [], 0
    while block := answer.read1(_BLOCK_BYTES):
        blocks.append(block)
        size += len(block)
        if size > _MAX_BYTES:
            raise ServiceAnswerInvalid(f"{address} answered with more than {_MAX_BYTES:,} bytes")
    content = b"".join(blocks)
    length = answer.headers.get("Content-Length", "")
    # Compared as numbers of digits first: of thousands of them Python makes no number.
    if _is_number(length) and (len(length) > _MAX_LENGTH_DIGITS or len(content) < int(length)):
        raise http.client.IncompleteRead(content)
    return content


def _decode(
    address: str,
    answer: http.client.HTTPResponse,
    content: bytes,
    headers: Mapping[str, str],
    retry: RetryPolicy,
) -> Any:  # noqa: ANN401 - what the service answered
    """Return what an answer holds, or raise what its status means."""
    status = answer.status
    status_line = f"answered {f'{status} {_printable(answer.reason, headers)}'.strip()}"
    excerpt = shown(without_key(content.decode("utf-8", "replace").strip(), headers))
    too_long = status == 413 or (status in _LENGTH_STATUSES and _TOO_LONG.search(content.lower()) is not None)
    if status in _TRANSIENT_STATUSES and not too_long:
        retry_after = _retry_after(answer.headers.get("Retry-After"), retry)
        raise _TransientError(f"{status_line}: {excerpt}", status, retry_after)
    if status != 200:
        location = answer.headers.get("Location") if status in _REDIRECT_STATUSES else None
        advice = _ADVICE.get(413 if too_long else status, "the service will not do this")
        reason = f": {advice} ({excerpt})"
        if location is not None:
            reason = f" and points to {_redirect_advice(address, without_key(location, headers))}"
        raise ServiceRefused(f"{address} {status_line}{reason}", status, too_long=too_long)
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        problem = "not JSON"
        if content.lstrip()[:1] == b"<":
            problem = "a web page: is this the address of the service itself?"
        elif answer.headers.get("Content-Encoding", "identity").lower() != "identity":
            problem = "something compressed, which was not asked for"
        raise ServiceAnswerInvalid(f"{address} answered with {problem} ({excerpt})") from error


def _retry_after(value: str | None, retry: RetryPolicy) -> float | None:
    if value is None:
        return None
    if _is_number(value.strip()):
        return float(value)
    try:
        date = parsedate_to_datetime(value)
        # One without a zone is in that of HTTP, wherever this runs.
        date = date if date.tzinfo is not None else date.replace(tzinfo=UTC)
        return max(0.0, date.timestamp() - retry.wall_clock())
    except (ValueError, OverflowError):
        # A date that cannot be read is as good as none: the usual pause applies.
        return None


def _is_number(text: str) -> bool:
    """Return whether a text is a whole number; of some digits, such as ², Python cannot make one."""
    return text.isascii() and text.isdigit()


def _printable(text: str, headers: Mapping[str, str]) -> str:
    """Return words that a server chose, which are as long as it likes and may hold anything."""
    short = without_key(text, headers)[:_MAX_REASON_SHOWN]
    return "".join(letter if letter.isprintable() else " " for letter in short)


def _redirect_advice(address: str, location: str) -> str:
    # Not followed: texts and the key go to the address that was given, and to no other.
    try:
        target = urljoin(address, location)
    except ValueError:
        # No address at all, but the reader may know what was meant.
        target = location
    return f"{target[:_MAX_ADDRESS_SHOWN]!r}; give that address, if it is right"
