"""Who does a piece of work, in words that tell on the same machine whether they are still there.

A lease runs out when nothing was heard of its holder for a while. On the machine where a holder was killed
nobody has to wait for that: a process that is gone does not come back. So a worker is named with a mark of
the machine it runs on (of this boot, and of what its process numbers mean), and only who has the same mark
looks. Everybody else waits, and so does everybody where the system does not tell such things: it is known of
Linux alone.
"""

from __future__ import annotations

import os
import re
import zlib
from functools import cache
from pathlib import Path
from typing import Final

_NAMED: Final = re.compile(r".*, process (?P<number>\d+) \((?P<mark>[0-9a-f]{8})\)", re.DOTALL)
_PROCESSES: Final = Path("/proc")
_ENDED: Final = frozenset("ZX")
"""The states of a process that has ended, and is remembered until its parent asks."""


def this_worker() -> str:
    """Return the name of this process, as others are told.

    Examples
    --------
    >>> from socket import gethostname
    >>> this_worker().startswith(f"{gethostname()}, process {os.getpid()}")
    True
    """
    mark = _mark()
    return f"{_machine()}, process {os.getpid()}" + (f" ({mark})" if mark else "")


def is_gone(worker: str) -> bool:
    """Tell whether a worker is a process of this machine that is no more; False where that is not known.

    Examples
    --------
    >>> is_gone(this_worker()), is_gone("kite, process 7")
    (False, False)
    """
    named = _NAMED.fullmatch(worker)
    if named is None or named["mark"] != _mark():
        return False
    try:
        # The name of a program is in brackets, and may hold anything; its state follows.
        told = (_PROCESSES / named["number"] / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return bool(told) and told[0] in _ENDED


@cache
def _mark() -> str:
    """Return a mark of this machine since it was started, and of its numbers of processes; "" if unknown."""
    try:
        boot = (_PROCESSES / "sys/kernel/random/boot_id").read_text()
        numbers = (_PROCESSES / "self/ns/pid").readlink()
    except OSError:
        return ""
    return f"{zlib.crc32(f'{_machine()} {boot} {numbers}'.encode()):08x}"


def _machine() -> str:
    # All of the network, for a name: only when somebody works.
    from socket import gethostname

    return gethostname()
