"""One POST to an HTTP service, one JSON answer: time limits, retries, and errors that say what happened.

A request that failed for a passing reason (no connection, 408, 425, 429, 5xx) is sent again after a pause
that doubles each time and is shortened at random, so that many clients do not come back in step
(exponential back-off with jitter). A server's ``Retry-After`` is honoured as it stands. Randomness, the
clock and sleeping are arguments. Proxies are not looked up in the environment: the address given is the
address called.

The client is that of httpx2, one layer below: httpcore2 takes a network of our own (:mod:`.deadline`), where
no operation goes past the end of the time for a request. httpx2 has limits for single reads only.
"""

from __future__ import annotations

import json
import math
import re
import ssl
from collections.abc import Iterable, Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple
from urllib.parse import urljoin, urlsplit

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
_MIN_SECONDS = 0.001
"""Of an attempt for which there is no time left: a socket does not take fewer than none."""
_MAX_BYTES = 1 << 28
"""How many bytes an answer may have: a thousand vectors of ten thousand dimensions, written out."""


class _Answer(NamedTuple):
    """An answer; the names of its header fields are in small letters."""

    status: int
    reason: str
    fields: Mapping[str, str]
    content: bytes


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
            return _decode(address, _exchange(address, payload, headers, seconds), headers, retry)
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


def _exchange(address: str, payload: bytes, headers: Mapping[str, str], seconds: float) -> _Answer:
    """Return the answer to one request."""
    # Loaded when a service is called: it takes 0.1 s.
    import httpcore2

    from memorata_models.deadline import Deadline

    parts = urlsplit(address)
    url = httpcore2.URL(
        scheme=parts.scheme,
        host=(parts.hostname or "").encode("idna"),
        port=parts.port,
        target=(parts.path or "/") + (f"?{parts.query}" if parts.query else ""),
    )
    sent = {"Content-Type": "application/json", "Accept-Encoding": "identity", "Connection": "close"}
    pool = httpcore2.ConnectionPool(ssl.create_default_context(), network_backend=Deadline(seconds))
    sent |= headers
    try:
        with pool, pool.stream("POST", url, headers=list(sent.items()), content=payload) as answer:
            named = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in answer.headers]
            reason = answer.extensions.get("reason_phrase", b"").decode("latin-1")
            fields = {name.lower(): value for name, value in named}
            return _Answer(answer.status, reason, fields, _body(answer.iter_stream(), address))
    except httpcore2.TimeoutException as error:
        # Of what it was given, a thousandth may have gone by before it was asked.
        waited = f"{seconds:.2g}" if seconds < 10 else f"{seconds:.0f}"
        raise _TransientError(f"did not answer within {waited} s") from error
    except (httpcore2.NetworkError, httpcore2.ProtocolError, OSError) as error:
        if isinstance(next(iter(error.args), None), ConnectionRefusedError):
            raise _TransientError("refused the connection: is the service running?") from error
        reason = f"{type(error).__name__}: {_printable(str(error), headers)}"
        raise _TransientError(f"could not be read ({reason})") from error


def _body(blocks: Iterable[bytes], address: str) -> bytes:
    content = bytearray()
    for block in blocks:
        content += block
        if len(content) > _MAX_BYTES:
            raise ServiceAnswerInvalid(f"{address} answered with more than {_MAX_BYTES:,} bytes")
    return bytes(content)


def _decode(address: str, answer: _Answer, headers: Mapping[str, str], retry: RetryPolicy) -> Any:  # noqa: ANN401
    """Return what an answer holds, or raise what its status means."""
    status, content = answer.status, answer.content
    status_line = f"answered {f'{status} {_printable(answer.reason, headers)}'.strip()}"
    excerpt = shown(without_key(content.decode("utf-8", "replace").strip(), headers))
    too_long = status == 413 or (status in _LENGTH_STATUSES and _TOO_LONG.search(content.lower()) is not None)
    if status in _TRANSIENT_STATUSES and not too_long:
        retry_after = _retry_after(answer.fields.get("retry-after"), retry)
        raise _TransientError(f"{status_line}: {excerpt}", status, retry_after)
    if status != 200:
        location = answer.fields.get("location") if status in _REDIRECT_STATUSES else None
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
        elif answer.fields.get("content-encoding", "identity").lower() != "identity":
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
