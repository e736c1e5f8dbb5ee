"""IDF-aware boosts: a name that tells memories apart weighs more than one that stands in all of them.

A query term that names a known entity is repeated in the lexical query, as often as its rarity deserves; a
character who appears in every memory is repeated once, that is, not boosted. Source: OpenVault.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Annotated

from memorata.model import checks
from memorata.model.errors import InvalidArgument
from memorata.model.parameter import Declared
from memorata.rank.bm25 import Statistics, checked_statistics, inverse_document_frequency

EntityWeight = Annotated[float, Declared("How strongly names in the query count; 5 repeats per unit.", 0, 10)]

_REPEATS_PER_WEIGHT = 5


def entity_base(entity_weight: EntityWeight = 1.0) -> int:
    """Return the repeats of the rarest entity: ``ceil(weight · 5)``.

    Examples
    --------
    >>> entity_base(3.4)
    17
    """
    weight = checks.at_least("entity_weight", entity_weight, 0)
    # Three steps of 0.2 make 0.6000000000000001 in floats; the ceiling is of the number that was meant.
    rounded = round(weight * _REPEATS_PER_WEIGHT, 9)
    if math.isinf(rounded):
        raise InvalidArgument("entity_weight", entity_weight, "small enough to compute with in float64")
    return math.ceil(rounded)


def repeats(document_frequency: int, document_count: int, base: int) -> int:
    """Return how often a term is to stand in the query: ``max(1, round(base · min(1, idf / ln(N + 1))))``.

    Halves round up. A term that no text has is not boosted: 1.

    Examples
    --------
    >>> [repeats(df, document_count=30, base=17) for df in (28, 2, 1)]
    [1, 12, 15]
    """
    max_repeats = checks.whole("base", base)
    idf = inverse_document_frequency(document_frequency, document_count)
    if not idf:
        return 1
    return max(1, math.floor(max_repeats * min(1.0, idf / math.log(document_count + 1)) + 0.5))


def boosted_query(
    tokens: Sequence[str],
    entities: Collection[str],
    statistics: Statistics,
    *,
    entity_weight: EntityWeight = 1.0,
    corpus_base: Annotated[int, Declared("Repeats of the rarest known word that is no name.", 1, 10)] = 1,
    unknown_base: Annotated[int, Declared("Repeats of a word no memory has.", 1, 10)] = 1,
) -> dict[str, int]:
    """Return each query term with the times it is to count.

    Parameters
    ----------
    tokens
        The analysed query; each term is treated once, in order of first appearance.
    entities
        The analysed names the collection knows.
    statistics
        Counts of the collection.
    entity_weight
        Strength of the names; see :func:`entity_base`.
    corpus_base, unknown_base
        Bases of terms found in the collection that are no names, and of terms found in neither. Layered
        queries use 3 and 2; 1 leaves such terms as they are. A term without an idf counts its base in full.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> counts = {"anna": 1, "ben": 29, "tea": 30}
    >>> texts = SimpleNamespace(document_count=30, average_length=2.0, document_frequency=counts.get)
    >>> boosted_query(["anna", "ben", "tea"], {"anna", "ben"}, texts, entity_weight=3.4)
    {'anna': 15, 'ben': 1, 'tea': 1}
    """
    names, counts = set(checks.texts("entities", entities)), checked_statistics(statistics)
    for_name = entity_base(entity_weight)
    for_word, for_unknown = (
        checks.whole("corpus_base", corpus_base, 1),
        checks.whole("unknown_base", unknown_base, 1),
    )
    result = {}
    for term in dict.fromkeys(checks.texts("tokens", tokens)):
        frequency = counts.document_frequency(term)
        if not frequency and term not in names:
            result[term] = for_unknown
        else:
            result[term] = repeats(frequency, counts.document_count, for_name if term in names else for_word)
    return result


def phrase_bonus(
    phrases_found: int,
    document_count: int,
    *,
    strength: Annotated[
        float, Declared("Worth of an exact phrase, in units of the largest idf.", 0, 5)
    ] = 1.0,
) -> float:
    """Return what exact phrase hits add: ``hits · strength · (largest idf a term can have)``.

    The largest idf is that of a term in a single text, ``ln((N - 0.5) / 1.5 + 1)``.

    Examples
    --------
    >>> round(phrase_bonus(1, document_count=30), 4)
    3.0285
    >>> phrase_bonus(0, document_count=30)
    0.0
    """
    hits, total = checks.whole("phrases_found", phrases_found), checks.whole("document_count", document_count)
    weight = checks.at_least("strength", strength, 0)
    bonus = hits * weight * inverse_document_frequency(1, total) if total else 0.0
    if math.isinf(bonus):
        raise InvalidArgument("strength", strength, f"small enough to count {hits} times in float64")
    return bonus
