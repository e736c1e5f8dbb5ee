"""Matrix products on one thread, whatever the environment of the program says.

Our products are small. Divided among the threads of OpenBLAS, each waits for the others by running in
circles: 150 memories and 150 queries of the built-in model took 27.5 s of processor time on two processors,
and take 4.0. OpenBLAS has one setting for the process, so it is changed for the time of a product and given
back after it. Other libraries (Accelerate, MKL) are left alone. threadpoolctl knows them, but takes
milliseconds to look for them, and supports the main thread alone.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from ctypes import CDLL
from pathlib import Path
from types import TracebackType
from typing import Final, TypeAlias

import numpy as np

Threads: TypeAlias = tuple[Callable[[], int], Callable[[int], object]]
"""What returns the number of threads of a library, and what sets it."""

_NAMES: Final = [
    tuple(f"{prefix}openblas_{verb}_num_threads{suffix}" for verb in ("get", "set"))
    for prefix in ("scipy_", "")
    for suffix in ("64_", "")
]
"""numpy's wheels rename the functions, and builds with long integers do."""


def _libraries() -> list[Path]:
    """Return the files that may be, or be linked with, the OpenBLAS of numpy: its wheels bring one along."""
    folder = Path(np.__file__).parent
    return [*folder.with_name("numpy.libs").glob("*openblas*"), *folder.glob("_core/_multiarray_umath.*")]


def openblas_threads(libraries: Iterable[Path]) -> Threads | None:
    """Return the functions of the first library that has them."""
    for file in libraries:
        try:
            library = CDLL(str(file))
        except OSError:
            continue
        for get, set_ in _NAMES:
            if hasattr(library, set_):
                return getattr(library, get), getattr(library, set_)
    return None


class OneThread:
    """A context in which products run on the thread that calls them; it may be entered by any number at once.

    The first that enters keeps the setting, and the last that leaves gives it back, unless it was changed
    meanwhile.
    """

    def __init__(self, threads: Callable[[], Threads | None]) -> None:
        self._find = threads
        self._threads: Threads | None = None
        self._known = False
        self._lock = threading.Lock()
        self._inside = 0
        self._before = 1
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(
                before=self._lock.acquire, after_in_parent=self._lock.release, after_in_child=self._forked
            )

    def __enter__(self) -> None:
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                self._begin()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                self._end()

    def _begin(self) -> None:
        if not self._known:
            self._threads, self._known = self._find(), True
        if self._threads is not None:
            get, set_ = self._threads
            self._before = get()
            if self._before != 1:
                set_(1)

    def _end(self) -> None:
        if self._threads is not None and self._before != 1:
            get, set_ = self._threads
            if get() == 1:
                set_(self._before)

    def _forked(self) -> None:
        """Give the setting back: of the threads that were inside, a child has at most the one that forked."""
        if self._inside:
            self._end()
            self._inside = 0
        self._lock.release()


ON_ONE_THREAD: Final = OneThread(lambda: openblas_threads(_libraries()))
