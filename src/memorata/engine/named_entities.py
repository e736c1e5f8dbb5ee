"""Entities that a question may name: runs of its words, to be compared with the names that memories mention.

A term is not a name: "James" is read as "jame", and of "Anna Keller" each word becomes a term of its own,
while the index keeps the names that a memory mentions whole (:func:`memorata.engine.words.words_of`). So the
words of a question are compared as they stand, folded, alone and in runs, and what turns out to be a name
gives its terms the weight of one. Source: OpenVault, which boosts the names in a question.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from memorata.engine.words import Question, readers
from memorata.store.port import View
from memorata.text.analysers import Analyser
from memorata.text.folding import folded

_WORD: Final = re.compile(r"\w+")
_LONGEST: Final = 4
"""How many words a name has at most: Bank of New England."""


def possible_entities(question: Question, analyser: Analyser) -> dict[str, tuple[str, ...]]:
    """Return the runs of words of a question that may be names, folded, and the terms of each.

    Examples
    --------
    >>> from memorata.engine.words import read_question
    >>> from memorata.text.analysers import ANALYSERS
    >>> snowball = ANALYSERS["snowball"]
    >>> possible_entities(read_question("Does James O'Neill paint?", snowball), snowball)["james o'neill"]
    ('jame', 'neill')
    """
    text = question.text
    places = [match.span() for match in _WORD.finditer(text)]
    reading = readers(analyser, text)
    terms = [
        [term for reader in reading for term in reader.tokens(text[start:end]) if term in question.terms]
        for start, end in places
    ]
    found: dict[str, tuple[str, ...]] = {}
    for first, (start, _) in enumerate(places):
        for last in range(first, min(first + _LONGEST, len(places))):
            if terms[first] and terms[last]:
                within = dict.fromkeys(term for each in terms[first : last + 1] for term in each)
                found.setdefault(folded(text[start : places[last][1]]), tuple(within))
    return found


def named_terms(terms: Collection[str], question: Question, view: View) -> list[str]:
    """Return those of a question's terms that name an entity which some memory mentions.

    By themselves, or as words of one of its :func:`possible_entities`, where the question has them.
    """
    runs = question.entities
    _, of_entities = view.document_frequencies(tuple(terms), field="entities")
    _, mentioned = view.document_frequencies((*terms, *runs), field="names")
    within = {term for run, inside in runs.items() if mentioned[run] for term in inside}
    return [term for term in terms if of_entities[term] or mentioned[term] or term in within]
