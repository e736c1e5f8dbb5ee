"""Texts as the pieces of a vocabulary: each word is cut where its pieces cost least.

Words repeat, so the tokens of the words met last are kept, and most of a text is looked up.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from memorata.text.tokens import WordCache

Ids = tuple[int, ...]
_WORD_START: Final = "▁"
"""What stands before the pieces that begin a word."""


class SubwordReader:
    """Reads texts as tokens: `pattern` is what a word is, `read` gives the tokens of one."""

    def __init__(self, pattern: re.Pattern[str], read: Callable[[str], Ids]) -> None:
        self._pattern = pattern
        self._words = WordCache(read)

    def ids(self, text: str) -> list[int]:
        """Return the tokens of a text."""
        words = self._words
        ids: list[int] = []
        for word in self._pattern.findall(text):
            ids += words[word]
        return ids

    def spans(self, text: str) -> Iterator[tuple[int, int, Ids]]:
        """Yield the words of a text: where each begins and ends, and its tokens."""
        for match in self._pattern.finditer(text):
            yield match.start(), match.end(), self._words[match[0]]


def unigram_reader(pieces: Sequence[str], scores: Sequence[float]) -> SubwordReader:
    """Return the reader that cuts a word into its likeliest pieces, which have log probabilities.

    That is a unigram model (Kudo, "Subword regularization", ACL 2018) as SentencePiece reads it: characters
    in their compatible form, those that cannot be seen left out, one unknown token, the first, for characters
    without a piece, ten times less likely (by its logarithm) than the least likely piece.
    """
    costs = [-score for score in scores]
    read = _cheapest_pieces(pieces, costs, 0, 10.0 + max(costs, default=0.0))

    def normalised(word: str) -> Ids:
        if not word.isascii():
            word = unicodedata.normalize("NFKC", word)
        if not word.isprintable():
            word = "".join(
                letter for letter in word if letter.isspace() or unicodedata.category(letter)[0] != "C"
            )
        parts = word.split()
        return read("".join(_WORD_START + part for part in parts)) if parts else ()

    return SubwordReader(re.compile(r"\S+"), normalised)


def _cheapest_pieces(
    pieces: Sequence[str], costs: Sequence[float], unknown: int, unknown_cost: float
) -> Callable[[str], Ids]:
    """Return the function that cuts a word into pieces of the least total cost (Viterbi).

    Neighbouring characters without a piece are one `unknown` token. An empty piece stands for no text.
    """
    numbers: Mapping[str, int] = {piece: number for number, piece in enumerate(pieces) if piece}
    longest = max(map(len, numbers), default=1)

    def read(word: str) -> Ids:
        best, starts, tokens = [0.0], [0], [unknown]
        for end in range(1, len(word) + 1):
            least, begin, token = math.inf, end - 1, unknown
            for start in range(max(0, end - longest), end):
                number = numbers.get(word[start:end])
                if number is not None and best[start] + costs[number] < least:
                    least, begin, token = best[start] + costs[number], start, number
            # An unknown character is worth it only where there is no other way; of equals the piece stays.
            if best[end - 1] + unknown_cost < least:
                least, begin, token = best[end - 1] + unknown_cost, end - 1, unknown
            best.append(least)
            starts.append(begin)
            tokens.append(token)
        ids: list[int] = []
        end = len(word)
        while end:
            if tokens[end] != unknown or ids[-1:] != [unknown]:
                ids.append(tokens[end])
            end = starts[end]
        return tuple(reversed(ids))

    return read
