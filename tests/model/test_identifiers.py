import re
import uuid
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.model import DEFAULT_NAMESPACE, InvalidArgument, uuid7
from memorata.model.checks import contains, memory_id, namespace

MOMENTS = st.datetimes(datetime(1970, 1, 1), datetime(9999, 12, 31), timezones=st.just(UTC))
BITS = st.integers(0, 2**74 - 1)


def test_the_example_of_rfc_9562() -> None:
    # Appendix A.6: 2022-02-22 14:22:22 -05:00, rand_a 0xCC3, rand_b 0x18C4DC0C0C07398F.
    now = datetime(2022, 2, 22, 14, 22, 22, tzinfo=timezone(timedelta(hours=-5)))
    assert uuid7(now, 0xCC3 << 62 | 0x18C4DC0C0C07398F) == "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"


@given(MOMENTS, BITS)
def test_it_is_a_uuid_of_version_7_that_holds_its_time_and_bits(now: datetime, bits: int) -> None:
    made = uuid.UUID(uuid7(now, bits))
    assert (made.version, made.variant) == (7, uuid.RFC_4122)
    assert made.int >> 80 == (now - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
    assert ((made.int >> 64 & 0xFFF) << 62 | made.int & (2**62 - 1)) == bits
    assert memory_id("id", str(made)) == str(made)


@given(MOMENTS, MOMENTS, BITS, BITS)
def test_text_order_is_time_order(one: datetime, two: datetime, bits: int, other: int) -> None:
    early, late = sorted([one, two])
    if late - early >= timedelta(milliseconds=1):
        assert uuid7(early, bits) < uuid7(late, other)


@pytest.mark.parametrize(
    ("now", "bits", "argument"),
    [
        (datetime(1969, 12, 31, tzinfo=UTC), 0, "now"),
        (datetime(2026, 5, 7), 0, "now"),
        (datetime(2026, 5, 7, tzinfo=UTC), -1, "random_bits"),
        (datetime(2026, 5, 7, tzinfo=UTC), 2**74, "random_bits"),
        (datetime(2026, 5, 7, tzinfo=UTC), 0.5, "random_bits"),
    ],
)
def test_bad_parts_are_refused(now: datetime, bits: Any, argument: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        uuid7(now, bits)
    assert caught.value.argument == argument


@pytest.mark.parametrize("value", ["m", "x" * 128, "mémoire:1", "019dffbb-f000-7000-8000-000000000000"])
def test_imports_may_bring_their_own_ids(value: str) -> None:
    assert memory_id("id", value) == value


@pytest.mark.parametrize("value", ["", "x" * 129, "a b", "a\n", "a\0", "a\u2003b", 5, None, b"m"])
def test_what_cannot_identify_is_refused(value: object) -> None:
    with pytest.raises(InvalidArgument) as caught:
        memory_id("id", value)
    assert caught.value.argument == "id"


@given(
    st.text(max_size=130)
    | st.text(st.characters(max_codepoint=127), max_size=130)
    | st.text("a \t\x1c\x7f\0")
)
def test_an_id_is_text_of_1_to_128_characters_without_white_space(text: str) -> None:
    if re.fullmatch(r"[^\s\0]{1,128}", text) and not re.search("[\ud800-\udfff]", text):
        assert memory_id("id", text) == text
    else:
        with pytest.raises(InvalidArgument, match="id must be"):
            memory_id("id", text)


SEGMENTS = st.from_regex(r"[\w@+~-][\w.@+~-]{0,8}", fullmatch=True)
PATHS = st.lists(SEGMENTS, min_size=1, max_size=5).map("/".join)


@pytest.mark.parametrize(
    "path",
    [DEFAULT_NAMESPACE, "acme/alice", "a", "alice@example.org", "команда/аня", "東京", "v1.2", "a" * 512],
)
def test_paths_of_letters_digits_and_a_few_signs(path: str) -> None:
    assert namespace("namespace", path) == path


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/",
        "/a",
        "a/",
        "a//b",
        ".",
        "..",
        "a/../b",
        "a/.hidden",
        "a b",
        "a\n",
        "a\\b",
        "a%",
        "a*",
        "a" * 513,
    ],
)
def test_anything_that_could_climb_or_confuse_is_refused(path: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        namespace("namespace", path)
    assert caught.value.argument == "namespace"


@pytest.mark.parametrize("value", [None, 5, b"acme"])
def test_a_namespace_is_text(value: object) -> None:
    with pytest.raises(InvalidArgument, match="prefix must be a string"):
        namespace("prefix", value)


@given(PATHS, PATHS)
def test_a_prefix_contains_by_whole_segments(prefix: str, path: str) -> None:
    namespace("prefix", prefix)
    segments, wanted = path.split("/"), prefix.split("/")
    assert contains(prefix, path) == (segments[: len(wanted)] == wanted)
    assert contains(prefix, prefix)
    assert contains(prefix, f"{prefix}/{path}")
    assert not contains(prefix, f"{prefix}x")
