"""What each signal put into a score, as pieces that lie side by side and are together as long as the score.

The explanation of a score is a tree of sums, products, ratios and maxima. Read from the top with a scale of
1, a sum hands its scale to every part; a ratio and a weight change the scale; a factor of at most 1 holds
back everything below it alike; and what a factor above 1 adds, ``value · (factor - 1)``, is a piece of its
own. So the pieces add up to the score, but for the rounding of float64.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from memorata._frozen import frozen
from memorata.model.hit import Explanation

_SCALES: Final = ("weight",)
"""Labels of factors that only say how much of a part is taken."""
_CARRIER: Final = "relevance"


@frozen
class Piece:
    """What one signal put into a score, and what the explanation notes about it."""

    label: str
    value: float
    note: str = ""


@frozen
class Segment:
    """A piece as it is drawn: where it begins and how wide it is, in the units of the bar."""

    label: str
    value: float
    start: float
    width: float


def contributions(why: Explanation) -> tuple[Piece, ...]:
    """Return what each signal put into a score, in the order of the explanation, each signal once."""
    pieces: dict[str, Piece] = {}
    for piece in _pieces(why, 1.0):
        before = pieces.get(piece.label)
        value = piece.value if before is None else before.value + piece.value
        pieces[piece.label] = Piece(piece.label, value, piece.note or (before.note if before else ""))
    return tuple(pieces.values())


def segments(pieces: Sequence[Piece], most: float, width: float = 100.0) -> tuple[Segment, ...]:
    """Return pieces as the segments of a bar on which a score of `most` would be `width` wide.

    Pieces of 0 and below have no segment: a bar cannot show less than nothing.
    """
    drawn: list[Segment] = []
    end = 0.0
    for piece in pieces:
        if piece.value > 0 and most > 0:
            wide = piece.value / most * width
            drawn.append(Segment(piece.label, piece.value, end, wide))
            end += wide
    return tuple(drawn)


def _pieces(node: Explanation, scale: float) -> Iterator[Piece]:
    if node.operation == "sum":
        for part in node.parts:
            yield from _pieces(part, scale)
    elif node.operation == "product":
        yield from _product(node, scale)
    elif node.operation == "ratio":
        below = 1.0
        for part in node.parts[1:]:
            below *= part.value
        yield from _pieces(node.parts[0], scale / below)
    elif node.operation == "max":
        yield from _pieces(max(node.parts, key=lambda part: part.value), scale)
    else:
        yield Piece(node.label, node.value * scale, node.note)


def _product(node: Explanation, scale: float) -> Iterator[Piece]:
    carrier = _carrier(node.parts)
    factor, gained = scale, []
    for part in node.parts:
        if part is carrier:
            continue
        if part.label in _SCALES or part.value <= 1:
            factor *= part.value
        else:
            gained.append(part)
    yield from _pieces(carrier, factor)
    value = carrier.value * factor
    for part in gained:
        yield Piece(part.label, value * (part.value - 1), part.note)
        value *= part.value


def _carrier(parts: Sequence[Explanation]) -> Explanation:
    """Return the part of a product that the others are factors of."""
    inner = next((part for part in parts if part.parts), None)
    labelled = next((part for part in parts if part.label == _CARRIER), None)
    free = next((part for part in parts if part.label not in _SCALES), parts[0])
    return inner or labelled or free
