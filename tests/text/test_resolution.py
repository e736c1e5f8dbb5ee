import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.model import InvalidArgument
from memorata.model.entity import Entity
from memorata.text.folding import folded
from memorata.text.known_names import KnownNames
from memorata.text.mentions import Mention
from memorata.text.resolution import Redirects, resolve, united

NAMES = st.sampled_from(["a", "A", "b", "c", "d", "e"])


def test_a_mention_means_who_has_its_name_or_alias() -> None:
    zoe = Entity("Zoë Kravitz", aliases=("Zoë",))
    known = KnownNames([zoe])
    assert resolve(Mention("ZOE", "name", 4, 7), known) is zoe
    assert resolve("zoe kravitz", known) is zoe
    assert resolve("Kravitz", known) is None


def test_only_known_names_and_entities() -> None:
    with pytest.raises(InvalidArgument, match="known must be KnownNames, got"):
        resolve("Anna", ["Anna"])  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="entities must be a list of entities, got 'Anna'"):
        united("Anna")  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match=r"entities\[0\] must be an Entity, got 'Anna'"):
        united(["Anna"])  # type: ignore[list-item]


def test_one_name_is_one_entity() -> None:
    one, other = united(
        [
            Entity("Anna", aliases=("Annie",)),
            Entity("Ben"),
            Entity("ANNA", type="person", aliases=("A.", "Anna"), description="likes tea"),
        ]
    )
    assert one == Entity("Anna", type="person", aliases=("Annie", "ANNA", "A."), description="likes tea")
    assert other == Entity("Ben")


def test_a_merge_is_followed_and_undone() -> None:
    table = Redirects().merge("Bob", "Robert").merge("Robert", "Robert Miles").merge("Bobby", "Robert")
    assert [table.follow(name) for name in ("bob", "Bobby", "ROBERT", "Anna")] == ["Robert Miles"] * 3 + [
        "Anna"
    ]
    assert table.merged_into("robert miles") == ("Bob", "Robert", "Bobby")
    undone = table.undo("robert")
    assert [undone.follow(name) for name in ("Bob", "Robert Miles")] == ["Robert", "Robert Miles"]
    assert undone.merge("Robert", "Robert Miles").follow("Bob") == "Robert Miles"


@pytest.mark.parametrize("into", ["Bob", "BOB", "Rob", "Robert"])
def test_no_cycle(into: str) -> None:
    table = Redirects().merge("Bob", "Rob").merge("Rob", "Robert")
    with pytest.raises(InvalidArgument, match="into must be a name that does not lead back to 'Robert'"):
        table.merge("Robert", into)


def test_merging_twice_and_undoing_nothing_are_refused() -> None:
    table = Redirects().merge("Bob", "Robert")
    with pytest.raises(InvalidArgument, match=r"a name not merged yet \(it is part of 'Robert'\), got 'bob'"):
        table.merge("bob", "Anna")
    with pytest.raises(InvalidArgument, match="name must be a name that was merged, got 'Anna'"):
        table.undo("Anna")


@pytest.mark.parametrize(
    "entries", [{"a": "b", "b": "a"}, {"a": "A"}, {"a": "b", "A": "c"}, {"a": ""}, {" ": "b"}, ["a"]]
)
def test_a_stored_table_is_checked(entries: dict[str, str]) -> None:
    with pytest.raises(InvalidArgument, match="entries"):
        Redirects(entries)


def test_a_table_never_changes() -> None:
    entries = {"Bob": "Robert"}
    table = Redirects(entries)
    entries["Robert"] = "Bob"
    assert dict(table.merge("Anna", "Ann").entries) == {"Bob": "Robert", "Anna": "Ann"}
    assert dict(table.entries) == {"Bob": "Robert"}


@given(st.lists(st.tuples(NAMES, NAMES), max_size=12))
def test_any_merges_end_at_a_name_that_was_not_merged(merges: list[tuple[str, str]]) -> None:
    table = Redirects()
    for name, into in merges:
        try:
            table = table.merge(name, into)
        except InvalidArgument:
            continue
    assert Redirects(table.entries) == table
    for name in "abcde":
        end = table.follow(name)
        assert folded(end) not in {folded(source) for source in table.entries}
