"""What takes longer than a request should wait: one job at a time, on a thread of its own, with its progress.

Jobs live as long as the process. What a job has written stays written when it is stopped. Callers take turns:
the next job is of whoever was served longest ago (Nagle, 1987), each may have a few in hand, and when there
are too many results to keep, those of whoever left most go first. So nobody can keep the others waiting.
"""

from __future__ import annotations

import logging
import secrets
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from memorata.engine.access import EVERYWHERE, LOCAL
from memorata.http import logs
from memorata.http.problems import detail_of, status_of
from memorata.http.workers import Overloaded

_KEPT: Final = 200
_IN_HAND: Final = 64
_OF_ONE: Final = 4
"""How many jobs of one key are in hand, waiting or running; whoever needs no key is alone."""
ENDED: Final = ("done", "failed", "stopped")


class TooManyOfOne(Overloaded):
    """One caller has as many jobs in hand as one may have."""


class Stopped(Exception):  # noqa: N818 - named after what happened
    """Somebody stopped the job."""


@dataclass(slots=True)
class Job:
    """A job, as it is now.

    Attributes
    ----------
    id, kind, namespace, caller
        What it is, whose memories it is about (``*`` for everybody's), and who asked for it.
    state
        ``waiting``, ``running``, ``done``, ``failed`` or ``stopped``.
    done, total, note
        How far it is; no total where nobody knows.
    result, problem
        What came of it.
    version
        Grows with every change of it.
    """

    id: str
    kind: str
    namespace: str
    caller: str
    created_at: datetime
    state: str = "waiting"
    done: int = 0
    total: int | None = None
    note: str = ""
    result: Mapping[str, Any] | None = None
    problem: str = ""
    version: int = 0
    _stop: threading.Event = field(default_factory=threading.Event, repr=False)
    _ended: threading.Event = field(default_factory=threading.Event, repr=False)

    def progress(self, done: int, total: int | None = None, note: str = "") -> None:
        """Say how far it is; raises if somebody wants it to stop."""
        if self._stop.is_set():
            raise Stopped
        self.done, self.total, self.note = done, total, note
        self.version += 1

    def stop(self) -> None:
        """Ask it to stop at its next step."""
        self._stop.set()

    def end(self, state: str, problem: str = "") -> None:
        """Say that it is over."""
        self.state, self.problem = state, problem
        self.version += 1
        self._ended.set()

    def wait(self, seconds: float) -> bool:
        """Wait for its end, so long at most; return whether it has come."""
        return self._ended.wait(seconds)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "id": self.id,
            "kind": self.kind,
            "namespace": self.namespace,
            "created_at": self.created_at.isoformat(),
            "state": self.state,
            "done": self.done,
            "total": self.total,
            "note": self.note,
            "result": None if self.result is None else dict(self.result),
            "problem": self.problem,
        }


Work = Callable[[Job], Mapping[str, Any]]


class Jobs:
    """All jobs of a server.

    Examples
    --------
    >>> jobs = Jobs()
    >>> job = jobs.start("count", "default", "local", lambda job: {"counted": 3})
    >>> job.wait(10), job.state, job.result
    (True, 'done', {'counted': 3})
    >>> jobs.close()
    """

    def __init__(self, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._clock = clock
        self._pool: ThreadPoolExecutor | None = None
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._waiting: dict[str, tuple[Job, Work]] = {}
        self._served: dict[str, int] = {}
        self._turn = 0
        self._lock = threading.Lock()
        self.closing = False

    def start(self, kind: str, namespace: str, caller: str, work: Work) -> Job:
        """Begin a job, when it is its caller's turn.

        Raises
        ------
        TooManyOfOne
            The caller has as many in hand as one may have.
        Overloaded
            All callers together have, or the server is about to stop.
        """
        with self._lock:
            in_hand = [job.caller for job in self._jobs.values() if job.state not in ENDED]
            if len(in_hand) >= _IN_HAND or self.closing:
                raise Overloaded
            if caller != LOCAL.name and in_hand.count(caller) >= _OF_ONE:
                raise TooManyOfOne
            job = Job(secrets.token_hex(8), kind, namespace, caller, self._clock())
            self._jobs[job.id] = job
            self._waiting[job.id] = job, work
            self._make_room()
            if self._pool is None:
                self._pool = ThreadPoolExecutor(1, thread_name_prefix="memorata-job")
            self._pool.submit(self._run_next)
        return job

    def stop(self, job: Job) -> None:
        """Ask a job to stop at its next step; one that waits is over at once."""
        job.stop()
        with self._lock:
            if self._waiting.pop(job.id, None) is not None:
                job.end("stopped")

    def find(self, id: str) -> Job | None:
        """Return a job, or None."""
        with self._lock:
            return self._jobs.get(id)

    def all(self) -> tuple[Job, ...]:
        """Return all jobs, the newest first."""
        with self._lock:
            return tuple(reversed(self._jobs.values()))

    def forget(self, namespace: str) -> None:
        """Let go of the jobs about a namespace, or about all, that have ended: something was purged."""
        about = (namespace, EVERYWHERE)
        with self._lock:
            gone = [job.id for job in self._jobs.values() if job.namespace in about and job.state in ENDED]
            for id_ in gone:
                del self._jobs[id_]

    def open(self) -> None:
        """Let jobs begin, after all were stopped."""
        self.closing = False

    def close(self) -> None:
        """Ask every job to stop, and wait until they have."""
        self.closing = True
        for job in self.all():
            job.stop()
        if self._pool is not None:
            self._pool.shutdown(wait=True)
            self._pool = None

    def _make_room(self) -> None:
        """Let go of results while there are too many: the oldest of whoever left most."""
        while len(self._jobs) > _KEPT:
            ended = [job for job in self._jobs.values() if job.state in ENDED]
            if not ended:
                return
            left = Counter(job.caller for job in ended)
            del self._jobs[max(ended, key=lambda job: left[job.caller]).id]

    def _run_next(self) -> None:
        """Run the job that waits longest of whoever was served longest ago; none if it was stopped."""
        with self._lock:
            if not self._waiting:
                return
            id_ = min(self._waiting, key=lambda each: self._served.get(self._waiting[each][0].caller, 0))
            job, work = self._waiting.pop(id_)
            callers = {each.caller for each in self._jobs.values()}
            self._turn += 1
            self._served = {name: turn for name, turn in self._served.items() if name in callers}
            self._served[job.caller] = self._turn
            job.state = "running"
        _run(job, work)


def _run(job: Job, work: Work) -> None:
    try:
        job.progress(0)
        job.result = work(job)
        job.end("done")
    except Stopped:
        job.end("stopped")
    except Exception as error:
        job.end("failed", detail_of(error))
        if status_of(error) >= 500:
            logs.write("job failed", logging.ERROR, error, kind=job.kind, job=job.id)
