"""Which of many texts may be one statement, or one that a correction denies: found by their words.

Among texts of one template all letters and all vectors are alike, so comparing what is alike compares
everything with everything. But :func:`~memorata.dedupe.verification.judge` takes two texts for one only if
they have the same words, or one goes on from the other, and words can be looked up: as in the prefix filter
of Chaudhuri, Ganti and Kaushik, "A primitive operator for similarity joins in data cleaning" (ICDE 2006), a
text is filed under what it says and under what it says without its last words. Nothing is missed, and the
time grows with the texts and the pairs found.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Annotated, Final

import numpy as np

from memorata.dedupe.minhash import Keys
from memorata.dedupe.openings import are_close, gist, opening
from memorata.dedupe.pairs import colliding_pairs
from memorata.dedupe.wording import shortenings, spelling, wording
from memorata.model import checks
from memorata.model.checks import BoolArray, IntArray
from memorata.model.errors import InvalidArgument
from memorata.model.parameter import Declared

Largest = Annotated[int, Declared("The largest number of like texts that are all compared.", 2, 1_000)]
_PROGRESS_STEP: Final = 2_000
_MAX_GISTS: Final = 400_000_000
"""How many gists the corrections look at, all together; shared out evenly if there are many of them."""
_MAX_DENIALS: Final = 200_000
"""How many pairs the corrections make, all together, as long as each may have `largest` of them."""


def statement_pairs(
    texts: Sequence[str], *, largest: Largest = 32, progress: Callable[[int], None] = lambda done: None
) -> IntArray:
    """Return the pairs of texts, first < second, that are one statement, or one goes on from the other.

    That is :func:`~memorata.dedupe.wording.same_statement` or :func:`~memorata.dedupe.wording.extends`, for
    all pairs at once. Of more than `largest` texts that are one statement, each is paired with the `largest`
    that follow it; a text that goes on, with the first `largest` of those it goes on from. `progress` is
    called with how many texts have been read.
    """
    checked, largest = checks.texts("texts", texts), checks.whole("largest", largest, 2)
    numbers: dict[tuple[str, ...], int] = {}
    keys = np.zeros(len(checked), np.uint64)
    filed: dict[tuple[str, ...], list[int]] = defaultdict(list)
    shorter: list[list[tuple[str, ...]]] = []
    for position, text in enumerate(checked):
        if position % _PROGRESS_STEP == 0:
            progress(position)
        words, shortened = shortenings(text)
        keys[position] = numbers.setdefault(spelling(words), len(numbers))
        if words and len(filed[words]) < largest:
            filed[words].append(position)
        shorter.append(shortened)
    progress(len(checked))
    pairs = {
        (min(position, shorter_position), max(position, shorter_position))
        for position, shortened in enumerate(shorter)
        for words in shortened
        for shorter_position in filed.get(words, ())
    }
    pairs.update(map(tuple, colliding_pairs([keys], largest=largest).tolist()))
    return np.array(sorted(pairs), np.intp).reshape(-1, 2)


def denial_pairs(texts: Sequence[str], denying: BoolArray, *, largest: Largest = 32) -> IntArray:
    """Return the pairs of texts, first < second, of which one is a correction that may deny the other.

    All for which :func:`~memorata.dedupe.contradiction.contradiction` gives a hint are among them: they
    have the same subject (:func:`~memorata.dedupe.openings.opening`), and little else than what is denied
    (:func:`~memorata.dedupe.openings.are_close`). If there are so many corrections that what they may deny
    comes to hundreds of thousands, each is paired with its share of these, but at least with `largest`: the
    nearest in the order of the texts.
    """
    checked, largest = checks.texts("texts", texts), checks.whole("largest", largest, 2)
    if not isinstance(denying, np.ndarray) or denying.dtype != np.bool_ or denying.shape != (len(checked),):
        raise InvalidArgument("denying", denying, "an array of as many flags as there are texts")
    corrections = np.flatnonzero(denying)
    if not corrections.size:
        return np.zeros((0, 2), np.intp)
    max_pairs, reach = (
        max(largest, _MAX_DENIALS // corrections.size),
        max(largest, _MAX_GISTS // corrections.size),
    )
    subjects = {opening(checked[position]).subject for position in corrections.tolist()}
    about: dict[str, list[int]] = defaultdict(list)
    for position, text in enumerate(checked):
        subject = opening(text).subject
        if subject in subjects:
            about[subject].append(position)
    pairs: set[tuple[int, int]] = set()
    for members in about.values():
        places = np.array(members, np.intp)
        gists = [gist(checked[position]) for position in members]
        words, kinds, spellings = (
            np.array(column, np.uint64)
            for column in zip(*((entry.words, entry.kinds, entry.spelling) for entry in gists), strict=True)
        )
        for rank in np.flatnonzero(denying[places]).tolist():
            part = slice(max(0, rank - reach), rank + reach + 1)
            close = np.flatnonzero(are_close(gists[rank], words[part], kinds[part], spellings[part]))
            close = close[close + part.start != rank] + part.start
            if close.size > max_pairs:
                close = close[np.argsort(np.abs(close - rank), kind="stable")[:max_pairs]]
            correction = members[rank]
            pairs.update(
                (min(correction, denied), max(correction, denied)) for denied in places[close].tolist()
            )
    return np.array(sorted(pairs), np.intp).reshape(-1, 2)


def paraphrase_keys(texts: Sequence[str]) -> Keys:
    """Return a number for each text, the same for those whose numbers and negations are the same.

    Other words for the same have the same numbers, in any order, and are denied or not, as both are.
    """
    numbers: dict[tuple[bool, tuple[str, ...]], int] = {}
    keys = []
    for text in checks.texts("texts", texts):
        statement = wording(text)
        keys.append(numbers.setdefault((statement.negated, tuple(sorted(statement.numbers))), len(numbers)))
    return np.array(keys, np.uint64)
