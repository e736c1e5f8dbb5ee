"""Our matrix products leave the other processors, and the setting of the program, alone."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from memorata._blas import OneThread, _libraries, openblas_threads

PROGRAM = """
import time
import memorata
from memorata._blas import _libraries, openblas_threads

threads, _ = openblas_threads(_libraries())
with memorata.open(":memory:", embedder="builtin") as memory:
    memory.remember_many([f"Anna talked with Tom about book {number} over tea." for number in range(40)])
    before = threads(), time.process_time(), time.thread_time()
    for number in range(20):
        memory.remember(f"Carol and Emma met in Rome, and had soup number {number} there.")
        memory.recall(f"What did Anna and Tom talk about, {number} times?", recipe="balanced")
    print(before[0], threads(), time.process_time() - before[1], time.thread_time() - before[2])
"""


@pytest.mark.untraced
def test_a_program_pays_for_its_own_thread_alone_and_keeps_its_setting() -> None:
    command = [sys.executable, "-c", PROGRAM]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "2"}
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    before, after, process, thread = map(float, run.stdout.split())
    assert before == after == 2
    # Threads that wait for each other took eight to fifteen times as much.
    assert process < 1.5 * thread


class Library:
    """A library that computes with a number of threads."""

    def __init__(self, threads: int) -> None:
        self.threads = threads

    def set(self, threads: int) -> None:
        self.threads = threads

    def functions(self) -> tuple[Callable[[], int], Callable[[int], None]]:
        return lambda: self.threads, self.set


def test_the_last_that_leaves_gives_the_setting_back() -> None:
    library = Library(4)
    one_thread = OneThread(library.functions)
    inside = threading.Barrier(8)
    seen = []

    def compute() -> None:
        for _ in range(100):
            with one_thread:
                inside.wait()
                seen.append(library.threads)

    workers = [threading.Thread(target=compute) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert set(seen) == {1}
    assert len(seen) == 800
    assert library.threads == 4


def test_an_error_gives_it_back_and_a_change_meanwhile_stays() -> None:
    library = Library(4)
    one_thread = OneThread(library.functions)
    with pytest.raises(ZeroDivisionError), one_thread:
        1 / 0  # noqa: B018
    assert library.threads == 4
    with one_thread:
        library.threads = 3
    assert library.threads == 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes that are forked here")
@pytest.mark.filterwarnings("ignore:.*fork")
def test_a_child_has_the_setting_though_a_thread_was_inside() -> None:
    library = Library(4)
    one_thread = OneThread(library.functions)
    entered, leave = threading.Event(), threading.Event()

    def compute() -> None:
        with one_thread:
            entered.set()
            leave.wait()

    worker = threading.Thread(target=compute)
    worker.start()
    entered.wait()
    child = os.fork()
    if not child:
        with one_thread:
            inside = library.threads
        os._exit(0 if (inside, library.threads) == (1, 4) else 1)
    leave.set()
    worker.join()
    assert os.waitpid(child, 0)[1] == 0
    assert library.threads == 4


def test_without_such_a_library_nothing_happens(tmp_path: Path) -> None:
    (tmp_path / "libopenblas.so").write_text("no library")
    assert openblas_threads([tmp_path / "libopenblas.so", Path(sys.executable)]) is None
    with OneThread(lambda: None):
        pass


def test_each_file_that_may_be_of_numpy_has_the_same_setting() -> None:
    # The module that is linked with it serves where numpy did not come as a wheel.
    settings = [threads for file in _libraries() if (threads := openblas_threads([file]))]
    if not settings:
        pytest.skip("numpy here is not built with OpenBLAS")
    get, set_ = settings[0]
    before = get()
    try:
        set_(1)
        assert {read() for read, _ in settings} == {1}
    finally:
        set_(before)
