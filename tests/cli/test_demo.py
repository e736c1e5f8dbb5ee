"""The demo: a conversation worth asking about, and a walk that shows what the engine really answers."""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from importlib.resources import files
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import memorata
from memorata import RecallResult
from memorata.cli.demo import tour
from memorata.cli.recall import signals
from memorata.dedupe.fingerprint import fingerprint
from memorata.model.errors import InvalidArgument
from memorata.model.query import When
from memorata.service.transfer import ASKED, CONVERSATION, conversation


class TestTheConversation:
    def test_is_long_and_spread_over_months_sessions_and_people(self) -> None:
        said = conversation()
        assert len(said) >= 180
        assert len({each.created_at.month for each in said}) >= 7
        assert len({each.source.session for each in said}) >= 30
        assert {each.source.speaker for each in said} == {
            "Ines", "Jonas", "Ruth", "Priya", "Tomasz", "Wen", "Anya"
        }  # fmt: skip

    def test_is_in_the_order_in_which_it_was_said(self) -> None:
        said = conversation()
        times = [each.created_at for each in said]
        assert times == sorted(times)
        assert datetime(2026, 4, 1, tzinfo=UTC) < times[0] < times[-1] < ASKED
        places = Counter[str]()
        for each in said:
            places[each.source.session] += 1
            assert each.source.position == places[each.source.session]

    def test_has_ids_of_its_own_and_nothing_but_the_fields_of_a_memory(self) -> None:
        said = conversation()
        assert len({each.id for each in said}) == len(said)
        lines = files("memorata.service").joinpath(CONVERSATION).read_text(encoding="utf-8").splitlines()
        assert {key for line in lines for key in json.loads(line)} == {
            "id", "content", "created_at", "category", "tier", "confidence", "importance", "tags", "entities",
            "source", "place", "valid_from", "supersedes",
        }  # fmt: skip

    def test_has_every_category_and_tier(self) -> None:
        said = conversation()
        assert {each.category for each in said} == {
            "preference", "personal_fact", "technical_context", "decision", "correction", "event", "plan",
            "procedure",
        }  # fmt: skip
        assert {each.tier.value for each in said} == {"working", "episodic", "semantic", "procedural"}

    def test_has_places_and_events_told_later_than_they_happened(self) -> None:
        said = conversation()
        places = {each.place.name: each.place for each in said if each.place is not None}
        assert len(places) >= 20
        assert places["Helsingør"].lat == pytest.approx(56.04, abs=0.01)
        assert sum(each.valid_from is not None and each.valid_from < each.created_at for each in said) >= 20

    def test_corrects_only_what_was_said_before_and_is_still_current(self) -> None:
        current = set[str]()
        corrections = 0
        for each in conversation():
            for old in each.supersedes:
                assert old in current
                current.remove(old)
                corrections += 1
            current.add(each.id)
        assert corrections >= 10

    def test_has_verbatim_repeats_and_three_languages(self) -> None:
        said = conversation()
        times = Counter(fingerprint(each.content) for each in said)
        assert max(times.values()) == 4
        assert sum(bool(re.search("[а-я]", each.content)) for each in said) >= 5
        assert sum(bool(re.search(r"\b(der|die|das|bitte)\b", each.content)) for each in said) >= 8

    def test_has_long_memories(self) -> None:
        assert sum(len(each.content) > 400 for each in conversation()) >= 2


class Shown:
    """One run of the demo: what it returned and what it printed."""

    def __init__(self, database: Path | None = None, embedder: str = "lexical") -> None:
        text = StringIO()
        console = Console(file=text, width=100, markup=False, highlight=False, emoji=False)
        self.answers: Mapping[str, RecallResult] = tour(database, embedder=embedder, console=console)
        self.text = text.getvalue()

    def contents(self, step: str) -> list[str]:
        return [hit.memory.content for hit in self.answers[step]]


@pytest.fixture(scope="module")
def shown() -> Shown:
    return Shown()


class TestTheWalk:
    @pytest.mark.untraced
    def test_says_which_embedder_measures_meaning(self, shown: Shown) -> None:
        assert "Embedder: lexical-512." in shown.text

    def test_prints_every_call_it_makes(self, shown: Shown) -> None:
        flat = " ".join(shown.text.split())
        assert flat.count(">>> result = memory.recall(") == len(shown.answers)
        assert ">>> result = memory.recall('\"blue door\" -bakery', limit=2)" in flat
        june = "When(as_of=datetime(2026, 6, 1, tzinfo=UTC))"
        assert f"memory.recall('What is our release rule?', limit=1, when={june})" in flat

    def test_prints_every_hit_it_returns(self, shown: Shown) -> None:
        letters = "".join(re.sub("[^\\w]", "", shown.text).split())
        for answer in shown.answers.values():
            for hit in answer:
                # Bars and bylines stand between the lines of a memory; its first words are on one line.
                assert "".join(re.findall(r"\w", hit.memory.content[:40])) in letters

    def test_says_after_each_of_its_steps_what_to_notice(self, shown: Shown) -> None:
        steps = len(re.findall(r"^\d+ of \d+ ·", shown.text, re.MULTILINE))
        assert steps == shown.text.count("Notice  ") >= 8

    def test_explains_a_score_to_the_last_bit(self, shown: Shown) -> None:
        second = shown.answers["hybrid"].hits[1]
        assert second.explanation.adds_up()
        assert f"{second.score:.4f} {second.explanation.label}" in shown.text

    def test_finds_the_decision_and_a_name_without_meaning(self, shown: Shown) -> None:
        assert shown.contents("hybrid")[0].startswith("Decided: the job queue moves from Redis to PostgreSQL")
        assert shown.contents("identifier") == ["The frame number for the police report is WX7741920."]

    def test_hides_what_was_corrected_and_believes_it_again_as_of_june(self, shown: Shown) -> None:
        now, then = shown.contents("correction"), shown.contents("correction as of June")
        assert "Tuesdays at ten" in now[0]
        assert not any("Thursday" in content for content in now)
        assert "every Thursday at three" in then[0]
        assert "Of its 2 old versions 0 are in today's answer" in " ".join(shown.text.split())

    def test_puts_the_phrase_first_and_leaves_out_the_excluded_word(self, shown: Shown) -> None:
        assert all("blue door" in content for content in shown.contents("phrase"))
        assert any("bakery" in content for content in shown.contents("phrase"))
        assert shown.answers["exclusion"].hits
        assert not any("bakery" in content for content in shown.contents("exclusion"))

    def test_filters_by_category_tag_place_and_day(self, shown: Shown) -> None:
        assert "Where: Alfama, Lisbon" in " ".join(shown.text.split())
        for hit in shown.answers["filter"]:
            assert hit.memory.category == "event"
            assert "food" in hit.memory.tags
            assert hit.memory.place is not None
        days = [hit.memory.event_time.date().isoformat() for hit in shown.answers["date filter"]]
        assert days == ["2026-08-15"] * 3

    def test_shows_a_repeat_once(self, shown: Shown) -> None:
        assert shown.contents("repeats").count("Please never put me in a meeting before nine.") == 1
        assert "It was said 4 times and is shown once" in shown.text

    def test_keeps_to_the_budget_with_whole_memories(self, shown: Shown) -> None:
        answer = shown.answers["budget"]
        size = sum(-(-len(hit.memory.content.encode()) // 4) for hit in answer)
        assert 0 < size <= 90
        assert answer.omitted > 0
        whole = {each.content for each in conversation()}
        assert set(shown.contents("budget")) <= whole

    def test_answers_in_german_and_russian(self, shown: Shown) -> None:
        assert "viertel Tablette" in shown.contents("german")[0]
        assert "Ключи от квартиры" in shown.contents("russian")[0]

    def test_gives_the_same_answers_every_time(self, shown: Shown) -> None:
        again = Shown()
        for step, answer in shown.answers.items():
            assert again.answers[step].hits == answer.hits, step


@pytest.mark.untraced
def test_a_plain_install_shows_what_each_step_promises() -> None:
    shown = Shown(embedder="builtin")
    first = {step: contents[0] for step in shown.answers if (contents := shown.contents(step))}
    for step, begins in {
        "hybrid": "Decided: the job queue moves from Redis to PostgreSQL",
        "meaning": "On the tram up to Graça somebody had my wallet",
        "identifier": "The frame number for the police report is WX7741920.",
        "correction": "Release rule, final form: Tuesdays at ten",
        "correction as of June": "For the newcomers: we release the planner every Thursday",
        "filter": "Back from Lisbon. The café with the blue door in Alfama",
        "date": "We cycled from Copenhagen to Helsingør",
        "repeats": "Please never put me in a meeting before nine.",
        "german": "Korrektur vom Tierarzt",
        "russian": "Ключи от квартиры",
    }.items():
        assert first[step].startswith(begins), step
    assert first.keys() | {"nonsense"} == shown.answers.keys()
    answer = shown.answers["nonsense"]
    assert not answer.hits
    assert answer.rejected is not None
    assert "is below 0.260 and it shares no word with the question" in answer.rejected.reason
    assert f"What it missed: {answer.rejected.reason}." in " ".join(shown.text.split())
    assert not signals(shown.answers["meaning"].hits[0].explanation)["lexical"]
    assert all("blue door" in content for content in shown.contents("phrase"))
    assert "untrusted" not in shown.text, "seven people spoke, and each is a user"


class TestWhereItIsKept:
    @pytest.mark.untraced
    def test_a_named_file_keeps_the_memories(self, tmp_path: Path) -> None:
        kept = tmp_path / "kept.db"
        assert f'memorata recall --db {kept} "…"' in " ".join(Shown(kept).text.split())
        with memorata.open(kept, config={"must_exist": True}) as memory:
            assert len(memory.list(limit=500, hidden=True).memories) == len(conversation())
            assert memory.admin.check() == []

    def test_a_file_that_is_there_is_refused_and_left_alone(self, tmp_path: Path) -> None:
        there = tmp_path / "there.db"
        there.write_bytes(b"something else")
        with pytest.raises(InvalidArgument, match="a file that does not exist yet"):
            tour(there, embedder="lexical")
        assert there.read_bytes() == b"something else"

    @pytest.mark.untraced
    def test_every_correction_was_made_on_its_own_day(self, tmp_path: Path) -> None:
        kept = tmp_path / "kept.db"
        Shown(kept)
        address = "What is our address?"
        with memorata.open(kept, config={"must_exist": True}) as memory:
            for day, number in (("2026-08-01", "14"), ("2026-09-04", "8"), ("2026-10-01", "8b")):
                moment = datetime.fromisoformat(f"{day}T00:00:00Z")
                seen = [
                    hit.memory.content
                    for hit in memory.recall(f"{address} Windmill Linden Court", when=When(as_of=moment))
                ]
                homes = [each for each in seen if re.search(r"(Windmill Row|Linden Court) \d", each)]
                assert len(homes) == 1, day
                assert re.search(rf"(Windmill Row|Linden Court) {number}\b", homes[0])


Run = Callable[..., Any]


@pytest.mark.untraced
def test_it_walks_through_without_touching_your_own_database(cli: Run, home: Path) -> None:
    shown = cli("demo")
    assert shown.code == 0
    assert len(shown.lines) > 50
    assert not list(home.iterdir())


def test_what_was_recalled_as_json_with_the_walk_beside_it(cli: Run) -> None:
    ran = cli("demo", "--json")
    assert {"hybrid", "nonsense"} <= ran.json["steps"].keys()
    assert any(step["hits"] for step in ran.json["steps"].values())
    assert "Embedder: lexical-512" in ran.err


def test_it_can_be_kept_in_a_new_file_only(cli: Run, home: Path) -> None:
    assert cli("demo", "--keep", "demo.db").code == 0
    assert cli("recall", "job queue", "--db", "demo.db").code == 0
    again = cli("demo", "--keep", "demo.db")
    assert again.code == 2
    assert "--keep must be a file that does not exist yet, got 'demo.db'" in again.err
