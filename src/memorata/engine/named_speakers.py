"""Speakers whom a question names: looked for among those who speak, not in what was said.

"What does Anna paint?" is answered by what Anna says, and she seldom says her own name: the texts that hold
it are mostly those of others, who greet her or thank her. So her name is asked of the speaker alone. It also
drowns the rest of the question in an embedding: where two people talk, "Anna" is near to half of what was
said and tells nothing, while "painting" is one direction among hundreds. Where she is one of many, her name
does tell something, and stays in the question that is embedded.

What a question is about and who said it are two criteria, searched apart and then put together: a structured
query (Metzler and Croft, "Combining the language model and inference network approaches to retrieval", 2004).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final, TypeAlias

from memorata.engine.words import Question, counted, readers
from memorata.store.port import View
from memorata.text.analysers import Analyser, roots

_WORD: Final = re.compile(r"[^\W\d_]\w*")

Names: TypeAlias = Mapping[str, tuple[str, ...]]
"""Words that may be names, and the terms of each."""


def possible_names(question: Question, analyser: Analyser) -> dict[str, tuple[str, ...]]:
    """Return the words of a question that may be names, and the terms of each.

    Those are words with a capital letter, or of a script that has none, which are neither in quotation marks,
    where they are wanted as they stand, nor left out by the analyser. "the assistant" is no name, even where
    one speaks.

    Examples
    --------
    >>> from memorata.engine.words import read_question
    >>> from memorata.text.analysers import ANALYSERS
    >>> snowball = ANALYSERS["snowball"]
    >>> possible_names(read_question("What does Anna's brother paint?", snowball), snowball)
    {'Anna': ('anna',)}
    """
    quoted = {term for phrase in question.phrases for term in analyser.tokens(phrase)}
    found: dict[str, tuple[str, ...]] = {}
    for word in dict.fromkeys(_WORD.findall(question.text)):
        if word[0] == word[0].lower() != word[0].upper():
            continue
        terms = tuple(analyser.tokens(word))
        if terms and not quoted.intersection(terms):
            found[word] = terms
    return found


def with_speakers(question: Question, names: Names, view: View, analyser: Analyser, share: float) -> Question:
    """Return the question, knowing which of its words name somebody who speaks.

    Parameters
    ----------
    question
        As it was read.
    names
        Its :func:`possible_names`.
    view
        Where people speak.
    analyser
        What reads words.
    share
        The name of who says at least this share of the memories is left out of what is embedded.

    Returns
    -------
    Question
        With the names in `speakers`, and without some of them in `topic`; the same question if it names
        nobody, or asks for nothing else.
    """
    asked = tuple(dict.fromkeys(term for terms in names.values() for term in terms))
    count, said = view.document_frequencies(asked, field="speaker")
    known = {word: terms for word, terms in names.items() if all(said[term] for term in terms)}
    asking = _as_names(question, known, analyser)
    known = {word: terms for word, terms in known.items() if asking.keys() >= set(terms)}
    speakers = {term for terms in known.values() for term in terms}
    if not speakers or speakers >= asking.keys():
        return question
    common = {word for word, terms in known.items() if min(said[term] for term in terms) >= share * count}
    return replace(
        question,
        terms=asking,
        speakers=tuple(term for term in asking if term in speakers),
        topic=_without(question.text, common),
        roots=counted(roots(_without(question.text, set(known)))),
    )


def _as_names(question: Question, known: Names, analyser: Analyser) -> dict[str, int]:
    """Return the terms of a question, names being read as those of who speaks are: by themselves.

    A question is read in its language, in which "Carmen" may be another term: in Spanish it is "carm".
    """
    terms = dict(question.terms)
    differing = {word: alone for word, alone in known.items() if not terms.keys() >= set(alone)}
    if differing:
        *_, reader = readers(analyser, question.text)
        for word, alone in differing.items():
            inside = reader.tokens(word)
            if inside and terms.keys() >= set(inside):
                times = max(terms.pop(term) for term in set(inside))
                terms |= dict.fromkeys(alone, times)
    return terms


def _without(text: str, names: set[str]) -> str:
    rest = _WORD.sub(lambda match: "" if match[0] in names else match[0], text)
    return " ".join(rest.split())
