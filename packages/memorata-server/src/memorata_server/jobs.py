"""Jobs: long work with progress, on threads of their own; and duplicates, maintenance, re-embedding.

Jobs live as long as the process. What a job has written stays written when it is stopped. Callers take turns:
the next job is of the caller served least recently (Nagle, 1987), each has a bounded number in hand, and when
there are too many results, those of the caller with most go first. So no caller blocks the others. Results
name memories by their ids alone, so that they repeat nothing that is purged later.
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
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol

from memorata import Engine
from memorata.extend.access import EVERYWHERE, LOCAL
from memorata.extend.errors import Overloaded, kind_of, public_detail
from memorata.extend.json import Json, duplicates_json, plain
from memorata_server.schemas import MAX_RESULTS

if TYPE_CHECKING:
    from memorata_server.schemas import DuplicatesJob, MaintenanceJob, ReembedJob


MAX_KEPT: Final = 200
MAX_IN_HAND: Final = 64
MAX_PER_CALLER: Final = 4
"""Jobs of one key that wait or run; without keys there is one caller, and no such limit."""
ENDED: Final = ("done", "failed", "stopped")

_LOG: Final = logging.getLogger(__name__)
_JSON_FIELDS: Final = (
    "id", "kind", "namespace", "created_at", "state", "done", "total", "note", "problem",
)  # fmt: skip


class TooManyJobs(Overloaded):
    """A caller has the most jobs in hand that one may have."""


class JobStopped(Exception):  # noqa: N818 - no error: the job was asked to stop
    """The job was asked to stop."""


@dataclass(slots=True)
class Job:
    """A job, as it is now: about a namespace, or ``*`` for all, and started by a caller.

    Its state is ``waiting``, ``running``, ``done``, ``failed`` or ``stopped``; `done` of `total` is how far
    it is, if that is known. `problem` is what a client may know of its `error`. `version` grows with every
    change.
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
    result: Any = None
    problem: str = ""
    error: Exception | None = None
    version: int = 0
    _stop: threading.Event = field(default_factory=threading.Event, repr=False)
    _ended: threading.Event = field(default_factory=threading.Event, repr=False)

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self.state not in ENDED

    def progress(self, step: str, done: int, total: int | None = None) -> None:
        """Set how far it is; raises if it is asked to stop."""
        if self._stop.is_set():
            raise JobStopped
        self.note, self.done, self.total = step, done, total
        self.version += 1

    def stop(self) -> None:
        """Ask it to stop at its next step."""
        self._stop.set()

    def end(self, state: str, error: Exception | None = None) -> None:
        """Note that it has ended."""
        self.error, self.problem = error, "" if error is None else public_detail(error)
        self.state = state
        self.version += 1
        self._ended.set()

    def wait(self, seconds: float) -> bool:
        """Wait for its end, so long at most; return whether it has come."""
        return self._ended.wait(seconds)

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON; a result that is none is left out."""
        result = plain(self.result) if isinstance(self.result, Mapping) else None
        return {name: plain(getattr(self, name)) for name in _JSON_FIELDS} | {"result": result}


Work = Callable[[Job], Any]


class Jobs:
    """The jobs of a process; as many as `threads` run at the same time."""

    def __init__(self, clock: Callable[[], datetime] = lambda: datetime.now(UTC), threads: int = 1) -> None:
        self._clock = clock
        self._threads = threads
        self._pool: ThreadPoolExecutor | None = None
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._waiting: dict[str, tuple[Job, Work]] = {}
        self._served: dict[str, int] = {}
        self._turn = 0
        self._lock = threading.RLock()
        self.closing = False

    def start(self, kind: str, namespace: str, caller: str, work: Work) -> Job:
        """Start a job when it is its caller's turn.

        Raises TooManyJobs if the caller has too many in hand, Overloaded if all callers together have, or the
        server is about to stop.
        """
        with self._lock:
            in_hand = [job.caller for job in self._jobs.values() if job.running]
            if len(in_hand) >= MAX_IN_HAND or self.closing:
                raise Overloaded
            if caller != LOCAL.name and in_hand.count(caller) >= MAX_PER_CALLER:
                raise TooManyJobs
            job = Job(secrets.token_hex(8), kind, namespace, caller, self._clock())
            self._jobs[job.id] = job
            self._waiting[job.id] = job, work
            self._drop_results()
            if self._pool is None:
                self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="memorata-job")
            self._pool.submit(self._run_next)
        return job

    def start_once(self, kind: str, namespace: str, caller: str, work: Work) -> Job:
        """Start a job unless one of its kind is in hand for the namespace; return the one that is."""
        with self._lock:
            last = self.last(kind, namespace)
            return last if last is not None and last.running else self.start(kind, namespace, caller, work)

    def stop(self, job: Job) -> None:
        """Ask a job to stop at its next step; one that waits has ended at once."""
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

    def last(self, kind: str, namespace: str) -> Job | None:
        """Return the newest job of a kind for a namespace, running or ended."""
        return next((job for job in self.all() if (job.kind, job.namespace) == (kind, namespace)), None)

    def drop(self, kind: str, namespace: str) -> None:
        """Forget the jobs of a kind for a namespace that have ended."""
        self._forget(lambda job: (job.kind, job.namespace) == (kind, namespace))

    def forget(self, namespace: str) -> None:
        """Forget the jobs about a namespace, or about all, that have ended: something was purged."""
        self._forget(lambda job: job.namespace in (namespace, EVERYWHERE))

    def wait(self, seconds: float = 60.0) -> None:
        """Wait until every job has ended, so long at most for each."""
        for job in self.all():
            job.wait(seconds)

    def open(self) -> None:
        """Let jobs start, after `close`."""
        self.closing = False

    def close(self) -> None:
        """Ask every job to stop, and wait until they have."""
        self.closing = True
        for job in self.all():
            job.stop()
        if self._pool is not None:
            self._pool.shutdown(wait=True)
            self._pool = None

    def _forget(self, is_selected: Callable[[Job], bool]) -> None:
        with self._lock:
            for job in [job for job in self._jobs.values() if not job.running and is_selected(job)]:
                del self._jobs[job.id]

    def _drop_results(self) -> None:
        """Drop results while there are too many: the oldest of the caller with most."""
        while len(self._jobs) > MAX_KEPT:
            ended = [job for job in self._jobs.values() if not job.running]
            if not ended:
                return
            jobs_by_caller = Counter(job.caller for job in ended)
            del self._jobs[max(ended, key=lambda job: jobs_by_caller[job.caller]).id]

    def _run_next(self) -> None:
        """Run the oldest waiting job of the caller served least recently, if one waits."""
        with self._lock:
            if not self._waiting:
                return
            next_id = min(self._waiting, key=lambda id_: self._served.get(self._waiting[id_][0].caller, 0))
            job, work = self._waiting.pop(next_id)
            callers = {job.caller for job in self._jobs.values()}
            self._turn += 1
            self._served = {name: turn for name, turn in self._served.items() if name in callers}
            self._served[job.caller] = self._turn
            job.state = "running"
        _run(job, work)


def _run(job: Job, work: Work) -> None:
    try:
        job.progress("", 0)
        job.result = work(job)
        job.end("done")
    except JobStopped:
        job.end("stopped")
    except Exception as error:
        job.end("failed", error)
        if kind_of(error).status >= 500:
            fields = {"kind": job.kind, "job": job.id}
            _LOG.error("job failed", extra={"fields": fields}, exc_info=error)


class Progress(Protocol):
    """Takes the step, how much of it is done, and the total if it is known."""

    def __call__(self, step: str, done: int, total: int | None = None) -> None: ...  # noqa: D102


def check(engine: Engine, namespace: str, request: None, progress: Progress) -> Json:
    """Check the whole database; nothing is changed."""
    return {"problems": engine.admin.check()}


def find_duplicates(engine: Engine, namespace: str, request: DuplicatesJob, progress: Progress) -> Json:
    """Look for duplicates, and supersede them if the request says so."""
    duplicates = engine.admin.duplicates.find(
        strategy=request.strategy, paraphrases=request.paraphrases, namespace=namespace, progress=progress
    )
    groups = [group for group in duplicates.groups if request.keep is None or group.keep.id in request.keep]
    run = None
    if request.apply:
        run = engine.admin.duplicates.supersede(
            groups, strategy=request.strategy, namespace=namespace, progress=progress
        )
    return {
        "groups": [duplicates_json(group) for group in groups[:MAX_RESULTS]],
        "count": len(groups),
        "compared": duplicates.compared,
        "run": plain(run),
    }


def maintain(engine: Engine, namespace: str, request: MaintenanceJob, progress: Progress) -> Json:
    """Promote, demote, expire and summarise; nothing is removed."""
    report: Json = engine.admin.lifecycle.maintain(
        dry_run=request.dry_run, namespace=namespace, progress=progress
    ).as_dict()
    for proposal in report["proposed"]:
        del proposal["content"]
    return report


def reembed(engine: Engine, namespace: str, request: ReembedJob, progress: Progress) -> Json:
    """Embed everything with the engine's embedder; searches go on meanwhile."""
    done = engine.admin.reembed(
        dry_run=request.dry_run, keep_old=request.keep_old, progress=partial(progress, "")
    )
    return {**plain(done), "failed": len(done.failed)}
