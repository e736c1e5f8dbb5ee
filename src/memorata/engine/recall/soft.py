"""The soft-lexical score of candidates: by words of like meaning, token by token.

It finds nobody by itself: it scores what meaning and words found. A table of token vectors that is not
installed, or knows none of the query's letters, has no say.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

import numpy as np

from memorata._frozen import frozen
from memorata.embed.token_table import LoadedTable, Tokens, TokenTable
from memorata.engine.recall.query import RecallContext
from memorata.engine.recipes.recipe import Recipe
from memorata.engine.write.terms import embedded_text
from memorata.index.index import NOTHING, Found
from memorata.index.lexical import distinct
from memorata.index.record import ROLES
from memorata.model.checks import FloatArray, IntArray
from memorata.model.errors import EmbedderError
from memorata.model.memory import Memory
from memorata.rank.scores import Combination
from memorata.rank.soft_lexical import length_factors, soft_matches
from memorata.text.language import detect, familiarity

MAX_QUERY_TOKENS: Final = 64
"""How many tokens of a query are compared: those that count most, for time grows with them."""
_FEW_LANGUAGES: Final = 3
_OF_MANY: Final = 0.5
_SHOWN: Final = 4
"""How many tokens an explanation names."""


@frozen(eq=False)
class _Meeting:
    """How well candidates meet a query by one table: a row of `matches` for each, a column per token."""

    table: LoadedTable
    query: IntArray
    weights: FloatArray
    matches: FloatArray
    share: float
    """How much it counts beside others."""
    knows_all: bool
    """Whether the table was made for the language of the query and of every candidate."""

    @property
    def scores(self) -> FloatArray:
        """What the tokens of the query met with, added up by weight, as a share of the best candidate's."""
        scores: FloatArray = self.matches @ self.weights
        best = float(scores.max(initial=0.0))
        return scores / best if best > 0 else np.zeros(scores.size)


def soft_leg(recipe: Recipe, context: RecallContext, slots: IntArray) -> Found:
    """Return the candidates that meet the query by words of like meaning, best first."""
    tables = [(table, *_say(table, context.query.text)) for table in context.tables]
    most = max((trust for _, _, trust in tables), default=0.0)
    if not slots.size or not most:
        return NOTHING
    meetings: list[_Meeting] = []
    # Who knows few languages first: where it knows all that is compared, nobody else is asked.
    for table, share, _ in sorted(tables, key=lambda entry: len(entry[0].languages)):
        if share and (meeting := _meeting(recipe, context, slots, table, share)) is not None:
            meetings.append(meeting)
            if meeting.knows_all:
                break
    if not meetings:
        return NOTHING
    scores = np.sum([meeting.share * meeting.scores for meeting in meetings], axis=0)
    # What its best has is what the leg is trusted with; tables that disagree are trusted no less for it.
    scores *= most / max(float(scores.max()), 1e-9)
    order = (-scores).argsort(kind="stable")
    order = order[scores[order] > 0]
    return Found(slots[order], scores[order], partial(_detail, slots, meetings))


def _say(table: TokenTable, text: str) -> tuple[float, float]:
    """Return how much a table counts beside others, and how far it can be trusted alone.

    One for many languages knows each of them less well: English, beside a table of its own, at half of that.
    """
    familiar, many = familiarity(text, table.languages), len(table.languages) > _FEW_LANGUAGES
    return familiar * (_OF_MANY if many else 1.0), familiar * table.trust


def _meeting(
    recipe: Recipe, context: RecallContext, slots: IntArray, named: TokenTable, share: float
) -> _Meeting | None:
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
    everyone = distinct(np.concatenate([slots, before[spoken]])) if spoken.any() else slots
    tokens, sizes, marks = view.tokens(named.name, everyone, partial(_read, named, table))
    asking = (marks & _ASKS) > 0
    matches = soft_matches(query, tokens, sizes, table.rows, cut=table.cut)
    if everyone is not slots:
        own, at = everyone.searchsorted(slots), everyone.searchsorted(before[spoken])
        lean = np.where(asking[at], recipe.soft_question, recipe.soft_before)
        # A long text speaks for itself, as it does where words are read in context.
        lean *= np.minimum(1.0, recipe.context_words / np.maximum(sizes[own[spoken]], 1))
        around = lean[:, np.newaxis] * matches[at]
        matches, sizes = matches[own], sizes[own]
        matches[spoken] = np.maximum(matches[spoken], around)
    knows_all = _is_for(named, context.query.text) and not (marks & _FOREIGN).any()
    matches = matches * length_factors(sizes)[:, np.newaxis]
    return _Meeting(table, query, weights, matches, share, knows_all)


def _read(named: TokenTable, table: LoadedTable, memories: Sequence[Memory]) -> list[tuple[Tokens, int]]:
    tokens = table.tokens([_spoken(memory) for memory in memories])
    return [(row, _marks(named, memory.content)) for row, memory in zip(tokens, memories, strict=True)]


_ASKS, _FOREIGN = 1, 2


def _marks(named: TokenTable, text: str) -> int:
    """Return whether a text asks something, and whether the table was made for its language."""
    asks = "?" in text or "？" in text or "؟" in text
    return (_ASKS if asks else 0) | (0 if _is_for(named, text) else _FOREIGN)


def _is_for(table: TokenTable, text: str) -> bool:
    """Return whether a table was made for the language of a text, and for no other."""
    return table.languages == ("en",) and detect(text) == "english"


def _spoken(memory: Memory) -> str:
    """Return what is compared: a name before what somebody said; "user" is no name."""
    return memory.content if memory.source.speaker.casefold() in ROLES else embedded_text(memory)


def _detail(slots: IntArray, meetings: Sequence[_Meeting], some: IntArray) -> Combination:
    """Tell which tokens of the query some candidates meet best."""
    (position,) = (slots == some[0]).nonzero()[0][:1].tolist()
    parts: list[tuple[float, str]] = []
    for meeting in meetings:
        worth = meeting.weights * meeting.matches[position]
        most = (-worth).argsort(kind="stable")[:_SHOWN].tolist()
        parts += [(float(worth[at]), meeting.table.text(int(meeting.query[at]))) for at in most]
    parts.sort(reverse=True)
    worth = np.array([[value] for value, _ in parts[:_SHOWN]])
    return Combination.of("sum", [name for _, name in parts[:_SHOWN]], worth)
