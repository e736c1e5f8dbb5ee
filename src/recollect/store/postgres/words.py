"""The words of memories on a server: rows of posting lists, and the same words beside each memory.

A memory keeps the terms it is listed under, so that it can be taken out of the lists again without looking
for it in all of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Final

from recollect.index import tail
from recollect.index.postings import MOST
from recollect.index.record import FIELDS
from recollect.store.port import Terms
from recollect.store.postgres.connection import Server

NUMBER_OF: Final = {field: number for number, field in enumerate(FIELDS)}
_LONGEST: Final = 500
"""How many bytes of a term are listed as they are; an index has no room for pages of them."""
_MARK: Final = "\x02"
_ADD: Final = (
    "INSERT INTO postings (namespace, field, term, slot, frequency, length) SELECT %s, f, t, s, n, l "
    "FROM unnest(%s::smallint[], %s::text[], %s::int[], %s::int[], %s::int[]) AS new (f, t, s, n, l)"
)
_ESCAPED: Final = str.maketrans({"\\": "\\\\", '"': '\\"'})
"""What means something else inside the quotes of an array."""
_REMOVE: Final = (
    "DELETE FROM postings p USING unnest(%s::smallint[], %s::text[]) AS old (field, term) "
    "WHERE p.namespace = %s AND p.field = old.field AND p.term = old.term AND p.slot = %s"
)


def key_of(term: str) -> str:
    r"""Return what a term is listed as: itself, or a digest of one that is very long.

    Examples
    --------
    >>> key_of("tea"), len(key_of("x" * 100_000))
    ('tea', 65)
    """
    written = term.encode()
    if len(written) <= _LONGEST:
        return term
    return _MARK + hashlib.blake2b(written, digest_size=32).hexdigest()


def list_words(connection: Server, number: int, given: Sequence[tuple[int, Terms]]) -> None:
    """Add memories to the lists of their terms.

    Parameters
    ----------
    connection
        Inside a write transaction.
    number
        The namespace.
    given
        Slots and the words of each.
    """
    rows = [row for slot, terms in given for row in _rows(slot, terms)]
    if rows:
        fields, terms_, slots, frequencies, lengths = zip(*rows, strict=True)
        quoted = [f'"{term.translate(_ESCAPED)}"' for term in terms_]
        # Thousands of short values: as text, for a driver takes longer to adapt each than to send all.
        arrays = [
            f"{{{','.join(map(str, column))}}}" for column in (fields, quoted, slots, frequencies, lengths)
        ]
        connection.execute(_ADD, (number, *arrays))


def unlist_words(connection: Server, number: int, slot: int, words: bytes) -> None:
    """Take a memory out of the lists of its terms."""
    rows = list(_rows(slot, tail.decoded(words)))
    fields, terms = [row[0] for row in rows], [row[1] for row in rows]
    connection.execute(_REMOVE, (fields, terms, number, slot))


def _rows(slot: int, terms: Terms) -> Iterator[tuple[int, str, int, int, int]]:
    for field, counted in terms.items():
        length = sum(counted.values())
        for term, frequency in counted.items():
            if frequency:
                yield NUMBER_OF[field], key_of(term), slot, min(frequency, MOST), length
