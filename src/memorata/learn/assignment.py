"""Assignment of users to the variants of an experiment: stable, and without any state.

The experiment's and the user's name are hashed together (BLAKE2b) to a point between 0 and 1, and the weights
divide that line among the variants. Two experiments divide people independently of each other, which one hash
of the user alone would not do. Python's own ``hash`` is salted anew in every process and is of no use here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import field
from itertools import accumulate
from types import MappingProxyType
from typing import Any

from memorata._frozen import frozen
from memorata.model import checks
from memorata.model.errors import InvalidArgument

_EXACT = 1e-9
"""How far from 1 weights may sum: what is left of ten tenths, and not a forgotten variant."""


@frozen
class Variant:
    """One of the things that are compared: a name, its share of the users, and the settings it changes."""

    name: str
    weight: float
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if not checks.text("name", self.name):
            raise InvalidArgument("name", self.name, "a name")
        object.__setattr__(self, "weight", checks.above("weight", self.weight, 0))
        if not isinstance(self.settings, Mapping):
            raise InvalidArgument("settings", self.settings, "a mapping of parameters to values")
        checks.texts("settings", self.settings)
        object.__setattr__(self, "settings", MappingProxyType(dict(self.settings)))


@frozen
class Experiment:
    """Some variants of a recipe's settings that users are divided among.

    - `name`: also decides who is in which variant.
    - `variants`: at least two, with names of their own and weights that sum to 1.

    >>> Experiment("meaning", (Variant("as it is", 0.5), Variant("more", 0.4)))
    Traceback (most recent call last):
    ...
    memorata.model.errors.InvalidArgument: variants must be variants whose weights sum to 1, got 0.9
    """

    name: str
    variants: Sequence[Variant]

    def __post_init__(self) -> None:
        if not checks.text("name", self.name):
            raise InvalidArgument("name", self.name, "a name")
        variants = self.variants
        if not isinstance(variants, Sequence) or not all(
            isinstance(variant, Variant) for variant in variants
        ):
            raise InvalidArgument("variants", variants, "a list of variants")
        if len(variants) < 2:
            raise InvalidArgument("variants", [variant.name for variant in variants], "at least two variants")
        names = [variant.name for variant in variants]
        if len(set(names)) < len(names):
            raise InvalidArgument("variants", names, "variants with names of their own")
        # Not by fsum, which has no answer where the sum is beyond every number.
        total = sum(variant.weight for variant in variants)
        if abs(total - 1) > _EXACT:
            raise InvalidArgument("variants", total, "variants whose weights sum to 1")
        object.__setattr__(self, "variants", tuple(variants))

    def assigned(self, user: str) -> Variant:
        """Return the variant of a user; the same answer in every process, on every machine, for ever."""
        point = position(self.name, user)
        ends = accumulate(variant.weight for variant in self.variants)
        matching = (variant for variant, end in zip(self.variants, ends, strict=True) if point < end)
        # The last end may be a rounding short of 1, and a point beyond it is the last one's all the same.
        return next(matching, self.variants[-1])


def position(experiment: str, user: str) -> float:
    """Return where a user stands in an experiment, from 0 to below 1, evenly over users."""
    where, who = checks.writable("experiment", experiment), checks.writable("user", user)
    # The length comes first, so that "a" and "bc" are not taken for "ab" and "c".
    key = f"{len(where)}:{where}{who}".encode()
    number = int.from_bytes(hashlib.blake2b(key, digest_size=8).digest(), "big")
    return (number >> 11) / (1 << 53)
