"""Idempotent requests: carried out once, however often they are sent under the same key.

The key is the idempotency key of the IETF's draft. The work and its reply are one transaction: either both
are there after a crash, or neither. An error is not stored: the request may be repeated under
the same key.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from memorata._frozen import frozen
from memorata.engine.recall.log import RecallLog
from memorata.engine.runtime import Runtime
from memorata.model import checks
from memorata.model.errors import InvalidArgument, ReplyErased

if TYPE_CHECKING:
    from memorata.store.access import Reply

RETENTION: Final = timedelta(hours=24)
"""How long a reply is stored."""
_NAME: Final = re.compile(r"[\x21-\x7e]{1,200}")


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
        if not isinstance(key, str) or _NAME.fullmatch(key) is None:
            raise InvalidArgument("key", key, "1 to 200 visible ASCII characters")
        path, now = self._runtime.path(namespace), self._runtime.clock()
        checks.flag("apart", apart)
        checks.flag("log_first", log_first)

        from memorata.store.access import Reply

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
