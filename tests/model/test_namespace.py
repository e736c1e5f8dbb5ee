import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.model import DEFAULT_NAMESPACE, InvalidArgument
from memorata.model.namespace import contains, namespace

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
