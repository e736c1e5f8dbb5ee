"""Packages whose names load when first used, so that a process pays only for what it asks for (PEP 562)."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType


def on_demand(
    package: str, homes: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return the ``__getattr__`` and ``__dir__`` of a package that loads its names when they are used.

    A name may be that of one of its modules, too. Then the name wins, as if the package had imported it at
    once: Python binds a module to its package whenever it is loaded, which such a package does not let it.

    - `package`: its full name; what it lists in ``__all__`` is what ``dir`` tells.
    - `homes`: by module, written with a dot before it as in a relative import, the names it defines.

    >>> load, names = on_demand("memorata", {".model": ["Memory"]})
    >>> load("Memory").__name__
    'Memory'
    >>> load("Mermory")
    Traceback (most recent call last):
    ...
    AttributeError: module 'memorata' has no attribute 'Mermory'; it has Memory
    """
    home_of = {name: module for module, names in homes.items() for name in names}
    sys.modules[package].__class__ = _Package

    def load(name: str) -> object:
        if name not in home_of:
            names = ", ".join(sorted(home_of))
            raise AttributeError(f"module {package!r} has no attribute {name!r}; it has {names}")
        value = getattr(importlib.import_module(home_of[name], package), name)
        setattr(sys.modules[package], name, value)
        return value

    return load, lambda: sorted(sys.modules[package].__all__)


class _Package(ModuleType):
    """A package in which a public name is never hidden by a module of that name."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (isinstance(value, ModuleType) and name in self.__all__):
            super().__setattr__(name, value)
