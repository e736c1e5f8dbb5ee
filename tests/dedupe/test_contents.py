import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.dedupe import joined_once
from memorata.model.errors import InvalidArgument

PHRASES = st.lists(
    st.sampled_from(["tea", "Tea,", "teapot", "3", "3.50", "and", "C", "C#", "!!!"]), max_size=4
).map(" ".join)


def contains(whole: str, part: str) -> bool:
    """Compare every window of words with the part, word by word."""
    outer, inner = (
        [word.strip(".,!?\"'()") or word for word in content.casefold().split()] for content in (whole, part)
    )
    return any(outer[start : start + len(inner)] == inner for start in range(len(outer) - len(inner) + 1))


@pytest.mark.parametrize(
    ("contents", "expected"),
    [
        (["Likes tea", "Lives in Rome"], "Likes tea\nLives in Rome"),
        (["Likes tea", "Likes tea"], "Likes tea"),
        (["Likes tea.", "LIKES  tea"], "Likes tea."),
        (["Likes tea", "Likes tea and cake"], "Likes tea and cake"),
        (["Likes tea and cake", "likes tea!"], "Likes tea and cake"),
        (["Likes tea", "Likes teapots"], "Likes tea\nLikes teapots"),
        (["It costs 3", "It costs 3.50"], "It costs 3\nIt costs 3.50"),
        (["Writes C", "Writes C#"], "Writes C\nWrites C#"),
        (["Likes tea", 'Said: "Likes tea", twice'], 'Said: "Likes tea", twice'),
        (["Likes tea", "tea likes"], "Likes tea\ntea likes"),
        (["a", "b", "a b", "b"], "a b"),
        (["", "Likes tea", " "], "Likes tea"),
        (["", ""], ""),
        (["!!!", "???"], "!!!\n???"),
        (["tea", "!!!"], "tea\n!!!"),
        (["tea\n!!!", "!!!"], "tea\n!!!"),
        (["ＴＥＡ", "tea", "Tea…"], "ＴＥＡ"),
        (["alone"], "alone"),
        (["\ud800", "\x00"], "\ud800\n\x00"),
    ],
)
def test_by_hand(contents: list[str], expected: str) -> None:
    assert joined_once(contents) == expected


@given(st.lists(PHRASES, min_size=1, max_size=5))
def test_each_content_is_said_once(contents: list[str]) -> None:
    slow = [
        content
        for place, content in enumerate(contents)
        if not any(
            contains(other, content) and (not contains(content, other) or rival < place)
            for rival, other in enumerate(contents)
            if rival != place
        )
    ]
    assert joined_once(contents) == "\n".join(slow)


@given(st.lists(st.text() | PHRASES, min_size=1, max_size=5))
def test_joining_again_adds_nothing(contents: list[str]) -> None:
    joined = joined_once(contents)
    assert joined_once([joined, *contents]) == joined


@pytest.mark.parametrize(
    ("contents", "named"),
    [
        ([], "contents"),
        ("text", "contents"),
        (None, "contents"),
        (3, "contents"),
        (["a", 3], r"contents\[1\]"),
    ],
)
def test_contents_are_texts(contents: list[str], named: str) -> None:
    with pytest.raises(InvalidArgument, match=f"{named} must be"):
        joined_once(contents)
