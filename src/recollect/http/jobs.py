"""What takes longer than a request should wait: one job at a time, on a thread of its own, with its progress.

Jobs live as long as the process. What a job has written stays written when it is stopped.
"""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from recollect.engine.access import EVERYWHERE
from recollect.http import logs
from recollect.http.workers import Overloaded
from recollect.model.errors import RecollectError

_KEPT: Final = 200
_WAITING: Final = 16
ENDED: Final = ("done", "failed", "stopped")


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
        self._lock = threading.Lock()
        self.closing = False

    def start(self, kind: str, namespace: str, caller: str, work: Work) -> Job:
        """Begin a job, after those that wait already."""
        with self._lock:
            if sum(job.state not in ENDED for job in self._jobs.values()) >= _WAITING or self.closing:
                raise Overloaded
            job = Job(secrets.token_hex(8), kind, namespace, caller, self._clock())
            self._jobs[job.id] = job
            ended = [each.id for each in self._jobs.values() if each.state in ENDED]
            for old in ended[: max(0, len(self._jobs) - _KEPT)]:
                del self._jobs[old]
            if self._pool is None:
                self._pool = ThreadPoolExecutor(1, thread_name_prefix="recollect-job")
            self._pool.submit(self._run, job, work)
        return job

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

    def _run(self, job: Job, work: Work) -> None:
        try:
            job.state = "running"
            job.progress(0)
            job.result = work(job)
            job.state = "done"
        except Stopped:
            job.state = "stopped"
        except RecollectError as error:
            job.state, job.problem = "failed", str(error)
        except Exception as error:
            job.state, job.problem = "failed", "something went wrong in the server; its log says more"
            logs.write("job failed", 40, error, kind=job.kind, job=job.id)
        finally:
            job.version += 1
            job._ended.set()
