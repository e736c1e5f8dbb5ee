"""What a community is about, counted by hand."""

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from memorata.model import Memory
from memorata_graph.results import Summary
from memorata_graph.summaries import Members, summaries, summarised

MAY, JUNE = datetime(2026, 5, 7, tzinfo=UTC), datetime(2026, 6, 1, tzinfo=UTC)
FREQUENCIES = {"the": 100, "milk": 50}
TERMS: dict[str, Mapping[str, int]] = {
    "m1": {"tea": 1, "milk": 4}, "m2": {"tea": 3, "the": 9}, "m3": {"cup": 1}
}  # fmt: skip


def memory(id: str, content: str = "x", at: datetime = MAY) -> Memory:
    return Memory(id=id, content=content, created_at=at, fingerprint="ab" * 16)


TEA = Members([memory("m1", at=JUNE), memory("m2"), memory("m3")], {"Bo": 0.1, "Anna": 0.3, "Cleo": 0.1})


def about(members: Members = TEA, terms: Mapping[str, Mapping[str, int]] = TERMS, **changes: Any) -> Summary:
    found = {term: 10 for own in terms.values() for term in own} | FREQUENCIES
    return summarised(members, terms, 100, found, **({"readable": False} | changes))


def test_terms_are_those_of_the_highest_tf_idf() -> None:
    # Of 18 terms: tea 4·ln 10 = 9.2, milk 4·ln 2 = 2.8, cup 1·ln 10 = 2.3; "the" is in every memory: 0.
    assert about().terms == ("tea", "milk", "cup")


def test_only_terms_that_tell_a_community_from_others_are_named() -> None:
    # Two of ten memories with "tea" are here, one of fifty with "milk"; "cup" is in one memory only.
    frequencies = {"tea": 4, "milk": 50, "cup": 1, "the": 100}
    assert summarised(TEA, TERMS, 100, frequencies, readable=True).terms == ("tea",)
    assert summarised(TEA, TERMS, 100, frequencies | {"tea": 5}, readable=True).terms == ()
    alone = Members([memory("m3")], {})
    assert summarised(alone, TERMS, 100, frequencies, readable=True).terms == ("cup",)


def test_words_that_build_sentences_are_not_named() -> None:
    terms = {"m1": {"und": 3, "tea": 1}, "m2": {"und": 3, "tea": 1}}
    members = Members([memory("m1"), memory("m2")], {})
    assert summarised(members, terms, 100, {"und": 2, "tea": 2}, readable=True).terms == ("tea",)


def test_terms_are_named_as_most_memories_write_them() -> None:
    texts = {"m1": "pruning", "m2": "prune", "m3": "prune"}
    terms = {id_: {"prun": 1} for id_ in texts}
    members = [memory(id_, text) for id_, text in texts.items()]
    found = summarised(Members(members, {}), terms, 100, {"prun": 3}, readable=True)
    assert found.terms == ("prune",)
    assert "About: prune." in found.text
    assert summarised(Members(members[:2], {}), terms, 100, {"prun": 3}, readable=True).terms == ("pruning",)
    assert about(Members(members, {}), terms).terms == ("prun",)


def test_entities_are_those_of_the_highest_pagerank_and_ties_by_name() -> None:
    assert about().entities == ("Anna", "Bo", "Cleo")
    many = Members([], {f"E{place}": place / 10 for place in range(9)})
    assert about(many, {}).entities == ("E8", "E7", "E6", "E5", "E4")


def test_counts_and_time_span() -> None:
    summary = about()
    assert (summary.memory_count, summary.entity_count) == (3, 3)
    assert (summary.since, summary.until) == (MAY, JUNE)
    expected = (
        "3 memories and 3 entities, 2026-05-07 to 2026-06-01. About: tea, milk, cup. Around: Anna, Bo, Cleo."
    )
    assert summary.text == expected


def test_the_representative_is_the_most_like_the_whole() -> None:
    # m2 speaks of tea alone (and of "the", which weighs nothing): its cosine is 9.2/|whole|; that of m1 is
    # (2.3·9.2 + 2.8·2.8)/|m1|/|whole| = 8.0/|whole|, and that of m3 2.3/|whole|.
    ten, two = math.log(10), math.log(2)
    first = (ten * 4 * ten + 4 * two * 4 * two) / math.hypot(ten, 4 * two)
    assert 4 * ten > first > ten
    assert about().representative == "m2"


def test_a_community_of_entities_only_has_no_representative() -> None:
    summary = about(Members([], {"Anna": 1.0}), {})
    assert (summary.terms, summary.representative, summary.since) == ((), None, None)
    assert summary.text == "0 memories and 1 entity. Around: Anna."
    wordless = about(Members([memory("m9")], {}), {"m9": {}})
    assert wordless.representative == "m9"
    assert wordless.text == "1 memory and 0 entities, 2026-05-07."


def test_the_key_is_who_belongs_to_it_and_nothing_else() -> None:
    one, other = memory("a"), memory("b")
    assert Members([one, other], {}).key == Members([other, memory("a", "other words")], {}).key
    keys = {
        Members(members, entities).key
        for members, entities in [
            ([one], {}),
            ([one, other], {}),
            ([one], {"b": 1.0}),
            ([memory("ab")], {}),
            ([memory("a", at=JUNE)], {}),
            ([], {"a": 1.0}),
            ([], {}),
        ]
    }
    assert len(keys) == 7


def test_what_has_not_changed_is_not_summarised_again() -> None:
    cache = dict[str, Summary]()

    def found(*members: Members) -> list[Summary]:
        def frequencies(terms: list[str]) -> tuple[int, dict[str, int]]:
            return 9, dict.fromkeys(terms, 2)

        return summaries(members, lambda said: {"content": TERMS[said.id]}, frequencies, cache)

    first = found(TEA)
    again = found(TEA, Members([*TEA.memories[:2]], TEA.entities))
    assert again[0] is first[0]
    assert len(cache) == 2
