"""Memories and filters of every shape, for tests that hold a filter in SQL to what `matches` says."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st

from memorata.model.entity import Place
from memorata.model.memory import Memory, Source, Tier
from memorata.store.filters import Field, matches, parse

EPOCH = datetime(2026, 5, 7, tzinfo=UTC)
HOSTILE = "x') OR 1=1; DROP TABLE memories; --"


def expected(memories: list[Memory], filter: dict[str, Any]) -> list[int]:
    """Return the slots of the memories that pass a filter."""
    return [slot for slot, memory in enumerate(memories) if matches(parse(filter), memory)]


def remembered(**known: Any) -> Memory:
    """Make a memory with these fields."""
    return Memory(**{"id": "m1", "content": "x", "created_at": EPOCH, **known})


def paths(value: object, keys: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the paths of keys in a filter, each with its value."""
    if keys and all(keys):
        yield keys, value
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from paths(inner, (*keys, key))


# A few values that are close enough to collide often, and nasty enough to find the seams: text that ends
# early, that looks like JSON or SQL, whose case is not ASCII; numbers at the edges of int64 and float64.
TEXTS = st.sampled_from(
    ["", "a", "A", "b", "a\x00b", "a\x00", "\x00", "\x01", "\x01\x01", "\x02", "\\u0000", '"', "\\", "'",
     ", ", '", "', "]", "[", "%", "%s", "?", "_", "ß", "SS", "é", "E\N{COMBINING ACUTE ACCENT}", "İ",
     "\N{GRINNING FACE}", "\ufffd", "\n", "1", "true", "null", "[]", "' OR 1 --"]
) | st.text(max_size=3)  # fmt: skip
NUMBERS = st.sampled_from(
    [0, 1, -1, 0.0, -0.0, 1.0, 0.1, 0.30000000000000004, 0.3, 2**53, 2**53 + 1, float(2**53), 2**63 - 1,
     2**63, 2**63 + 1, float(2**63), -(2**63), -(2**63) - 1, -float(2**63), 2**70, 2**70 + 1, float(2**70),
     5e-324, 1.7976931348623157e308, 10**300]
) | st.integers(-3, 3) | st.floats(allow_nan=False, allow_infinity=False)  # fmt: skip
KEYS = st.sampled_from(
    [
        "a",
        "b",
        "a.b",
        "$",
        "$.a",
        "a[0]",
        "0",
        '"',
        'a"b',
        "\\",
        "a\nb",
        "a\x00",
        "a\x01",
        "a'",
        "%s",
        "é",
        " ",
    ]
)
SCALARS = TEXTS | NUMBERS | st.booleans() | st.none()
METADATA = st.dictionaries(
    KEYS,
    st.recursive(
        SCALARS,
        lambda inner: st.dictionaries(KEYS | st.just(""), inner, max_size=2) | st.lists(inner, max_size=2),
        max_leaves=4,
    ),
    max_size=3,
)
TIMES = st.integers(-2, 2).map(lambda n: EPOCH + timedelta(microseconds=n)) | st.sampled_from(
    [datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)]
)
COUNTS = st.integers(1, 3) | st.just(2**63 - 1)
MEMORIES = st.builds(
    lambda period, **known: remembered(valid_from=period[0], valid_to=period[1], **known),
    id=st.sampled_from(["m1", "m2", "M1"]),
    content=TEXTS.map(lambda text: text + "x"),
    created_at=TIMES,
    category=TEXTS,
    tier=st.sampled_from(Tier),
    confidence=st.sampled_from([0, 0.3, 0.1 + 0.2, 1]) | st.floats(0, 1),
    importance=st.floats(0, 1),
    tags=st.lists(TEXTS, max_size=3),
    entities=st.lists(TEXTS, max_size=2),
    source=st.builds(Source, speaker=TEXTS, session=TEXTS, position=st.none() | COUNTS, link=TEXTS),
    place=st.none() | st.just(Place(1, 2)) | st.just(Place(0, 0, "null island")),
    period=st.tuples(TIMES, TIMES).map(sorted) | st.tuples(st.none(), TIMES) | st.tuples(TIMES, st.none()),
    expires_at=st.none() | TIMES,
    last_accessed_at=st.none() | TIMES,
    supported_at=st.none() | TIMES,
    pinned=st.booleans(),
    mentions=COUNTS,
    access_count=COUNTS,
    embedder=TEXTS,
    metadata=METADATA,
)


def conditions(
    values: st.SearchStrategy[Any], ordered: st.SearchStrategy[Any], *others: st.SearchStrategy[Any]
) -> st.SearchStrategy[Any]:
    """Return bare values and mappings of one or two operators."""
    optional = values | st.none()
    single = st.one_of(
        st.dictionaries(st.sampled_from(["=", "!="]), optional, min_size=1, max_size=1),
        st.dictionaries(st.sampled_from(["<", "<=", ">", ">="]), ordered, min_size=1, max_size=2),
        st.dictionaries(st.sampled_from(["in", "not in"]), st.lists(optional, max_size=3), min_size=1),
        st.fixed_dictionaries({"exists": st.booleans()}),
        *others,
    )
    return optional | single | st.tuples(single, single).map(lambda pair: {**pair[0], **pair[1]})


def fields(names: str, wanted: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Draw filters over fields of these names."""
    return st.dictionaries(st.sampled_from(names.split()), wanted, min_size=1, max_size=2)


CONTAINS = st.fixed_dictionaries({"contains": TEXTS})
TIERS = st.sampled_from(Tier)
FLAGS = st.booleans() | st.fixed_dictionaries({"!=": st.booleans()})
HELD = st.dictionaries(st.sampled_from(["any", "all", "none"]), st.lists(TEXTS, max_size=3), min_size=1)
PRESENCE = st.fixed_dictionaries({"exists": st.booleans()}) | st.none()
PATHS = st.lists(KEYS, min_size=1, max_size=2).map(lambda keys: str(Field("metadata", tuple(keys))))
ON_METADATA = conditions(SCALARS, TEXTS | NUMBERS, CONTAINS)
CONDITIONS = st.one_of(
    fields("id content category speaker session link embedder", conditions(TEXTS, TEXTS, CONTAINS)),
    fields("confidence importance position mentions access_count", conditions(NUMBERS, NUMBERS)),
    fields(
        "created_at valid_from valid_to expires_at supported_at last_accessed_at", conditions(TIMES, TIMES)
    ),
    fields("pinned", FLAGS | PRESENCE),
    fields("tier", TIERS | st.fixed_dictionaries({"not in": st.lists(TIERS)}) | PRESENCE),
    fields("tags entities", HELD | TEXTS | PRESENCE),
    fields("place", PRESENCE),
    st.dictionaries(PATHS, ON_METADATA, min_size=1, max_size=2),
)
FILTERS = st.recursive(
    CONDITIONS,
    lambda inner: st.one_of(
        st.dictionaries(
            st.sampled_from(["and", "or"]), st.lists(inner, min_size=1, max_size=3), min_size=1, max_size=2
        ),
        st.fixed_dictionaries({"not": inner}),
        st.tuples(inner, inner).map(lambda pair: {**pair[0], **pair[1]}),
    ),
    max_leaves=5,
)
