"""What every public function asks of its arguments, in one place.

Each check returns the value in the form the maths needs (a float, a float64 array, an aware UTC instant) or
raises :class:`~memorata.model.errors.InvalidArgument` naming the argument and the offending value. Nothing
is clipped or repaired, and of texts only a time in ISO 8601 is read as something else.

Identifiers of memories sort by time: UUID version 7 (RFC 9562, section 5.7). A namespace is a path such as
``acme/alice`` that keeps one person's memories apart from another's. Every search, statistic and duplicate
check stays inside one, unless the caller asks for a prefix; so its spelling is checked strictly, here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime, time, timedelta
from itertools import islice
from numbers import Real
from typing import Any, Final, TypeAlias, TypeGuard, TypeVar

import numpy as np
import numpy.typing as npt

from memorata.model.errors import InvalidArgument

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.intp]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
Numbers: TypeAlias = Sequence[float] | npt.NDArray[np.floating[Any]] | npt.NDArray[np.integer[Any]]
"""One number per item: a list, a tuple or a one-dimensional array."""
Flags: TypeAlias = Sequence[bool] | npt.NDArray[np.bool_]
"""True or False for each item."""
Rows: TypeAlias = Sequence[Sequence[float]] | npt.NDArray[np.floating[Any]]
"""One vector per item: a list of lists or a two-dimensional array."""

Instant: TypeAlias = datetime | str
"""A time: a datetime with its zone, or ISO 8601 with one; a day alone is its midnight in UTC."""

_Kind = TypeVar("_Kind")
_MAX_LISTED = 8
"""From more choices than these, a message points at the one that is most like what was given."""
_MAX_COMPARED = 100
_MAX_WHOLE = 2**63 - 1
"""The largest whole number that a database can store."""
MAX_ITEMS: Final = 1_000_000
"""Most strings of one argument: an endless generator would fill the memory before any other check."""


def number(argument: str, value: object) -> float:
    """Return a finite real number as a float."""
    # The usual case first: asking whether something is a Real takes longer than most uses of the number.
    if type(value) is float and math.isfinite(value):
        # A database keeps no sign of zero: what is read again would not be what was written.
        return value + 0.0
    # bool is a Real, but a flag where a weight belongs is a mistake worth reporting.
    if not isinstance(value, Real) or isinstance(value, bool | np.bool_):
        raise InvalidArgument(argument, value, "a finite number")
    try:
        checked = float(value)
    except OverflowError as error:
        raise InvalidArgument(argument, value, "a finite number that float64 can hold") from error
    if not math.isfinite(checked):
        raise InvalidArgument(argument, value, "a finite number")
    return checked + 0.0


def at_least(argument: str, value: object, low: float) -> float:
    """Return a finite number that is `low` or more."""
    checked = number(argument, value)
    if checked < low:
        raise InvalidArgument(argument, value, f"a number of at least {low:g}")
    return checked


def above(argument: str, value: object, low: float) -> float:
    """Return a finite number that is more than `low`."""
    checked = number(argument, value)
    if checked <= low:
        raise InvalidArgument(argument, value, f"a number above {low:g}")
    return checked


def within(argument: str, value: object, low: float, high: float) -> float:
    """Return a finite number from `low` to `high`, both included."""
    checked = number(argument, value)
    if not low <= checked <= high:
        raise InvalidArgument(argument, value, f"a number from {low:g} to {high:g}")
    return checked


def probability(argument: str, value: object) -> float:
    """Return a number from 0 to 1."""
    return within(argument, value, 0.0, 1.0)


def whole(argument: str, value: object, low: int = 0) -> int:
    """Return a whole number of at least `low`; floats are refused even when they hold one."""
    # The usual case first, as for numbers.
    if type(value) is int and low <= value <= _MAX_WHOLE:
        return value
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < low:
        raise InvalidArgument(argument, value, f"a whole number of at least {low}")
    if value > _MAX_WHOLE:
        raise InvalidArgument(argument, value, f"a whole number below {_MAX_WHOLE + 1}")
    return int(value)


def flag(argument: str, value: object) -> bool:
    """Return True or False; numbers and strings that look like one are refused."""
    if value is True or value is False:
        return value
    if not isinstance(value, np.bool_):
        raise InvalidArgument(argument, value, "True or False")
    return bool(value)


def text(argument: str, value: object) -> str:
    """Return a string."""
    if not isinstance(value, str):
        raise InvalidArgument(argument, value, "a string")
    return value


def writable(argument: str, value: object) -> str:
    """Return a string without half surrogate pairs, which UTF-8 cannot hold."""
    checked = text(argument, value)
    if not checked.isascii():
        try:
            checked.encode()
        except UnicodeEncodeError as error:
            expected = "text without half surrogate pairs, which UTF-8 cannot hold"
            raise InvalidArgument(argument, value, expected) from error
    return checked


def instance(argument: str, value: object, kind: type[_Kind]) -> _Kind:
    """Return an object of a class."""
    if not isinstance(value, kind):
        raise InvalidArgument(argument, value, f"a {kind.__name__}")
    return value


def function(argument: str, value: object) -> None:
    """Refuse what cannot be called."""
    if not callable(value):
        raise InvalidArgument(argument, value, "a function")


def one_of(argument: str, value: object, choices: Sequence[str]) -> str:
    """Return one of the named `choices`."""
    if not isinstance(value, str) or value not in choices:
        # Members of an enumeration are shown as what people write, which is their value.
        expected = "one of " + ", ".join(repr(str(choice)) for choice in choices)
        if isinstance(value, str) and len(choices) > _MAX_LISTED:
            expected += nearest(value[:_MAX_COMPARED], choices)
        raise InvalidArgument(argument, value, expected)
    return value


def nearest(word: str, choices: Iterable[str]) -> str:
    """Return a question that names the likeliest choice, to end a message with, or nothing.

    The likeness is that of Ratcliff and Obershelp's gestalt matching, as in `difflib`.

    >>> nearest("balancd", ["fast", "balanced"]), nearest("xyz", ["fast", "balanced"])
    (' (did you mean balanced?)', '')
    """
    # Only mistakes need it, and most processes make none.
    from difflib import get_close_matches

    matches = get_close_matches(word, list(choices), 1)
    return f" (did you mean {matches[0]}?)" if matches else ""


def instant(argument: str, value: object) -> datetime:
    """Return an aware instant in UTC; a time without a zone is refused, never guessed.

    A text is ISO 8601, and a day alone its midnight in UTC.

    >>> instant("now", "2026-05-07T20:30:00+02:00").isoformat(), instant("now", "2026-05-07").isoformat()
    ('2026-05-07T18:30:00+00:00', '2026-05-07T00:00:00+00:00')
    """
    if type(value) is datetime and value.tzinfo is UTC:
        return value
    if isinstance(value, str):
        value = zoned(argument, value)
    if not isinstance(value, datetime) or not _has_zone(value):
        raise InvalidArgument(argument, value, "a datetime with a time zone, or ISO 8601 with one")
    try:
        moment = value.astimezone(UTC)
    except OverflowError as error:
        raise InvalidArgument(argument, value, "a datetime that exists in UTC") from error
    if type(moment) is datetime:
        return moment
    # The times of other libraries can be finer than what is written, and would not be what is read again.
    return datetime.combine(moment.date(), moment.time(), UTC)


def zoned(argument: str, text: str) -> datetime:
    """Return the time that an ISO 8601 text says, in the zone that it names."""
    try:
        if len(text) <= len("2026-05-07"):
            return datetime.combine(date.fromisoformat(text), time(), UTC)
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise InvalidArgument(argument, text, "a time such as 2026-05-07 or 2026-05-07T18:30Z") from error
    if moment.tzinfo is None:
        expected = "a time with its zone: add Z for UTC, or an offset such as +02:00"
        raise InvalidArgument(argument, text, expected)
    return moment


def zoned_instant(argument: str, value: Instant) -> datetime:
    """Return an aware instant in the zone that it names.

    >>> zoned_instant("now", "2026-05-07T20:30:00+02:00").isoformat()
    '2026-05-07T20:30:00+02:00'
    """
    moment = zoned(argument, value) if isinstance(value, str) else value
    return instant(argument, moment).astimezone(moment.tzinfo)


def optional_instant(argument: str, value: object) -> datetime | None:
    """Return an aware instant in UTC, or None for "not known"."""
    return None if value is None else instant(argument, value)


def validity(record: Any) -> None:  # noqa: ANN401 - any frozen dataclass with valid_from and valid_to
    """Bring a record's `valid_from` and `valid_to` to UTC and check that they are in order."""
    for argument in ("valid_from", "valid_to"):
        object.__setattr__(record, argument, optional_instant(argument, getattr(record, argument)))
    if record.valid_from and record.valid_to and record.valid_to < record.valid_from:
        raise InvalidArgument("valid_to", record.valid_to, f"at or after valid_from ({record.valid_from})")


def iterable(value: object) -> TypeGuard[Iterable[Any]]:
    """Return whether a value can be iterated; an array without a dimension claims it, and cannot."""
    return isinstance(value, Iterable) and not (isinstance(value, np.ndarray) and not value.ndim)


def texts(argument: str, values: object) -> tuple[str, ...]:
    """Return a sequence of strings as a tuple; a single string, a sequence by accident, is refused."""
    # Not by comparing: an array compares its elements.
    if type(values) is tuple and not values:
        return ()
    if isinstance(values, str) or not iterable(values):
        raise InvalidArgument(argument, values, "a list of strings")
    strings = tuple(islice(values, MAX_ITEMS + 1))
    # The usual case first: a name for each place takes longer than a look at all of them.
    if set(map(type, strings)) != {str}:
        strings = tuple(text(f"{argument}[{index}]", value) for index, value in enumerate(strings))
    if len(strings) > MAX_ITEMS:
        raise InvalidArgument(argument, strings[:2], f"at most {MAX_ITEMS:,} strings")
    return strings


def writable_texts(argument: str, values: object) -> tuple[str, ...]:
    """Return a sequence of strings that UTF-8 can hold as a tuple."""
    strings = texts(argument, values)
    if not all(map(str.isascii, strings)):
        for index, value in enumerate(strings):
            writable(f"{argument}[{index}]", value)
    return strings


def numbers(argument: str, values: object) -> FloatArray:
    """Return finite numbers as a one-dimensional float64 array (the input itself when it already is one)."""
    array = _float64(argument, values, "a list of finite numbers")
    if array.ndim != 1:
        raise InvalidArgument(argument, values, "a flat list of finite numbers")
    if not _finite_sum(array):
        bad = np.flatnonzero(~np.isfinite(array))
        if bad.size:
            raise InvalidArgument(f"{argument}[{bad[0]}]", float(array[bad[0]]), "a finite number")
    return array


def matrix(argument: str, values: object) -> FloatArray:
    """Return vectors as a two-dimensional float64 array with one row per item; float32 input is widened."""
    array = _float64(argument, values, "a list of vectors of one length")
    if array.ndim == 1 and array.size == 0:
        array = array.reshape(0, 0)
    if array.ndim != 2:
        raise InvalidArgument(argument, values, "a list of vectors of one length")
    if not _finite_sum(array):
        bad = np.flatnonzero(~np.isfinite(array).all(axis=1))
        if bad.size:
            raise InvalidArgument(
                f"{argument}[{bad[0]}]", array[bad[0]].tolist(), "a vector of finite numbers"
            )
    return array


@contextmanager
def finite_arithmetic(argument: str, value: object) -> Iterator[None]:
    """Blame an overflow of float64 inside the block on `argument`, instead of going on with infinity."""
    try:
        with np.errstate(over="raise", divide="raise", invalid="raise"):
            yield
    except FloatingPointError as error:
        raise InvalidArgument(argument, value, "small enough to compute with in float64") from error


def all_within(argument: str, values: object, low: float, high: float) -> FloatArray:
    """Return an array of finite numbers, each from `low` to `high`."""
    array = numbers(argument, values)
    if array.size and (array.min() < low or array.max() > high):
        bad = np.flatnonzero((array < low) | (array > high))[0]
        bounded = math.isfinite(high)
        expected = f"a number from {low:g} to {high:g}" if bounded else f"a number of at least {low:g}"
        raise InvalidArgument(f"{argument}[{bad}]", float(array[bad]), expected)
    return array


def probabilities(argument: str, values: object) -> FloatArray:
    """Return an array of numbers from 0 to 1."""
    return all_within(argument, values, 0.0, 1.0)


def counts(argument: str, values: object) -> FloatArray:
    """Return an array of finite numbers of at least 0."""
    return all_within(argument, values, 0.0, math.inf)


def flags(argument: str, values: object) -> BoolArray:
    """Return a one-dimensional array of True and False; numbers are refused."""
    try:
        array = np.asarray(values)
    except (ValueError, TypeError) as error:
        raise InvalidArgument(argument, values, "a flat list of True and False") from error
    if array.ndim != 1 or (array.dtype != np.bool_ and array.size):
        raise InvalidArgument(argument, values, "a flat list of True and False")
    return array.astype(np.bool_)


def same_length(**named: Sequence[Any] | npt.NDArray[Any]) -> int:
    """Return the common length of the named sequences."""
    (first, reference), *rest = named.items()
    for argument, values in rest:
        if len(values) != len(reference):
            expected = f"as long as {first} ({len(reference)} items)"
            raise InvalidArgument(argument, _Length(len(values)), expected)
    return len(reference)


def weights(argument: str, values: object, count: int) -> FloatArray:
    """Return `count` weights that are finite, not negative, and do not sum to zero."""
    array = counts(argument, values)
    if array.size != count:
        raise InvalidArgument(argument, values, f"{count} weights, one for each leg")
    with np.errstate(over="ignore"):
        total = array.sum()
    if count and not 0.0 < total < math.inf:
        expected = "weights that do not sum to zero" if total == 0 else "weights with a finite sum"
        raise InvalidArgument(argument, values, expected)
    return array


def _has_zone(moment: datetime) -> bool:
    try:
        return moment.utcoffset() is not None
    except ValueError:  # of pandas' "not a time", which is a datetime and has nothing that a time has
        return False


def _finite_sum(array: FloatArray) -> bool:
    """Return whether the sum is finite; it cannot be when an element is not, and costs half of looking."""
    # The sum of finite elements may overflow, and of infinite ones be NaN; neither is worth a warning.
    with np.errstate(over="ignore", invalid="ignore"):
        return math.isfinite(array.sum())


class _Length(int):
    """A length that an error message shows as such."""

    def __repr__(self) -> str:
        return f"{int(self)} items"


def _float64(argument: str, values: object, expected: str) -> FloatArray:
    """Return `values` as float64 without reading text, objects or flags as numbers."""
    if isinstance(values, np.ndarray) and values.dtype == np.float64:
        return values
    if isinstance(values, str | bytes):
        raise InvalidArgument(argument, values, expected)
    try:
        array = np.asarray(values)
    except (ValueError, TypeError, MemoryError) as error:
        raise InvalidArgument(argument, values, expected) from error
    if array.dtype.kind not in "fiu" and array.size:
        raise InvalidArgument(argument, values, expected)
    # What float64 cannot hold (a long double of 1e4000) becomes infinite, and is reported as such.
    with np.errstate(over="ignore"):
        return array.astype(np.float64)


RANDOM_BITS: Final = 74
"""How many random bits an identifier has."""
_UUID7_FORMAT = "%08x-%04x-7%03x-%04x-%012x"
"""Version and variant stand between the parts: a 7, and the highest bit of the fourth."""
_MAX_ID_LENGTH = 128
ID_PATTERN: Final = rf"[^\s\0]{{1,{_MAX_ID_LENGTH}}}"
_ID: Final = re.compile(ID_PATTERN)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)

DEFAULT_NAMESPACE = "default"

_SEGMENT: Final = r"[\w@+~-][\w.@+~-]*"
NAMESPACE_PATTERN: Final = f"{_SEGMENT}(/{_SEGMENT})*"
_NAMESPACE: Final = re.compile(NAMESPACE_PATTERN)
_MAX_NAMESPACE_LENGTH = 512
_MAX_CACHED = 4_096
_well_formed: set[str] = set()
"""Paths that were found well-formed: every memory of an import asks about the same one."""


def uuid7(now: datetime, random_bits: int) -> str:
    """Return a UUIDv7 as text: 48 bits of milliseconds since 1970, then 74 random bits.

    >>> from datetime import UTC, datetime
    >>> uuid7(datetime(2026, 5, 7, tzinfo=UTC), 0)
    '019dffbb-f000-7000-8000-000000000000'
    """
    milliseconds = (instant("now", now) - _EPOCH) // _MILLISECOND
    if milliseconds < 0:
        raise InvalidArgument("now", now, "an instant from 1970 on")
    bits = random_bits
    # The usual case first: what is asked of any whole number takes as long as all the rest.
    if type(bits) is not int or bits < 0:
        bits = whole("random_bits", bits)
    if bits >= 1 << RANDOM_BITS:
        raise InvalidArgument("random_bits", random_bits, f"a whole number below 2**{RANDOM_BITS}")
    high, low = bits >> 62, bits & ((1 << 62) - 1)
    return _UUID7_FORMAT % (
        milliseconds >> 16,
        milliseconds & 0xFFFF,
        high,
        0x8000 | low >> 48,
        low & 0xFFFF_FFFF_FFFF,
    )


def memory_id(argument: str, value: object) -> str:
    """Return `value` if it can identify a memory: text of 1 to 128 characters, none of them white space."""
    # The usual case first: plain text needs no look at its surrogates, nor at each of its characters.
    if type(value) is str and value.isascii():
        if value.isprintable() and " " not in value and 0 < len(value) <= _MAX_ID_LENGTH:
            return value
        id_ = value
    else:
        id_ = writable(argument, value)
    if _ID.fullmatch(id_) is None:
        raise InvalidArgument(argument, value, "1 to 128 characters without white space")
    return id_


def namespace(argument: str, value: object) -> str:
    """Return `value` if it is a well-formed namespace, else raise.

    Segments are separated by ``/``; each holds letters and digits of any script, ``_ - . @ + ~``, and does
    not begin with a dot, so that ``..`` can never climb out of a namespace.

    >>> namespace("namespace", "acme/alice@example.org")
    'acme/alice@example.org'
    >>> namespace("namespace", "acme/../bob")
    Traceback (most recent call last):
    ...
    memorata.model.errors.InvalidArgument: namespace must be a path such as 'acme/alice' (letters, digits and
    _-.@+~ between slashes, no segment starting with a dot), got 'acme/../bob'
    """
    path = text(argument, value)
    if path in _well_formed:
        return path
    if len(path) > _MAX_NAMESPACE_LENGTH:
        raise InvalidArgument(argument, value, f"at most {_MAX_NAMESPACE_LENGTH} characters long")
    if _NAMESPACE.fullmatch(path) is None:
        expected = (
            "a path such as 'acme/alice' (letters, digits and _-.@+~ between slashes, "
            "no segment starting with a dot)"
        )
        raise InvalidArgument(argument, value, expected)
    if len(_well_formed) >= _MAX_CACHED:
        _well_formed.clear()
    _well_formed.add(path)
    return path


def contains(prefix: str, path: str) -> bool:
    """Return whether `path` is `prefix` itself or lies below it, by whole segments."""
    return path == prefix or path.startswith(prefix + "/")
