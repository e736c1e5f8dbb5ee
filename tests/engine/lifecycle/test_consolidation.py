"""Episodes on one theme become a proposal; nothing is lost, and nobody sees it before it is accepted."""

import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import memorata
from memorata import Engine, Memory
from memorata.engine.rules import LifecycleRules
from memorata.engine.write.purge import SUMMARY_OF
from memorata.model.errors import InvalidArgument, ServiceAnswerInvalid
from memorata.model.memory import Tier
from memorata.service.transfer import ASKED, conversation

NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)
TEA = (
    "Anna made green tea in the kitchen.",
    "Anna drank green tea again. It was cold.",
    "Green tea for Anna at four.",
    "Anna bought more green tea. The shop was full.",
)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Engine]:
    with memorata.open(tmp_path / "m.db", embedder="lexical", clock=lambda: NOW) as opened:
        for number, content in enumerate(TEA):
            opened.remember(
                content, id=f"t{number}", tier="episodic", created_at=NOW - timedelta(days=20 - number),
                confidence=0.9 - number / 10, importance=number / 10,
            )  # fmt: skip
        opened.remember(
            "The knee hurts after the run.", id="knee", tier="episodic", created_at=NOW - timedelta(20)
        )
        opened.remember("Anna drinks green tea.", id="known", created_at=NOW - timedelta(days=20))
        opened.remember("Green tea with Anna just now.", id="fresh", tier="episodic")
        yield opened


def test_a_proposal_names_its_sources_and_is_hidden(memory: Engine) -> None:
    before = memory.list(hidden=True).memories
    (proposal,) = memory.admin.lifecycle.consolidate()
    summary = memory.get(proposal.summary.id)
    assert proposal.sources == ("t0", "t1", "t2", "t3") == tuple(summary.metadata[SUMMARY_OF])
    assert summary.content.startswith("In short, 4 memories of 2026-04-17 to 2026-04-20:\n- ")
    assert all(line[2:] in " ".join(TEA) for line in summary.content.splitlines()[1:])
    assert (summary.tier, summary.category) == (Tier.SEMANTIC, "summary")
    assert summary.confidence == pytest.approx(0.6)
    assert summary.importance == pytest.approx(0.3)
    assert summary.metadata["summarised_by"] == "sentences"
    assert summary.id not in [hit.memory.id for hit in memory.recall("Anna green tea")]
    assert memory.list().memories == tuple(each for each in before if each.id != summary.id)
    assert [each.summary for each in memory.admin.lifecycle.summaries()] == [summary]
    assert memory.admin.check() == []


def test_themes_of_a_long_conversation_are_about_something() -> None:
    later = ASKED + timedelta(days=60)
    with memorata.open(":memory:", embedder="lexical", clock=lambda: later) as opened:
        opened.remember_many(conversation())
        proposals = opened.admin.lifecycle.consolidate(dry_run=True)
        assert proposals
        for proposal in proposals:
            assert len(proposal.sources) <= 10
            names = Counter(name for id_ in proposal.sources for name in opened.get(id_).entities)
            assert max(names.values()) > len(proposal.sources) / 2


def test_it_is_proposed_once_and_a_dry_run_writes_nothing(memory: Engine) -> None:
    before = memory.list(hidden=True).memories
    (would,) = memory.admin.lifecycle.consolidate(dry_run=True)
    assert memory.list(hidden=True).memories == before
    (does,) = memory.admin.lifecycle.consolidate()
    assert (would.summary.content, would.sources) == (does.summary.content, does.sources)
    assert memory.admin.lifecycle.consolidate() == ()


def test_what_is_accepted_is_recalled_and_its_sources_stay(memory: Engine) -> None:
    (proposal,) = memory.admin.lifecycle.consolidate()
    memory.admin.lifecycle.accept_summary(proposal.summary.id)
    hits = [hit.memory.id for hit in memory.recall("Anna green tea", limit=20)]
    assert {proposal.summary.id, *proposal.sources} <= set(hits)
    assert memory.admin.lifecycle.summaries() == ()
    assert [each.summary.id for each in memory.admin.lifecycle.summaries(state="accepted")] == [
        proposal.summary.id
    ]
    assert memory.admin.lifecycle.consolidate() == ()


def test_what_is_rejected_stays_hidden_and_is_not_proposed_again(memory: Engine) -> None:
    (proposal,) = memory.admin.lifecycle.consolidate()
    memory.admin.lifecycle.reject_summary(proposal.summary.id)
    assert memory.admin.lifecycle.summaries() == ()
    assert [each.summary.id for each in memory.admin.lifecycle.summaries(state="rejected")] == [
        proposal.summary.id
    ]
    assert proposal.summary.id not in [each.id for each in memory.list().memories]
    assert memory.admin.lifecycle.consolidate() == ()
    memory.admin.lifecycle.accept_summary(proposal.summary.id)
    assert proposal.summary.id in [each.id for each in memory.list().memories]


def test_a_purged_source_takes_the_summary_with_it(memory: Engine, tmp_path: Path) -> None:
    memory.admin.lifecycle.consolidate()
    memory.purge("t1")
    assert memory.admin.lifecycle.summaries() == ()
    assert b"In short" not in b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert [each.sources for each in memory.admin.lifecycle.consolidate()] in ([], [("t0", "t2", "t3")])


class Poet:
    """Writes as it pleases, or not at all."""

    name = "poet"

    def write(self, memories: Sequence[Memory], limit: int) -> str:
        if limit == 1:
            raise ServiceAnswerInvalid("the muse is out")
        return f"Tea, {len(memories)} times."


def test_another_may_write_and_where_it_fails_sentences_are_taken(
    memory: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    (proposal,) = memory.admin.lifecycle.consolidate(dry_run=True, writer=Poet())
    assert proposal.summary.content.endswith(":\nTea, 4 times.")
    assert proposal.summary.metadata["summarised_by"] == "poet"
    memory.admin.lifecycle.rules = LifecycleRules(summary_sentences=1)
    with caplog.at_level(logging.WARNING):
        (plain,) = memory.admin.lifecycle.consolidate(dry_run=True, writer=Poet())
    assert plain.summary.metadata["summarised_by"] == "sentences"
    assert "the muse is out" in caplog.text


def test_bad_input(memory: Engine) -> None:
    with pytest.raises(InvalidArgument, match="writer"):
        memory.admin.lifecycle.consolidate(writer="me")  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="state"):
        memory.admin.lifecycle.summaries(state="closed")
    with pytest.raises(InvalidArgument, match="proposed summary"):
        memory.admin.lifecycle.accept_summary("known")
    (proposal,) = memory.admin.lifecycle.consolidate()
    with pytest.raises(InvalidArgument, match="proposed summary"):
        memory.admin.lifecycle.accept_summary(proposal.summary.id, "known")
    assert len(memory.admin.lifecycle.summaries()) == 1, "all of them or none"


def test_an_empty_namespace_has_nothing_to_propose(memory: Engine) -> None:
    assert memory.admin.lifecycle.consolidate(namespace="nobody") == ()
    assert memory.admin.lifecycle.summaries(namespace="nobody") == ()


def test_what_only_looks_like_a_summary_is_none(memory: Engine) -> None:
    for number, sources in enumerate((5, "m1", [], {"m1": 1})):
        memory.remember(f"Tea number {number}.", metadata={"proposal": "open", "summary_of": sources})
    assert memory.admin.lifecycle.summaries() == ()
