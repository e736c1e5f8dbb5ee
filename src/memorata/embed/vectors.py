"""What embedders share: texts that can be read, unit vectors, and batches of texts of like length.

Every vector leaves an embedder with length one, so that cosine is a plain dot product. Where that does not
hold, one has broken its promise, or the bytes of a vector are no longer those that were written. Batches hold
texts of like length, so that little of the work is padding.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from memorata.embed.port import Vectors
from memorata.model.checks import IntArray, whole
from memorata.model.checks import text as checked
from memorata.model.errors import InvalidArgument


def checked_texts(texts: Sequence[str]) -> list[str]:
    """Return the texts as a list; a bare string is refused, since its letters are rarely what was meant."""
    if isinstance(texts, str | bytes) or not isinstance(texts, Sequence):
        raise InvalidArgument("texts", texts, "a list of strings")
    return [well_formed(checked(f"texts[{index}]", text)) for index, text in enumerate(texts)]


def checked_text(text: str) -> str:
    """Return one text, well formed."""
    return well_formed(checked("text", text))


def well_formed(text: str) -> str:
    r"""Return `text` with every half of a broken surrogate pair replaced by U+FFFD, as UTF-8 demands."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


_MIN_LENGTH = 1e-15
"""A length of which the squares may have lost digits in float32."""


def unit_rows(rows: npt.NDArray[np.floating[Any]]) -> Vectors:
    """Return the rows scaled to length one; a row of zeros has no direction and stays as it is."""
    with np.errstate(over="ignore"):
        lengths = np.sqrt(np.add.reduce(rows * rows, axis=1, keepdims=True))
    if (lengths > _MIN_LENGTH).all() and np.isfinite(lengths).all():
        # All but always; what follows takes several times as long for the vector of one query.
        return (rows / lengths).astype(np.float32, copy=False)
    odd = (
        np.isfinite(rows).all(axis=1)
        & rows.any(axis=1)
        & ~((lengths[:, 0] > _MIN_LENGTH) & np.isfinite(lengths[:, 0]))
    )
    if odd.any():
        # Their squares have no room, or nothing is left of them; their direction is as good as any.
        rows = rows.copy()
        rows[odd] /= np.abs(rows[odd]).max(axis=1, keepdims=True)
        lengths[odd] = np.linalg.norm(rows[odd], axis=1, keepdims=True)
    unit: npt.NDArray[np.floating[Any]] = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return unit.astype(np.float32, copy=False)


def unit_means(groups: Sequence[Vectors], dimension: int) -> Vectors:
    """Return one unit row per group: the direction of the mean of the group's rows."""
    means = np.empty((len(groups), dimension), dtype=np.float32)
    for row, group in enumerate(groups):
        # A lone passage is copied, not averaged, so that its vector is the same to the last bit.
        means[row] = group[0] if len(group) == 1 else unit_rows(group.mean(axis=0, keepdims=True))[0]
    return means


def length_sorted(lengths: Sequence[int], most_rows: int, most_tokens: int) -> list[IntArray]:
    """Return the indices of every batch, longest first, so that the largest allocation comes at once.

    A batch holds at most `most_rows` texts and, once padded to its longest, at most `most_tokens` tokens; a
    text of more tokens than that is a batch by itself.
    """
    whole("most_rows", most_rows, 1)
    whole("most_tokens", most_tokens, 1)
    order = np.argsort(-np.asarray(lengths, dtype=np.intp), kind="stable")
    batches = []
    start = 0
    while start < len(order):
        longest = max(1, lengths[order[start]])
        size = min(most_rows, max(1, most_tokens // longest))
        batches.append(order[start : start + size])
        start += size
    return batches


_LENGTH_TOLERANCE: Final = 0.02
"""How far from 1 the squared length of a vector may be: some have been rounded on the way."""


def are_directions(rows: npt.NDArray[np.floating[Any]]) -> bool:
    """Tell whether all rows have the length 1, or 0 for a text in which an embedder finds nothing."""
    if len(rows) == 1:
        # Of one, plain numbers tell in a quarter of the time.
        return is_direction(rows) or float(np.vdot(rows, rows)) == 0
    squares = np.einsum("ij,ij->i", rows, rows)
    # Not a number is in no range.
    return bool(((np.abs(squares - 1) <= _LENGTH_TOLERANCE) | (squares == 0)).all())


def is_direction(row: npt.NDArray[np.floating[Any]]) -> bool:
    """Tell whether one row has the length 1; then all of its numbers are finite, too."""
    return abs(float(np.vdot(row, row)) - 1) <= _LENGTH_TOLERANCE
