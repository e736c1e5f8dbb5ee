"""The fusions by name: write one new file, and the command line, the tuner and the web page know it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from memorata.model import checks
from memorata.model.errors import InvalidArgument
from memorata.rank.fusion.legs import Fused

Function = TypeVar("Function", bound=Callable[..., Fused[Any]])

FUSIONS: dict[str, Callable[..., Fused[Any]]] = {}
"""Every registered fusion: ``FUSIONS["rrf"](legs, k=60)``."""


def fusion(name: str) -> Callable[[Function], Function]:
    """Register the decorated function under `name`; a name can be taken once.

    The function takes the legs, then by keyword `weights`, `limit` and its own declared parameters.

    Examples
    --------
    >>> FUSIONS["rrf"].__name__
    'rrf'
    """
    checks.text("name", name)

    def register(function: Function) -> Function:
        if name in FUSIONS:
            raise InvalidArgument(
                "name", name, f"a name not taken yet; taken are {', '.join(sorted(FUSIONS))}"
            )
        FUSIONS[name] = function
        return function

    return register
