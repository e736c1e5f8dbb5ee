"""How much of a difference is only rounding.

A stated bound such as 0.20 or 0.92 is a decimal number; the float nearest to it, and a difference or a dot
product that should land on it, can fall a hair to either side (``0.9 - 0.7`` is 0.20000000000000007). Whoever
writes "at most 0.20" means that pair to count, so every bound in this folder gives way by the same hair.
"""

from __future__ import annotations

from typing import Final

ROUNDING: Final = 1e-9
"""Far above the rounding of float64 arithmetic (about 1e-15 here), far below any difference that matters."""
