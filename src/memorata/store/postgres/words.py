"""The words of memories on a server: posting lists in blocks, and the same words beside each memory.

A list is a few rows, each with up to a hundred postings or so in arrays: to read it takes one page where rows
of their own would take ten, and how long it is can be told without reading it. A block begins at a slot and
goes on to where the next one begins, so that the one which has a memory is found by the slot. Memories that
are forgotten or superseded stand in lists of their own, which only a look at the past reads: what is counted
in the others may be seen.

A memory keeps the terms it is listed under, so that it can be taken out of the lists again without looking
for it in all of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, Final

from memorata.index import tail
from memorata.index.postings import MOST
from memorata.index.record import FIELDS
from memorata.store.port import Terms
from memorata.store.postgres.arrays import array, text_array
from memorata.store.postgres.connection import Server

NUMBER_OF: Final = {field: number for number, field in enumerate(FIELDS)}
BLOCK: Final = 128
"""How many postings a block gets. A server copies a row to change it, and keeps one of 2 kB in one piece."""
_ANY_SIZE: Final = 2**31 - 1
_LONGEST: Final = 500
"""How many bytes of a term are listed as they are; an index has no room for pages of them."""
_MARK: Final = "\x02"
_COVERING: Final = (
    "CROSS JOIN LATERAL (SELECT p.first, p.slots, p.frequencies, p.lengths FROM postings p "
    "WHERE p.namespace = %(namespace)s AND p.hidden = %(hidden)s AND p.field = {of}.field "
    "AND p.term = {of}.term AND p.first <= {slot} ORDER BY p.first DESC LIMIT 1)"
)
_SAME: Final = (
    "p.namespace = %(namespace)s AND p.hidden = %(hidden)s AND p.field = f.field AND p.term = f.term "
    "AND p.first = f.begins"
)
_ADD: Final = f"""
    WITH given AS MATERIALIZED (
        SELECT field, term, (%(slots)s::int[])[start:stop] AS slots,
            (%(frequencies)s::int[])[start:stop] AS frequencies, (%(lengths)s::int[])[start:stop] AS lengths,
            most, least FROM unnest(
            %(fields)s::smallint[], %(terms)s::text[], %(starts)s::int[], %(stops)s::int[],
            %(most)s::int[], %(least)s::int[]
        ) AS given (field, term, start, stop, most, least)
    ), found AS MATERIALIZED (
        SELECT given.*, b.first AS begins, cardinality(b.slots) + cardinality(given.slots) <= %(room)s AS fits
        FROM given {_COVERING.format(of="given", slot="given.slots[1]").replace("CROSS", "LEFT")} b ON TRUE
    ), grown AS (
        UPDATE postings p SET slots = p.slots || f.slots, frequencies = p.frequencies || f.frequencies,
            lengths = p.lengths || f.lengths, most = greatest(p.most, f.most),
            least = least(p.least, f.least)
        FROM found f WHERE f.fits AND {_SAME} RETURNING p.field, p.term, p.first, cardinality(p.slots) AS size
    ), made AS (
        INSERT INTO postings
            (namespace, hidden, field, term, first, slots, frequencies, lengths, most, least)
        SELECT %(namespace)s, %(hidden)s, field, term, slots[1], slots, frequencies, lengths, most, least
        FROM found WHERE fits IS NOT TRUE
    )
    SELECT field, term, first FROM grown WHERE size > %(block)s * 2
"""
_SPLIT: Final = f"""
    WITH gone AS (
        DELETE FROM postings p USING unnest(%(fields)s::smallint[], %(terms)s::text[], %(firsts)s::int[])
            AS f (field, term, begins) WHERE {_SAME} RETURNING p.*
    ), each AS (
        SELECT *, (row_number() OVER (PARTITION BY field, term, first ORDER BY slot) - 1) / %(block)s AS part
        FROM (SELECT field, term, first, unnest(slots) AS slot, unnest(frequencies) AS frequency,
            unnest(lengths) AS length FROM gone) posting
    )
    INSERT INTO postings (namespace, hidden, field, term, first, slots, frequencies, lengths, most, least)
    SELECT %(namespace)s, %(hidden)s, field, term, CASE part WHEN 0 THEN first ELSE min(slot) END,
        array_agg(slot ORDER BY slot), array_agg(frequency ORDER BY slot), array_agg(length ORDER BY slot),
        max(frequency), min(length)
    FROM each GROUP BY field, term, first, part
"""
_TAKE_OUT: Final = f"""
    WITH given AS MATERIALIZED (
        SELECT * FROM unnest(%(fields)s::smallint[], %(terms)s::text[]) AS given (field, term)
    ), found AS MATERIALIZED (
        SELECT given.field, given.term, b.first AS begins, cardinality(b.slots) AS size, at,
            b.frequencies[at] AS frequency, b.lengths[at] AS length
        FROM given {_COVERING.format(of="given", slot="%(slot)s")} b
        CROSS JOIN LATERAL array_position(b.slots, %(slot)s) AS a (at) WHERE at IS NOT NULL
    ), shrunk AS (
        UPDATE postings p SET slots = p.slots[:f.at - 1] || p.slots[f.at + 1:],
            frequencies = p.frequencies[:f.at - 1] || p.frequencies[f.at + 1:],
            lengths = p.lengths[:f.at - 1] || p.lengths[f.at + 1:]
        FROM found f WHERE f.size > 1 AND {_SAME}
    ), emptied AS (
        DELETE FROM postings p USING found f WHERE f.size = 1 AND {_SAME}
    )
"""
_REMOVE: Final = f"{_TAKE_OUT} SELECT"
_ELSEWHERE: Final = _SAME.replace("%(hidden)s", "NOT %(hidden)s")
_COVERING_ELSEWHERE: Final = _COVERING.replace("CROSS", "LEFT").replace("%(hidden)s", "NOT %(hidden)s")
_MOVE: Final = f"""
    {_TAKE_OUT}, there AS MATERIALIZED (
        SELECT f.field, f.term, f.frequency, f.length, b.first AS begins FROM found f
        {_COVERING_ELSEWHERE.format(of="f", slot="%(slot)s")} b ON TRUE
    ), grown AS (
        UPDATE postings p SET slots = p.slots || %(slot)s, frequencies = p.frequencies || f.frequency,
            lengths = p.lengths || f.length, most = greatest(p.most, f.frequency),
            least = least(p.least, f.length)
        FROM there f WHERE {_ELSEWHERE} RETURNING p.field, p.term, p.first, cardinality(p.slots) AS size
    ), made AS (
        INSERT INTO postings
            (namespace, hidden, field, term, first, slots, frequencies, lengths, most, least)
        SELECT %(namespace)s, NOT %(hidden)s, field, term, %(slot)s, ARRAY[%(slot)s::int], ARRAY[frequency],
            ARRAY[length], frequency, length
        FROM there WHERE begins IS NULL
    )
    SELECT field, term, first FROM grown WHERE size > %(block)s * 2
"""
"""A posting goes from one kind of lists to the other as it is; `hidden` says from where."""


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
        Slots, ascending and above all that were listed before, and the words of each.
    """
    _add(connection, number, given, hidden=False, room=BLOCK)


def relist_words(connection: Server, number: int, slot: int, terms: Terms, *, hidden: bool) -> None:
    """Add a memory to the lists of its terms again, wherever its slot is."""
    _add(connection, number, [(slot, terms)], hidden=hidden, room=_ANY_SIZE)


def unlist_words(connection: Server, number: int, slot: int, words: bytes, *, hidden: bool) -> None:
    """Take a memory out of the lists of its terms."""
    connection.execute(_REMOVE, _place(number, slot, words, hidden=hidden))


def move_words(connection: Server, number: int, slot: int, words: bytes, *, hidden: bool) -> None:
    """Take a memory from the lists of shown ones to those of hidden ones, or back."""
    values = _place(number, slot, words, hidden=not hidden)
    _split(connection, number, connection.execute(_MOVE, values).fetchall(), hidden=hidden)


def _place(number: int, slot: int, words: bytes, *, hidden: bool) -> dict[str, object]:
    """Return where a memory is listed, as values of a statement."""
    rows = [(field, key) for field, key, *_ in _rows(slot, tail.decoded(words))]
    return {
        "fields": array(field for field, _ in rows),
        "terms": text_array(key for _, key in rows),
        "slot": slot,
        "namespace": number,
        "hidden": hidden,
        "block": BLOCK,
    }


def _add(
    connection: Server, number: int, given: Sequence[tuple[int, Terms]], *, hidden: bool, room: int
) -> None:
    lists: dict[tuple[int, str], list[tuple[int, int, int]]] = {}
    for field, key, slot, frequency, length in chain.from_iterable(_rows(*each) for each in given):
        lists.setdefault((field, key), []).append((slot, frequency, length))
    if not lists:
        return
    pieces: list[tuple[int, str]] = []
    starts: list[int] = []
    stops: list[int] = []
    slots: list[int] = []
    frequencies: list[int] = []
    lengths: list[int] = []
    for key_, postings in lists.items():
        start = len(slots) + 1
        for slot, frequency, length in postings:
            slots.append(slot)
            frequencies.append(frequency)
            lengths.append(length)
        for stop in range(len(slots) - (len(postings) - 1) // BLOCK * BLOCK, len(slots) + 1, BLOCK):
            # What is short may go into a block that is there; it is the first, and only then come full ones.
            pieces.append(key_)
            starts.append(start)
            stops.append(stop)
            start = stop + 1
    values: dict[str, object] = {
        "fields": array(field for field, _ in pieces),
        "terms": text_array(term for _, term in pieces),
        "starts": array(starts),
        "stops": array(stops),
        "slots": array(slots),
        "frequencies": array(frequencies),
        "lengths": array(lengths),
        "most": array(max(frequencies[start - 1 : stop]) for start, stop in zip(starts, stops, strict=True)),
        "least": array(min(lengths[start - 1 : stop]) for start, stop in zip(starts, stops, strict=True)),
        "namespace": number,
        "hidden": hidden,
        "room": room,
        "block": BLOCK,
    }
    _split(connection, number, connection.execute(_ADD, values).fetchall(), hidden=hidden)


def _split(connection: Server, number: int, large: Sequence[tuple[Any, ...]], *, hidden: bool) -> None:
    """Make several of blocks that have grown too large."""
    if large:
        fields, terms, firsts = zip(*large, strict=True)
        values = {"fields": array(fields), "terms": text_array(terms), "firsts": array(firsts)}
        connection.execute(_SPLIT, {**values, "namespace": number, "hidden": hidden, "block": BLOCK})


def _rows(slot: int, terms: Terms) -> Iterator[tuple[int, str, int, int, int]]:
    for field, counted in terms.items():
        length = sum(counted.values())
        for term, frequency in counted.items():
            if frequency:
                yield NUMBER_OF[field], key_of(term), slot, min(frequency, MOST), length
