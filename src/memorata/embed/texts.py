"""Texts as embedders take them: strings, each of them whole characters."""

from __future__ import annotations

from collections.abc import Sequence

from memorata.model.checks import text as checked
from memorata.model.errors import InvalidArgument


def checked_texts(texts: Sequence[str]) -> list[str]:
    """Return the texts as a list; a bare string is refused, since its letters are rarely what was meant.

    Examples
    --------
    >>> checked_texts("hello")
    Traceback (most recent call last):
    ...
    memorata.model.errors.InvalidArgument: texts must be a list of strings, got 'hello'
    """
    if isinstance(texts, str | bytes) or not isinstance(texts, Sequence):
        raise InvalidArgument("texts", texts, "a list of strings")
    return [well_formed(checked(f"texts[{index}]", text)) for index, text in enumerate(texts)]


def checked_text(text: str) -> str:
    """Return one text, well formed."""
    return well_formed(checked("text", text))


def well_formed(text: str) -> str:
    r"""Return `text` with every half of a broken surrogate pair replaced by U+FFFD, as UTF-8 demands.

    Examples
    --------
    >>> well_formed("\ud83d!") == "\ufffd!"
    True
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
