"""Which of the known names somebody may have meant, for the end of an error message.

The likeness is that of Ratcliff and Obershelp's gestalt matching, as in the standard library's `difflib`.
"""

from __future__ import annotations

from collections.abc import Iterable


def nearest(word: str, choices: Iterable[str]) -> str:
    """Return a question that names the likeliest choice, to end a sentence with, or nothing.

    Examples
    --------
    >>> nearest("balancd", ["fast", "balanced"])
    ' (did you mean balanced?)'
    >>> nearest("xyz", ["fast", "balanced"])
    ''
    """
    # Only mistakes need it, and most processes make none.
    from difflib import get_close_matches

    found = get_close_matches(word, list(choices), 1)
    return f" (did you mean {found[0]}?)" if found else ""
