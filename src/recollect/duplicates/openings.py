"""How a text opens: enough to tell, of most texts, that they neither repeat nor contradict each other.

Whatever :func:`~recollect.duplicates.near.judge` takes for one statement begins with the same letters
(:func:`~recollect.duplicates.wording.same_statement`, :func:`~recollect.duplicates.wording.extends`), and
whatever :func:`~recollect.duplicates.contradiction.contradiction` hints at begins with the same subject. So
two short keys per text, which can be kept of everything that was ever said, rule out all but a few texts
before a vector is compared or a row is read: a filter before the comparison, as the prefix filters of
Chaudhuri, Ganti and Kaushik, "A primitive operator for similarity joins in data cleaning" (ICDE 2006), are,
and like theirs one that misses nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from recollect.duplicates.contradiction import MINE, PASSED, spoken
from recollect.duplicates.cue_words import FILLERS
from recollect.duplicates.wording import extends, same_statement, settled, words_in
from recollect.model import checks

LETTERS: Final = 8
"""How many letters of a statement count; a shorter one may be the beginning of any other."""


@dataclass(frozen=True, slots=True)
class Opening:
    """What a text begins with.

    Parameters
    ----------
    subject
        What it is about, without endings; empty if it says nothing of anything.
    letters
        The first `LETTERS` letters of it without fillers, spaces and hyphens; all of them if it has fewer.
    """

    subject: str
    letters: str


def opening(text: str) -> Opening:
    """Return how a text opens.

    Examples
    --------
    >>> opening("The user-manual really is long.")
    Opening(subject='user-manual', letters='usermanu')
    >>> opening("My sisters swim"), opening("Oh!")
    (Opening(subject='my sis', letters='mysister'), Opening(subject='oh', letters='oh'))
    """
    return _read(checks.text("text", text))


def repeats_any(text: str, others: Iterable[str]) -> bool:
    """Tell whether a text and one of several are one statement, or one of the two goes on from the other.

    Parameters
    ----------
    text
        A text.
    others
        Those that it is compared with.

    Examples
    --------
    >>> repeats_any("Anna likes tea", ["Bob swims", "Anna really likes tea"])
    True
    >>> repeats_any("Anna likes tea", ["Bob swims", "Anna likes coffee"])
    False
    """
    return any(
        same_statement(other, text) or extends(other, text) or extends(text, other) for other in others
    )


@lru_cache(maxsize=64)
def _read(text: str) -> Opening:
    # Kept for a moment: what is looked for now is written down next.
    subject = whose = letters = fillers = ""
    for word in words_in(text):
        if not letters and word.text in FILLERS:
            fillers += word.text
        elif len(letters) < LETTERS and word.text not in FILLERS:
            letters += word.text.replace("-", "")
        if not subject and word.text not in PASSED:
            said = spoken(word)
            if said is MINE and not whose:
                whose = "my "
            else:
                subject = whose + settled(said.text)
        if subject and len(letters) >= LETTERS:
            break
    # A text of nothing but fillers is compared by those.
    return Opening(subject, (letters or fillers)[:LETTERS])
