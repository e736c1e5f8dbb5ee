"""Sentences: a text cut where a thought ends, by its marks and lines.

Marks of many scripts end a sentence (Unicode's Sentence_Terminal, the common ones); a full stop does so only
before a space and something that can begin a sentence, and not after an initial or a usual abbreviation
(Kiss and Strunk, "Unsupervised multilingual sentence boundary detection", 2006, learn those; a short list is
enough to summarise by).
"""

from __future__ import annotations

import re
from typing import Final

from memorata.model import checks

_END: Final = re.compile(
    r"(?<=[.!?…])[\"'”’»)\]]*\s+(?=[\"'“‘«(\[¿¡]*[^\W_a-zа-яё])|(?<=[。！？।؟۔])[\"'”’」』)]*\s*|\n\s*(?:[-*•]\s+)?"
)
_BULLET: Final = re.compile(r"^[-*•]\s+")
_ABBREVIATED: Final = re.compile(
    r"(?<![^\s(])(?:[^\W\d_]|Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|vs|etc|Nr|Hr|Fr|bzw|z\.B|e\.g|i\.e|г|ул|им|т\.д|т\.п)\.$",
    re.IGNORECASE,
)

_LONGEST: Final = 12
"""How far back to look for an abbreviation."""


def sentences(text: str) -> tuple[str, ...]:
    r"""Return the sentences of a text, in their order, without white space around them.

    Examples
    --------
    >>> sentences("Anna met Dr. Weiss. They had tea! Did Bo come?")
    ('Anna met Dr. Weiss.', 'They had tea!', 'Did Bo come?')
    >>> sentences("- milk\n- 2.5 kg of flour")
    ('milk', '2.5 kg of flour')
    """
    pieces: list[str] = []
    after = 0
    given = checks.text("text", text)
    for end in _END.finditer(given):
        if not _ABBREVIATED.search(given, max(after, end.start() - _LONGEST), end.start()):
            closing = end[0].split(maxsplit=1)[0] if end[0][:1].strip() else ""
            pieces.append(given[after : end.start()] + closing)
            after = end.end()
    pieces.append(given[after:])
    return tuple(
        bare for piece in pieces if (bare := _BULLET.sub("", piece.strip())) and _says_something(bare)
    )


def _says_something(piece: str) -> bool:
    return any(each.isalnum() for each in piece)
