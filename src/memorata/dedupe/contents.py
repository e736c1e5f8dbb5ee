"""Several contents as one, without saying anything twice."""

from __future__ import annotations

from collections.abc import Sequence

from memorata.dedupe.fingerprint import folded, is_closing_punctuation
from memorata.model import checks
from memorata.model.errors import InvalidArgument


def joined_once(contents: Sequence[str]) -> str:
    r"""Return the contents on lines of their own, except those that another one contains.

    A content is contained when its words stand in the other one, in their order and side by side. Words are
    compared without case, compatibility forms and the punctuation around them, as in
    :func:`~memorata.dedupe.fingerprint.normalised`: "tea" is in "Tea, please!" but not in "teapot", and
    "costs 3" is not in "costs 3.50". Whatever stays is word for word what it was, and joining the result with
    any of the contents again adds nothing.

    Parameters
    ----------
    contents
        One text or more. Their order is kept; of texts with the same words the first one stays.

    Examples
    --------
    >>> joined_once(["Likes tea.", "likes  tea", "Lives in Rome"])
    'Likes tea.\nLives in Rome'
    >>> joined_once(["Likes tea", "She likes tea, and coffee."])
    'She likes tea, and coffee.'
    """
    if not isinstance(contents, Sequence) or isinstance(contents, str) or not contents:
        raise InvalidArgument("contents", contents, "a list of one text or more")
    keys = [_words(checks.text(f"contents[{place}]", content)) for place, content in enumerate(contents)]
    return "\n".join(content for place, content in enumerate(contents) if not _is_repeated(place, keys))


def _is_repeated(place: int, keys: Sequence[str]) -> bool:
    """Tell whether the words at `place` stand in those of another place, or are the same as earlier ones."""
    key = keys[place]
    return any(
        key in other and (key != other or rival < place) for rival, other in enumerate(keys) if rival != place
    )


def _words(content: str) -> str:
    """Return the words of `content`, each between two spaces, so that ``in`` compares whole words."""
    words = [_bare(word) for word in folded(content).split()]
    return " ".join(["", *words, ""])


def _bare(word: str) -> str:
    """Return `word` without the punctuation around it; a word of nothing else stays."""
    start, end = 0, len(word)
    while start < end and is_closing_punctuation(word[start]):
        start += 1
    while end > start and is_closing_punctuation(word[end - 1]):
        end -= 1
    return word[start:end] or word
