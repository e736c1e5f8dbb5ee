"""API keys: authorisation by scope and namespace, and authentication of tokens; and idempotency keys.

A token is 256 random bits behind the key's id: ``mem_ID_SECRET``. The database keeps its SHA-256 alone; a
secret of that size cannot be guessed from a plain digest, so a slow hash would cost every request and protect
nothing. Digests are compared in constant time, with a dummy digest where the id is unknown.

Patterns: ``acme/alice`` is that namespace, ``acme/*`` is everything below ``acme``, ``*`` is everything.
Scopes: ``read`` looks, ``write`` changes what can be changed back, ``admin`` purges and cares for the store;
each holds the one before.

A request with an idempotency key (the IETF's draft) is carried out once, however often it is sent. The work
and its reply are one transaction: either both are there after a crash, or neither. An error is not stored:
the request may be repeated under the same key.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime, timedelta
from time import monotonic
from typing import Final

from memorata._frozen import frozen
from memorata.engine.recall.log import RecallLog
from memorata.engine.runtime import Runtime, utc_now
from memorata.model import checks
from memorata.model.checks import contains
from memorata.model.checks import namespace as checked_namespace
from memorata.model.errors import AccessDenied, InvalidArgument, NotAdmitted, ReplyErased
from memorata.store.access import ApiKey, Reply
from memorata.store.store import Store

READ: Final = "read"
WRITE: Final = "write"
ADMIN: Final = "admin"
SCOPES: Final = (READ, WRITE, ADMIN)
"""The scopes of a key; each includes the ones before it."""

EVERYWHERE: Final = "*"
FRESH_SECONDS: Final = 2.0
"""For how long a looked-up key is cached; so long may a revoked one still work."""

_PREFIX: Final = "mem_"
_TOKEN: Final = re.compile(rf"{_PREFIX}([0-9a-f]{{16}})_([A-Za-z0-9_-]{{43}})")
_MARGIN_SECONDS: Final = 0.1
_NO_DIGEST: Final = hashlib.sha256(b"nobody's").digest()
_MAX_NAME_LENGTH: Final = 200


@frozen
class Access:
    """The scopes and namespaces of an authenticated caller."""

    name: str
    namespaces: tuple[str, ...]
    scopes: tuple[str, ...]

    def may(self, scope: str) -> bool:
        """Return whether this is enough for what needs a scope, somewhere at least."""
        needed = SCOPES.index(checks.one_of("scope", scope, SCOPES))
        return any(SCOPES.index(held) >= needed for held in self.scopes)

    def reaches(self, namespace: str) -> bool:
        """Return whether a namespace is among those this is for."""
        return any(matches(pattern, namespace) for pattern in self.namespaces)

    def allows(self, scope: str, namespace: str) -> bool:
        """Return whether something that needs a scope may be done in a namespace."""
        return self.may(scope) and self.reaches(namespace)

    @property
    def everywhere(self) -> bool:
        """Whether every namespace is among those this is for."""
        return EVERYWHERE in self.namespaces

    def require(self, scope: str, namespace: str) -> None:
        """Raise unless something that needs a scope may be done in a namespace, whether or not it exists."""
        if not self.allows(scope, namespace):
            raise AccessDenied(
                f"this key may not {_ACTIONS[scope]} the namespace {namespace!r}; "
                f"it takes one with the scope {scope} for it"
            )

    def require_everywhere(self, scope: str) -> None:
        """Raise unless something that needs a scope may be done in every namespace."""
        if not (self.may(scope) and self.everywhere):
            raise AccessDenied(f"this needs a key with the scope {scope} for every namespace (*)")


_ACTIONS: Final = {READ: "read", WRITE: "write to", ADMIN: "administer"}

LOCAL: Final = Access("local", (EVERYWHERE,), SCOPES)
"""Access of local callers, where no key is required."""


def matches(pattern: str, namespace: str) -> bool:
    """Return whether a namespace is one that a pattern stands for."""
    if pattern == EVERYWHERE:
        return True
    if pattern.endswith("/*"):
        above = pattern[:-2]
        return namespace != above and contains(above, namespace)
    return namespace == pattern


def namespace_pattern(argument: str, value: object) -> str:
    """Return `value` if it is a namespace, a namespace and ``/*``, or ``*``; else raise."""
    pattern = checks.text(argument, value)
    if pattern == EVERYWHERE:
        return pattern
    try:
        checked_namespace(argument, pattern.removesuffix("/*"))
    except InvalidArgument as error:
        expected = "a namespace such as acme/alice, all below one as acme/*, or *"
        raise InvalidArgument(argument, value, expected) from error
    return pattern


class ApiKeys:
    """The API keys of a store: create, list, revoke, and authenticate tokens."""

    def __init__(
        self,
        store: Store,
        *,
        required: bool = True,
        clock: Callable[[], datetime] = utc_now,
        ticks: Callable[[], float] = monotonic,
    ) -> None:
        self.required = required
        self._store = store
        self._clock = clock
        self._ticks = ticks
        self._seen: dict[str, tuple[ApiKey, float]] = {}

    def create(
        self,
        name: str,
        namespaces: Sequence[str],
        scopes: Sequence[str],
        *,
        expires_at: checks.Instant | None = None,
    ) -> tuple[ApiKey, str]:
        """Make a key, and return it with its token, which cannot be shown again."""
        if not checks.writable("name", name).strip() or len(name) > _MAX_NAME_LENGTH:
            raise InvalidArgument("name", name, f"1 to {_MAX_NAME_LENGTH} characters")
        patterns = [
            namespace_pattern(f"namespaces[{number}]", text)
            for number, text in enumerate(checks.texts("namespaces", namespaces))
        ]
        allowed = [checks.one_of("scopes", text, SCOPES) for text in checks.texts("scopes", scopes)]
        for argument, values in (("namespaces", patterns), ("scopes", allowed)):
            if not values:
                raise InvalidArgument(argument, values, "a list of at least one")
        now = self._clock()
        until = checks.optional_instant("expires_at", expires_at)
        if until is not None and until <= now:
            raise InvalidArgument("expires_at", until, "in the future")
        id_ = secrets.token_hex(8)
        token = f"{_PREFIX}{id_}_{secrets.token_urlsafe(32)}"
        key = ApiKey(
            id_,
            name,
            _digest(token),
            tuple(dict.fromkeys(patterns)),
            tuple(scope for scope in SCOPES if scope in allowed),
            now,
            until,
        )
        self._store.keys.add(key)
        return key, token

    def list(self) -> tuple[ApiKey, ...]:
        """Return every key, revoked ones too, in the order they were made."""
        return tuple(self._store.keys.list())

    def revoke(self, id: str) -> None:
        """End a key; other processes notice within two seconds."""
        self._store.keys.revoke(checks.writable("id", id), self._clock())
        self._seen.pop(id, None)

    def authenticate(self, token: str | None) -> Access:
        """Return the access of a token; None stands for a caller without one."""
        if token is None:
            if self.required:
                raise NotAdmitted("a key is needed: send it as Authorization: Bearer mem_…")
            return LOCAL
        shape = _TOKEN.fullmatch(checks.text("token", token))
        key = None if shape is None else self._key(shape[1])
        same = hmac.compare_digest(_digest(token), _NO_DIGEST if key is None else key.digest)
        if key is None or not same or not key.holds_at(self._clock()):
            raise NotAdmitted(
                "this key is not good: it is unknown, revoked or expired; "
                "memorata server key create makes another"
            )
        return Access(key.id, key.namespaces, key.scopes)

    def authenticate_cached(self, token: str | None) -> Access | None:
        """Return the access of a token if its key is cached; None if the store has to be read."""
        if token is None:
            return None if self.required else LOCAL
        shape = _TOKEN.fullmatch(checks.text("token", token))
        _, until = self._seen.get("" if shape is None else shape[1], (None, 0.0))
        # A tick of margin, so that the key is not looked up here after all.
        return self.authenticate(token) if self._ticks() < until - _MARGIN_SECONDS else None

    def _key(self, id: str) -> ApiKey | None:
        cached, until = self._seen.get(id, (None, 0.0))
        if cached is not None and self._ticks() < until:
            return cached
        key = self._store.keys.find(id)
        if key is None:
            self._seen.pop(id, None)
        else:
            self._seen[id] = key, self._ticks() + FRESH_SECONDS
        return key


def is_token(text: str) -> bool:
    """Return whether a text has the form of a token."""
    return _TOKEN.fullmatch(text) is not None


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode(errors="surrogatepass")).digest()


RETENTION: Final = timedelta(hours=24)
"""How long a reply is stored."""
_KEY: Final = re.compile(r"[\x21-\x7e]{1,200}")


@frozen
class IdempotentReply:
    """The status and body of a reply, and whether it is a stored one."""

    status: int
    body: bytes
    again: bool


class Idempotency:
    """Runs requests at most once by their keys, and keeps their answers."""

    def __init__(self, runtime: Runtime, recall_log: RecallLog) -> None:
        self._runtime = runtime
        self._store = runtime.store
        self._recall_log = recall_log

    def once(
        self,
        key: str,
        request: bytes,
        work: Callable[[], tuple[int, bytes]],
        *,
        caller: str = "",
        namespace: str | None = None,
        apart: bool = False,
        log_first: bool = True,
        ahead: Callable[[], AbstractContextManager[None]] | None = None,
    ) -> IdempotentReply:
        """Do the work and keep its answer; if it was done already, return the answer it had.

        Parameters
        ----------
        key
            The caller's name for this request: 1 to 200 visible ASCII characters.
        request
            A digest of what is asked. The same name with another one is refused.
        work
            Does it, in this thread, and returns the status and the body of the answer. No other thread
            uses the store meanwhile.
        caller
            The caller that the key belongs to; two callers may use the same key.
        namespace
            Whose memories it is about; None for the engine's.
        apart
            For work that cannot be a part of a transaction, as a purge: its answer is kept after it.
        log_first
            Write down the recalls that wait to be logged, before anything else. Work that refers to one, as
            feedback does, cannot find it otherwise: within the work nothing is logged. Other work does
            without, and is spared the milliseconds that it takes.
        ahead
            A context to enter before the transaction, unless the request was done already: see
            :mod:`memorata.engine.embedding`.

        Raises
        ------
        InvalidArgument
            If the name was given to another request.
        ReplyErased
            If it was done already, and a purge has erased the answer.
        """
        if not isinstance(key, str) or _KEY.fullmatch(key) is None:
            raise InvalidArgument("key", key, "1 to 200 visible ASCII characters")
        path, now = self._runtime.path(namespace), self._runtime.clock()
        checks.flag("apart", apart)
        checks.flag("log_first", log_first)
        checks.function("work", work)
        checks.writable("caller", caller)

        def reply_once() -> IdempotentReply:
            reply = self._store.replies.find(caller, key)
            if reply is not None and reply.created_at > now - RETENTION:
                return _again(reply, request)
            status, body = work()
            self._store.replies.remove(now - RETENTION)
            self._store.replies.save(Reply(caller, key, path, request, status, body, now))
            return IdempotentReply(status, body, again=False)

        if apart:
            return reply_once()
        if log_first:
            self._recall_log.flush()
        early = (
            nullcontext() if ahead is None or self._store.replies.find(caller, key) is not None else ahead()
        )
        with early, self._recall_log.resting(), self._store.together():
            return reply_once()


def _again(reply: Reply, request: bytes) -> IdempotentReply:
    if reply.request != request:
        raise InvalidArgument(
            "key", reply.key, "one that was not given to another request: make up a new one"
        )
    if reply.body is None:
        raise ReplyErased(f"the request {reply.key!r} was carried out, but a purge has erased its answer")
    return IdempotentReply(reply.status, reply.body, again=True)
