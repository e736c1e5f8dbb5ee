"""A worker of this machine that is gone is known to be; of everybody else nothing is claimed."""

import os
import subprocess
import sys
from socket import gethostname

import pytest

from memorata.engine import runtime as workers
from memorata.engine.runtime import is_gone, this_worker

LINUX = sys.platform == "linux"


def named(number: int) -> str:
    return this_worker().replace(f"process {os.getpid()}", f"process {number}")


def test_a_worker_is_named_by_its_machine_and_process() -> None:
    assert this_worker().startswith(f"{gethostname()}, process {os.getpid()}")
    assert this_worker() == this_worker()


@pytest.mark.skipif(not LINUX, reason="processes can be looked up on Linux alone")
def test_who_has_ended_is_gone_even_before_its_parent_asked() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        assert not is_gone(named(process.pid))
        assert process.stdin is not None
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert is_gone(named(process.pid))  # a zombie
    assert is_gone(named(process.pid))


def test_of_this_process_another_machine_and_strange_names_nothing_is_claimed() -> None:
    assert not is_gone(this_worker())
    for name in ("", "kite, process 7", "kite, process 999999999 (00000000)", "process 1", "(12345678)"):
        assert not is_gone(name)


def test_where_the_system_tells_nothing_a_worker_has_no_mark(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = named(999_999_999)
    monkeypatch.setattr(workers, "_mark", lambda: "")
    assert this_worker() == f"{gethostname()}, process {os.getpid()}"
    assert not is_gone(gone)
