"""Threads of numpy's matrix products: one, in every command and in the process that hooks ask.

Products of one text are small. Divided among threads, each waits on a busy machine until its other threads
get their turn (136 instead of 2 ms for a query of the built-in model, benchmarks/RESULTS.md), and requests
of a server share the processors among themselves.
"""

from __future__ import annotations

import os
from typing import Final

ONE_THREAD: Final = {
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "VECLIB_MAXIMUM_THREADS": "1",
}


def compute_on_one_thread() -> None:
    """Keep numpy from dividing a matrix product among threads; to be called before numpy is imported."""
    for variable, threads in ONE_THREAD.items():
        os.environ.setdefault(variable, threads)
