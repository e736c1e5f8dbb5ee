"""Packages whose names load when first used, so that a process pays only for what it asks for (PEP 562)."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence


def on_demand(
    package: str, homes: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return the ``__getattr__`` and ``__dir__`` of a package that loads its names when they are used.

    Parameters
    ----------
    package
        Its full name; what it lists in ``__all__`` is what ``dir`` tells.
    homes
        By module, written with a dot before it as in a relative import, the names it defines. None of them
        may be a module's: once that is loaded, it would hide what it defines.

    Examples
    --------
    >>> load, names = on_demand("recollect", {".model": ["Memory"]})
    >>> load("Memory").__name__
    'Memory'
    >>> load("Mermory")
    Traceback (most recent call last):
    ...
    AttributeError: module 'recollect' has no attribute 'Mermory'; it has Memory
    """
    home_of = {name: module for module, names in homes.items() for name in names}

    def load(name: str) -> object:
        if name not in home_of:
            known = ", ".join(sorted(home_of))
            raise AttributeError(f"module {package!r} has no attribute {name!r}; it has {known}")
        value = getattr(importlib.import_module(home_of[name], package), name)
        setattr(sys.modules[package], name, value)
        return value

    return load, lambda: sorted(sys.modules[package].__all__)
