import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.model.entity import Entity
from memorata.model.errors import InvalidArgument
from memorata.text.known_names import Gazetteer, Redirects
from memorata.text.tokens import folded


def found(text: str, *names: str) -> list[str]:
    known = Gazetteer([Entity(name) for name in names])
    return [text[start:end] for start, end in known.spans(text)]


def test_case_and_accents_do_not_matter() -> None:
    assert found("then jose and ZOË came", "José", "Zoe") == ["jose", "ZOË"]


def test_the_longest_name_wins() -> None:
    assert found("new york times, new york", "New York", "New York Times") == ["new york times", "new york"]


def test_whole_words_only() -> None:
    assert found("Annabel and Ann-Marie met Ann", "Ann") == ["Ann", "Ann"]
    assert found("cannon", "Ann") == []


def test_symbols_of_a_name_must_be_there() -> None:
    assert found("I write c++ and C", "C++", "Go") == ["c++"]
    assert found("ask @dana, not dana", "@dana") == ["@dana"]


def test_punctuation_between_the_words_of_a_name() -> None:
    assert found("the coca cola, coca-cola", "Coca-Cola") == ["coca cola", "coca-cola"]
    assert found("cola. We drank coca.\nCola", "Coca-Cola") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [("will Will come?", ["Will"]), ("I will", []), ("mark it", ["mark"])],
)
def test_a_name_that_is_a_word_must_be_written_as_given(text: str, expected: list[str]) -> None:
    assert found(text, "Will", "Mark") == expected


def test_a_short_name_must_be_written_as_given() -> None:
    assert found("Al told me al dente", "Al") == ["Al"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I met April there", ["April"]),
        ("in April", []),
        ("April 5", []),
        ("may I", []),
        ("May said no", ["May"]),
    ],
)
def test_someone_called_like_a_month(text: str, expected: list[str]) -> None:
    assert found(text, "April", "May") == expected


def test_scripts_without_spaces_are_searched_as_they_stand() -> None:
    assert found("我在東京工作", "東京") == ["東京"]
    assert found("김민수는 서울에 산다", "서울", "김민수") == ["김민수", "서울"]
    assert found("Anna 在東京", "Anna", "東京") == ["Anna", "東京"]


def test_owners_by_name_and_alias_first_come() -> None:
    keller, other = Entity("Anna Keller", aliases=("Anna",)), Entity("Anna")
    known = Gazetteer([keller, other])
    assert known.owner("ANNA") is keller
    assert known.owner("anna keller") is keller
    assert known.owner("Ben") is None
    assert len(known) == 2


def test_only_entities() -> None:
    with pytest.raises(InvalidArgument, match=r"entities\[0\] must be an Entity, got 'Anna'"):
        Gazetteer(["Anna"])  # type: ignore[list-item]


NAMES = ("Anna", "Anna Keller", "ANNA", "Bank of England", "Bank", "東京", "東", "Will", "@ben")


@given(st.lists(st.lists(st.sampled_from(NAMES), max_size=3), max_size=5))
def test_names_added_later_are_as_if_they_had_been_there(batches: list[list[str]]) -> None:
    text = "anna keller of the Bank of England met @ben, Will and Anna in 東京; 東 it was."
    grown, tables = Gazetteer(), []
    for batch in batches:
        tables.append((grown, grown.spans(text)))
        grown = grown.added([Entity(name) for name in batch])
    whole = Gazetteer([Entity(name) for batch in batches for name in batch])
    assert grown.spans(text) == whole.spans(text)
    assert [grown.owner(name) for name in NAMES] == [whole.owner(name) for name in NAMES]
    assert len(grown) == len(whole)
    # Those from before know nothing of what came after.
    assert all(table.spans(text) == spans for table, spans in tables)


def test_only_entities_can_be_added() -> None:
    for bad in ("Anna", None, [5]):
        with pytest.raises(InvalidArgument, match="entities"):
            Gazetteer().added(bad)  # type: ignore[arg-type]


MERGED = st.sampled_from(["a", "A", "b", "c", "d", "e"])


def test_a_name_means_who_has_it_as_name_or_alias() -> None:
    zoe = Entity("Zoë Kravitz", aliases=("Zoë",))
    gazetteer = Gazetteer([zoe])
    assert gazetteer.owner("ZOE") is zoe
    assert gazetteer.owner("zoe kravitz") is zoe
    assert gazetteer.owner("Kravitz") is None


def test_a_merge_is_followed() -> None:
    table = Redirects({"Bob": "Robert", "Robert": "Robert Miles", "Bobby": "Robert"})
    assert [table.follow(name) for name in ("bob", "Bobby", "ROBERT", "Anna")] == ["Robert Miles"] * 3 + [
        "Anna"
    ]
    assert table.merged_into("robert miles") == ("Bob", "Robert", "Bobby")


@pytest.mark.parametrize("into", ["Bob", "BOB", "Rob", "Robert"])
def test_no_cycle(into: str) -> None:
    with pytest.raises(InvalidArgument, match="names that do not lead back to themselves"):
        Redirects({"Bob": "Rob", "Rob": "Robert", "Robert": into})


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
    assert dict(table.entries) == {"Bob": "Robert"}


@given(st.lists(st.tuples(MERGED, MERGED), max_size=12))
def test_any_merges_end_at_a_name_that_was_not_merged(merges: list[tuple[str, str]]) -> None:
    table = Redirects()
    for name, into in merges:
        try:
            table = Redirects({**table.entries, name: into})
        except InvalidArgument:
            continue
    for name in "abcde":
        end = table.follow(name)
        assert folded(end) not in {folded(source) for source in table.entries}
