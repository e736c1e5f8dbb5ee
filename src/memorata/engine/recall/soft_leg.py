"""The soft-lexical leg: candidates scored by words of like meaning, token by token.

It has no candidates of its own: it scores those of the vector and lexical legs. A table of token vectors that
is not installed, or is for other scripts than the query's, has no weight.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import Final

import numpy as np

from memorata._frozen import frozen
from memorata.embed.token_table import LoadedTable, Tokens, TokenTable
from memorata.engine.recall.query import RecallContext
from memorata.engine.recipes import Recipe
from memorata.engine.write.terms import embedded_text
from memorata.index.candidates import NO_CANDIDATES, LegCandidates
from memorata.index.lexical import distinct
from memorata.index.record import ROLES
from memorata.model.checks import FloatArray, IntArray
from memorata.model.errors import EmbedderError
from memorata.model.memory import Memory
from memorata.rank.scores import Combination
from memorata.rank.soft_lexical import length_factors, soft_matches
from memorata.text.language import detect, familiarity
from memorata.text.tokens import is_unspaced

MAX_QUERY_TOKENS: Final = 64
"""Most tokens of a query that are compared, by weight; the time grows with them."""
_MAX_OWN_LANGUAGES: Final = 3
"""A table for more languages is multilingual."""
_MULTILINGUAL_SHARE: Final = 0.5
"""Weight of a multilingual table beside others."""
_MAX_SHOWN_WORDS: Final = 4
"""Most words that an explanation names."""
_WORD: Final = re.compile(r"\w+")


@frozen(eq=False)
class _TableMatches:
    """The matches of candidates with a query by one table: a row for each, a column per query token."""

    table: LoadedTable
    query: IntArray
    weights: FloatArray
    matches: FloatArray
    share: float
    """Its weight beside other tables."""
    knows_all: bool
    """Whether the table is for the language of the query and of every candidate."""

    @property
    def scores(self) -> FloatArray:
        """The weighted sum of the matches, as a share of the best candidate's."""
        scores: FloatArray = self.matches @ self.weights
        best = float(scores.max(initial=0.0))
        return scores / best if best > 0 else np.zeros(scores.size)


def soft_leg(recipe: Recipe, context: RecallContext, slots: IntArray) -> LegCandidates:
    """Return the candidates that match the query by words of like meaning, best first."""
    tables = [(table, *_table_weight(table, context.query.text)) for table in context.tables]
    most = max((trust for _, _, trust in tables), default=0.0)
    if not slots.size or not most:
        return NO_CANDIDATES
    table_matches: list[_TableMatches] = []
    # Tables of few languages first: where one covers all that is compared, the others are not used.
    for table, share, _ in sorted(tables, key=lambda entry: len(entry[0].languages)):
        if share and (matched := _table_matches(recipe, context, slots, table, share)) is not None:
            table_matches.append(matched)
            if matched.knows_all:
                break
    if not table_matches:
        return NO_CANDIDATES
    scores = np.sum([matched.share * matched.scores for matched in table_matches], axis=0)
    # The best score is the trust in the leg, which does not depend on how far the tables agree.
    scores *= most / max(float(scores.max()), 1e-9)
    order = (-scores).argsort(kind="stable")
    order = order[scores[order] > 0]
    detail = partial(_detail, slots, table_matches, context.query.text)
    return LegCandidates(slots[order], scores[order], detail)


def _table_weight(table: TokenTable, text: str) -> tuple[float, float]:
    """Return the weight of a table beside others, and the trust in it alone.

    A multilingual table is weaker in each language, and has half the weight beside a table of English.
    """
    familiar, many = familiarity(text, table.languages), len(table.languages) > _MAX_OWN_LANGUAGES
    return familiar * (_MULTILINGUAL_SHARE if many else 1.0), familiar * table.trust


def _table_matches(
    recipe: Recipe, context: RecallContext, slots: IntArray, named: TokenTable, share: float
) -> _TableMatches | None:
    try:
        table = named.load()
    except EmbedderError as error:
        context.failures.append(f"the token vectors {named.name} cannot be used: {error}")
        return None
    query = table.tokens([context.query.text])[0].astype(np.intp)
    weights = table.weights[query]
    if query.size > MAX_QUERY_TOKENS:
        most = np.sort((-weights).argsort(kind="stable")[:MAX_QUERY_TOKENS])
        query, weights = query[most], weights[most]
    view = context.view
    before = view.neighbours(slots, 1)[0] if recipe.soft_before or recipe.soft_question else slots[:0]
    spoken = before >= 0
    all_slots = distinct(np.concatenate([slots, before[spoken]])) if spoken.any() else slots
    tokens, sizes, marks = view.tokens(named.name, all_slots, partial(_read, named, table))
    asking = (marks & _ASKS) > 0
    matches = soft_matches(query, tokens, sizes, table.rows, cut=table.cut)
    if all_slots is not slots:
        own, at = all_slots.searchsorted(slots), all_slots.searchsorted(before[spoken])
        lean = np.where(asking[at], recipe.soft_question, recipe.soft_before)
        # A long text leans less on the one before it, as where words are read in context.
        lean *= np.minimum(1.0, recipe.context_words / np.maximum(sizes[own[spoken]], 1))
        around = lean[:, np.newaxis] * matches[at]
        matches, sizes = matches[own], sizes[own]
        matches[spoken] = np.maximum(matches[spoken], around)
    knows_all = _is_for(named, context.query.text) and not (marks & _FOREIGN).any()
    matches = matches * length_factors(sizes)[:, np.newaxis]
    return _TableMatches(table, query, weights, matches, share, knows_all)


def _read(named: TokenTable, table: LoadedTable, memories: Sequence[Memory]) -> list[tuple[Tokens, int]]:
    tokens = table.tokens([_spoken(memory) for memory in memories])
    return [(row, _marks(named, memory.content)) for row, memory in zip(tokens, memories, strict=True)]


_ASKS, _FOREIGN = 1, 2


def _marks(named: TokenTable, text: str) -> int:
    """Return bits: whether a text has a question, and whether the table is not for its language."""
    asks = "?" in text or "？" in text or "؟" in text
    return (_ASKS if asks else 0) | (0 if _is_for(named, text) else _FOREIGN)


def _is_for(table: TokenTable, text: str) -> bool:
    """Return whether a table is for the language of a text, and for no other."""
    return table.languages == ("en",) and detect(text) == "english"


def _spoken(memory: Memory) -> str:
    """Return the text to compare: the content after its speaker's name; a role such as "user" is no name."""
    return memory.content if memory.source.speaker.casefold() in ROLES else embedded_text(memory)


def _detail(
    slots: IntArray, table_matches: Sequence[_TableMatches], text: str, chosen: IntArray
) -> Combination:
    """Return the words of the query that a candidate matches best, each with what its tokens add up to."""
    (position,) = (slots == chosen[0]).nonzero()[0][:1].tolist()
    best: dict[str, float] = {}
    for matched in table_matches:
        worth: dict[str, float] = {}
        values = (matched.weights * matched.matches[position]).tolist()
        for word, value in zip(_words_of(matched.table, matched.query, text), values, strict=True):
            worth[word] = worth.get(word, 0.0) + value
        best |= {word: max(value, best.get(word, 0.0)) for word, value in worth.items() if word}
    words = sorted(best, key=lambda word: -best[word])[:_MAX_SHOWN_WORDS]
    return Combination.of("sum", words, np.array([[best[word]] for word in words]))


def _words_of(table: LoadedTable, tokens: IntArray, text: str) -> list[str]:
    """Return the word of a query that each token is of; of a script without spaces, the token itself."""
    words = [word for word in _WORD.findall(text) if not any(map(is_unspaced, word))]
    word_of = {
        token: word
        for word, pieces in zip(reversed(words), table.tokens(words[::-1]), strict=True)
        for token in pieces.tolist()
    }
    # The marks of tokenizers for beginnings and continuations of words are noise to a reader.
    return [
        word_of.get(token) or table.text(token).removeprefix("▁").removeprefix("##")
        for token in tokens.tolist()
    ]
