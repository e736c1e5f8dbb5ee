"""TF-IDF: which words a text is about, for keywords and community summaries.

Source: Spärck Jones, "A statistical interpretation of term specificity", 1972.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from memorata.model import checks
from memorata.model.errors import InvalidArgument
from memorata.rank.bm25 import Statistics, checked_statistics


def tf_idf(frequency: int, length: int, document_frequency: int, document_count: int) -> float:
    """Return ``tf/len · ln(N/df)``; 0 for a term or a text that is not there.

    Examples
    --------
    >>> round(tf_idf(frequency=2, length=10, document_frequency=5, document_count=100), 4)
    0.5991
    """
    tf, tokens = checks.whole("frequency", frequency), checks.whole("length", length)
    found = checks.whole("document_frequency", document_frequency)
    total = checks.whole("document_count", document_count)
    if tf > tokens:
        raise InvalidArgument("frequency", frequency, f"at most the length, {length}")
    if found > total:
        raise InvalidArgument("document_frequency", found, f"at most the document count, {total}")
    return tf / tokens * math.log(total / found) if tf and found else 0.0


def keywords(tokens: Sequence[str], statistics: Statistics, limit: int = 10) -> list[tuple[str, float]]:
    """Return the terms with the highest TF-IDF, best first; ties by first appearance.

    Examples
    --------
    >>> from memorata.rank import Postings
    >>> texts = [["tea", "cup", "tea"], ["tea", "milk"], ["milk", "cup"], ["bread"]]
    >>> [(term, round(score, 3)) for term, score in keywords(texts[0], Postings(texts))]
    [('tea', 0.462), ('cup', 0.231)]
    """
    words = checks.texts("tokens", tokens)
    most = checks.whole("limit", limit)
    counts = checked_statistics(statistics)
    scored = [
        (term, tf_idf(times, len(words), counts.document_frequency(term), counts.document_count))
        for term, times in Counter(words).items()
    ]
    return sorted(scored, key=lambda pair: -pair[1])[:most]
