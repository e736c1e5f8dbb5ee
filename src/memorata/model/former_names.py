"""A name that an argument had before and that is still understood: what was written then need not change."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import ParamSpec, TypeVar

from memorata.model.errors import InvalidArgument

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


def formerly(old: str, new: str) -> Callable[[Callable[_Arguments, _Result]], Callable[_Arguments, _Result]]:
    """Return a decorator for a function whose argument `new` was called `old`, and may still be.

    The signature shows the new name alone. Both at once are an error, even if they say the same.

    Examples
    --------
    >>> @formerly("text", "question")
    ... def ask(question: str) -> str:
    ...     return question + "?"
    >>> ask("who"), ask(question="who"), ask(text="who")  # type: ignore[call-arg]
    ('who?', 'who?', 'who?')
    >>> ask("who", text="when")  # type: ignore[call-arg]
    Traceback (most recent call last):
    ...
    memorata.model.errors.InvalidArgument: text must be left out where question is given (text is the name
    it had before), got 'when'
    """

    def decorated(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
        place = list(signature(function).parameters).index(new)

        @wraps(function)
        def called(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
            if old in kwargs:
                value = kwargs.pop(old)
                if new in kwargs or len(args) > place:
                    raise both_given(old, new, value)
                kwargs[new] = value
            return function(*args, **kwargs)

        return called

    return decorated


def both_given(old: str, new: str, value: object) -> InvalidArgument:
    """Return the error for an argument that was given under both of its names."""
    return InvalidArgument(old, value, f"left out where {new} is given ({old} is the name it had before)")
