"""What a community is about, counted by hand."""

import math
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from memorata_graph.summaries import Community, Member, StatisticalSummariser, Summary, summarised

MAY, JUNE = datetime(2026, 5, 7, tzinfo=UTC), datetime(2026, 6, 1, tzinfo=UTC)


@dataclass
class Frequencies:
    document_count: int = 100
    found: dict[str, int] = field(default_factory=dict)

    def document_frequency(self, term: str) -> int:
        return self.found.get(term, 10)


TEA = Community(
    (
        Member("m1", {"tea": 1, "milk": 4}, JUNE),
        Member("m2", {"tea": 3, "the": 9}, MAY),
        Member("m3", {"cup": 1}),
    ),
    {"Bo": 0.1, "Anna": 0.3, "Cleo": 0.1},
)
STATISTICS = Frequencies(found={"the": 100, "milk": 50})


def test_terms_are_those_of_the_highest_tf_idf() -> None:
    # Of 18 terms: tea 4·ln 10 = 9.2, milk 4·ln 2 = 2.8, cup 1·ln 10 = 2.3; "the" is in every memory: 0.
    assert StatisticalSummariser(STATISTICS).summarise(TEA).terms == ("tea", "milk", "cup")
    assert StatisticalSummariser(STATISTICS, term_limit=1).summarise(TEA).terms == ("tea",)


def test_only_terms_that_tell_a_community_from_others_are_named() -> None:
    def terms(**settings: Any) -> tuple[str, ...]:
        return StatisticalSummariser(STATISTICS, **settings).summarise(TEA).terms

    assert terms() == ("tea", "milk", "cup")
    assert terms(least_members=2) == ("tea",)
    # Two of ten memories with "tea" are here, one of fifty with "milk", one of ten with "cup".
    assert terms(least_share=0.2) == ("tea",)
    assert terms(least_share=0.1) == ("tea", "cup")
    assert terms(unnamed=frozenset({"tea"})) == ("milk", "cup")
    one = Community((Member("m1", {"tea": 1}),))
    assert StatisticalSummariser(STATISTICS, least_members=2).summarise(one).terms == ("tea",)


def test_terms_are_named_as_most_memories_write_them() -> None:
    members = [
        Member("m1", {"prune": 1}, written={"prune": "pruning"}),
        Member("m2", {"prune": 1, "lemon": 2}, written={"prune": "prune"}),
        Member("m3", {"prune": 1}, written={"prune": "prune"}),
    ]
    summary = StatisticalSummariser(STATISTICS).summarise(Community(members))
    assert summary.terms == ("prune", "lemon")
    assert "About: prune, lemon." in summary.text
    assert StatisticalSummariser(STATISTICS).summarise(Community(members[:2])).terms[1] == "pruning"


def test_entities_are_those_of_the_highest_pagerank_and_ties_by_name() -> None:
    assert StatisticalSummariser(STATISTICS).summarise(TEA).entities == ("Anna", "Bo", "Cleo")
    assert StatisticalSummariser(STATISTICS, entity_limit=2).summarise(TEA).entities == ("Anna", "Bo")


def test_counts_and_time_span() -> None:
    summary = StatisticalSummariser(STATISTICS).summarise(TEA)
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
    assert StatisticalSummariser(STATISTICS).summarise(TEA).representative == "m2"


def test_a_community_of_entities_only_has_no_representative() -> None:
    summary = StatisticalSummariser(STATISTICS).summarise(Community((), {"Anna": 1.0}))
    assert (summary.terms, summary.representative, summary.since) == ((), None, None)
    assert summary.text == "0 memories and 1 entity. Around: Anna."
    wordless = StatisticalSummariser(STATISTICS).summarise(Community((Member("m9", {}, MAY),)))
    assert wordless.representative == "m9"
    assert wordless.text == "1 memory and 0 entities, 2026-05-07."


def test_the_key_is_who_belongs_to_it_and_nothing_else() -> None:
    one, other = Member("a", {"tea": 1}), Member("b", {})
    assert Community((one, other)).key == Community((other, Member("a", {"milk": 2}))).key
    keys = {
        Community(members, entities).key
        for members, entities in [
            ((one,), {}),
            ((one, other), {}),
            ((one,), {"b": 1.0}),
            ((Member("ab", {}),), {}),
            ((), {"a": 1.0}),
            ((), {}),
        ]
    }
    assert len(keys) == 6
    # Whoever else has that id is somebody else.
    assert Community((Member("a", {}, version="x"),)).key != Community((Member("a", {}, version="y"),)).key
    assert Community((Member("a", {}, version="x"),)).key != Community((Member("ax", {}),)).key


def test_what_has_not_changed_is_not_summarised_again() -> None:
    counter, cache = StatisticalSummariser(STATISTICS), dict[str, Summary]()
    grown = Community((*TEA.members, Member("m4", {})))
    first = summarised([TEA], counter, cache)
    assert summarised([TEA, grown], counter, cache)[0] is first[0]
    assert len(cache) == 2
    # Another way to count is another summary.
    assert summarised([TEA], StatisticalSummariser(STATISTICS, term_limit=1), cache)[0] is not first[0]
