"""Gives everybody one thread, when imported before numpy and numba are.

With several threads, what one measures on a busy machine is the waiting for the last of them.
"""

import os

for _setting in (
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OMP_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS",
):
    os.environ.setdefault(_setting, "1")
