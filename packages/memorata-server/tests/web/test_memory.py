"""The page of one memory: everything known about it, its company, and what may be done to it."""

import re
from datetime import UTC, datetime
from typing import Any

import pytest

from memorata.engine import Engine
from memorata.model.entity import Place
from memorata.model.errors import InvalidArgument
from memorata.model.memory import Memory, Source
from memorata_server.testing import TestClient
from memorata_server.web.forms import Values
from memorata_server.web.memory import changes, written


def change_form(engine: Engine, token: str, id_: str, **more: str) -> dict[str, str]:
    """Return the form as the page shows it, with some fields filled in anew."""
    memory = engine.get(id_)
    return {
        "token": token,
        "version": str(memory.version),
        "category": memory.category,
        "tier": memory.tier,
        "confidence": str(memory.confidence),
        "importance": str(memory.importance),
        "tags": ", ".join(memory.tags),
        "entities": ", ".join(memory.entities),
        **more,
    }


def test_it_shows_what_is_known(client: TestClient) -> None:
    page = client.get("/memories/lisbon").text
    for text in ("Anna and Boris travelled to Lisbon.", "2 Mar 2026, 00:00 UTC", "10 May 2026, 12:00 UTC",
                 "38.7200, -9.1400", "<bdi>kitchen</bdi>, turn 2", "#<bdi>travel</bdi>"):  # fmt: skip
        assert text in page
    assert 'href="/memories?entity=Boris"' in page


def test_its_neighbours_stand_in_order_around_it(client: TestClient) -> None:
    page = client.get("/memories/coffee").text
    turns = page.partition('<ol class="hits turns">')[2].partition("</ol>")[0]
    assert re.findall(r"turn (\d)", turns) == ["0", "1", "2"]
    assert '<li class="hit" aria-current="true"><p class="said"><bdi>Boris drinks' in turns


def test_a_session_without_turns_is_ordered_by_time(client: TestClient, engine: Engine) -> None:
    for name in ("one", "two", "three"):
        engine.remember(f"It was {name}.", id=name, source=Source(session="loose"))
    page = client.get("/memories/two").text
    assert "In its session" in page
    assert "In its session" not in client.get("/memories/script").text


def test_its_history_is_a_chain(client: TestClient, engine: Engine) -> None:
    white = engine.correct("tea", "Anna prefers white tea.").id
    for id_ in ("tea", white):
        chain = client.get(f"/memories/{id_}").text.partition('<ol class="chain">')[2].partition("</ol>")[0]
        assert chain.index("green tea") < chain.index("white tea")
    assert "This memory is superseded" in client.get("/memories/tea").text
    assert "Correct what it says" not in client.get("/memories/tea").text


def test_what_has_little_in_common_scores_little(client: TestClient, engine: Engine) -> None:
    engine.remember("The black bicycle of Boris has two flat tyres.", id="bicycle")
    page = client.get("/memories/bicycle/similar").text
    sure = [int(percent) for percent in re.findall(r'class="value">(\d+) %<', page)]
    assert sure
    assert max(sure) < 60


def test_similar_ones_are_found_by_its_own_words(client: TestClient, engine: Engine) -> None:
    engine.remember("Anna likes green tea -never coffee- in the morning.", id="alike")
    page = client.get("/memories/alike/similar").text
    assert re.findall(r'href="/memories/(\w+)"', page)[0] == "tea"
    assert "/memories/alike" not in page
    engine.remember("---", id="marks")
    assert "No other memory is close to it" in client.get("/memories/marks/similar").text


def test_forgetting_and_restoring(client: TestClient, engine: Engine, token: str) -> None:
    answer = client.post("/memories/tea/act", data={"token": token, "do": "forget"})
    assert answer.headers["location"] == "/memories/tea?done=forget"
    page = client.get("/memories/tea?done=forget").text
    assert "This memory is forgotten" in page
    assert '<button name="do" value="restore">Undo</button>' in page
    client.post("/memories/tea/act", data={"token": token, "do": "restore"})
    assert "tea" in {memory.id for memory in engine.list().memories}


def test_what_was_superseded_is_made_current_again(client: TestClient, engine: Engine, token: str) -> None:
    new = engine.correct("tea", "Anna likes black tea")
    assert 'value="reinstate"' in client.get("/memories/tea").text
    assert 'value="reinstate"' not in client.get(f"/memories/{new.id}").text
    client.post("/memories/tea/act", data={"token": token, "do": "reinstate"})
    assert engine.get("tea").superseded_by is None
    assert "Undo" not in client.get("/memories/tea?done=reinstate").text


def test_pinning(client: TestClient, engine: Engine, token: str) -> None:
    client.post("/memories/tea/act", data={"token": token, "do": "pin"})
    assert engine.get("tea").pinned
    assert 'value="unpin">Unpin' in client.get("/memories/tea").text


def test_correcting_leads_to_the_new_one(client: TestClient, engine: Engine, token: str) -> None:
    form = {"token": token, "content": "Anna prefers white tea."}
    answer = client.post("/memories/tea/correct", data=form)
    new = engine.get(engine.get("tea").superseded_by or "")
    assert answer.headers["location"] == f"/memories/{new.id}?done=corrected"
    assert (new.content, new.category) == ("Anna prefers white tea.", "preference")


def test_a_form_sent_as_it_was_shown_changes_nothing(client: TestClient, engine: Engine, token: str) -> None:
    before = engine.get("lisbon")
    page = client.get("/memories/lisbon").text
    form = page.partition("/memories/lisbon/change")[2].partition("</form>")[0]
    shown = dict(re.findall(r'name="(\w+)"[^>]* value="([^"]*)"', form))
    shown["tier"] = before.tier
    assert client.post("/memories/lisbon/change", data=shown).status_code == 303
    assert engine.get("lisbon") == before


def test_what_is_known_can_be_changed(client: TestClient, engine: Engine, token: str) -> None:
    form = change_form(
        engine, token, "tea", category="habit", tier="procedural", confidence="0.25", tags="drink, hot",
        entities="Anna, Kitchen", valid_from="2026-04-01T08:00", lat="52.5", lon="13.4", place="Berlin",
    )  # fmt: skip
    assert client.post("/memories/tea/change", data=form).status_code == 303
    memory = engine.get("tea")
    assert (memory.category, memory.tier, memory.confidence) == ("habit", "procedural", 0.25)
    assert (memory.tags, memory.entities) == (("drink", "hot"), ("Anna", "Kitchen"))
    assert memory.place is not None
    assert (memory.place.lat, memory.place.name) == (52.5, "Berlin")
    assert memory.valid_from is not None
    assert memory.valid_from.isoformat() == "2026-04-01T08:00:00+00:00"
    assert memory.content == "Anna prefers green tea in the morning."


def test_whoever_is_second_is_told(client: TestClient, engine: Engine, token: str) -> None:
    form = change_form(engine, token, "tea", category="habit")
    engine.update("tea", confidence=0.5)
    answer = client.post("/memories/tea/change", data=form)
    assert answer.status_code == 409
    assert "read it again" in answer.text
    assert engine.get("tea").category == "preference"


@pytest.mark.parametrize(
    "more",
    [{"confidence": "2"}, {"confidence": "much"}, {"tier": "eternal"}, {"lat": "91", "lon": "0"},
     {"lat": "1"}, {"valid_from": "yesterday"}, {"version": ""},
     {"valid_from": "2026-05-02", "valid_to": "2026-05-01"}],
)  # fmt: skip
def test_what_cannot_be_is_refused_and_nothing_changes(
    client: TestClient, engine: Engine, token: str, more: dict[str, str]
) -> None:
    before = engine.get("tea")
    answer = client.post("/memories/tea/change", data=change_form(engine, token, "tea", **more))
    assert answer.status_code == 400
    assert engine.get("tea") == before


def test_nobody_has_that_id(client: TestClient) -> None:
    for path in ("/memories/nobody", "/memories/nobody/similar"):
        assert client.get(path).status_code == 404


def test_markup_in_a_memory_is_text_and_its_link_leads_nowhere(client: TestClient) -> None:
    page = client.get("/memories/script").text
    for markup in ("<script>document", "<b>", "<i>", "<u>", "<s>", "<em>", "<key>", "<value>"):
        assert markup not in page
    assert 'href="javascript' not in page
    assert "javascript:alert(1)" in page


def test_what_was_said_again_is_listed(client: TestClient, engine: Engine) -> None:
    engine.remember("The key is under the mat.", id="mat")
    engine.remember("The key is under the mat!", id="again")
    kept = engine.get("mat").superseded_by or "mat"
    note = engine.admin.duplicates.repeats(kept)[0]
    page = client.get(f"/memories/{kept}").text
    assert "Said again" in page
    assert f'href="/memories/{note.memory_id}"' in page


def test_what_it_may_contradict_is_noted(client: TestClient, engine: Engine) -> None:
    engine.remember("Clara lives in Berlin.", id="berlin")
    engine.remember("Clara no longer lives in Berlin.", id="gone")
    assert "An older one" in client.get("/memories/gone").text
    assert "A newer one" in client.get("/memories/berlin").text
    assert "May contradict" not in client.get("/memories/tea").text


@pytest.mark.parametrize(
    "id_", ["chat/7", "conv-26/D1:3", "a/b/c", "a//b", "/a", "a?b#c", "a/../b", "./a", "..", "x/."]
)
def test_an_id_may_have_slashes_as_everywhere(
    client: TestClient, engine: Engine, token: str, id_: str
) -> None:
    engine.remember("Clara keeps bees.", id=id_)
    listed = client.get("/memories").text
    address = re.search(r'<a href="(/memories[^"]+)" dir="auto">Clara keeps bees', listed)
    assert address is not None
    page = client.get(address[1])
    assert page.status_code == 200
    assert "Clara keeps bees." in page.text
    assert client.get(f"{address[1]}/similar").status_code == 200
    for what, form in (
        ("act", {"token": token, "do": "pin"}),
        ("change", change_form(engine, token, id_, category="bees", version="2")),
        ("correct", {"token": token, "content": "Clara keeps no bees."}),
    ):
        assert client.post(f"{address[1]}/{what}", data=form).status_code == 303
    assert (engine.get(id_).pinned, engine.get(id_).category) == (True, "bees")
    assert engine.get(id_).superseded_by is not None


def test_without_an_id_every_memory_is_listed(client: TestClient) -> None:
    answer = client.get("/memories/?namespace=acme")
    assert (answer.status_code, answer.headers["location"]) == (303, "/memories?namespace=acme")


ODD: dict[str, Any] = {
    "category": " two\nlines ",
    "tags": ("Smith, John", "x"),
    "entities": ("Keller, Anna",),
    "valid_from": datetime(12, 3, 4, tzinfo=UTC),
    "valid_to": datetime(2026, 5, 7, 18, 30, 0, 123456, tzinfo=UTC),
    "place": Place(48.857, 2.352, " Café\nParis "),
}


@pytest.fixture
def memory() -> Memory:
    return Memory(id="m1", content="tea", created_at=datetime(2026, 5, 7, tzinfo=UTC), **ODD)


def sent(memory: Memory, **more: str) -> Values:
    return Values({name: [text] for name, text in {**written(memory), **more}.items()})


def test_the_fields_say_what_a_browser_can_hold(memory: Memory) -> None:
    shown = written(memory)
    assert (shown["category"], shown["tags"], shown["place"]) == ("twolines", "Smith\\, John, x", "CaféParis")
    # Without the zeros a browser takes it for no time at all, shows nothing, and sends nothing back.
    assert shown["valid_from"] == "0012-03-04T00:00:00.000"
    assert shown["valid_to"] == "2026-05-07T18:30:00.123"
    assert shown["expires_at"] == ""


def test_what_comes_back_as_it_was_shown_is_no_change(memory: Memory) -> None:
    assert changes(sent(memory), memory) == {}
    # A browser leaves out the zeros of a time.
    assert changes(sent(memory, valid_from="0012-03-04T00:00"), memory) == {}


def test_only_what_was_changed_is_read(memory: Memory) -> None:
    assert changes(sent(memory, importance="0.9"), memory) == {"importance": 0.9}
    assert changes(sent(memory, tags="x, y"), memory) == {"tags": ("x", "y")}
    with_one_more = written(memory)["tags"] + ", y"
    assert changes(sent(memory, tags=with_one_more), memory) == {"tags": ("Smith, John", "x", "y")}
    assert changes(sent(memory, valid_to="", category="fact"), memory) == {
        "valid_to": None,
        "category": "fact",
    }
    assert changes(sent(memory, lat="", lon="", place=""), memory) == {"place": None}
    assert changes(sent(memory, place="Paris"), memory) == {"place": Place(48.857, 2.352, "Paris")}


@pytest.mark.parametrize("more", [{"lat": ""}, {"confidence": "much"}, {"expires_at": "soon"}])
def test_what_cannot_be_read_is_refused(memory: Memory, more: dict[str, str]) -> None:
    with pytest.raises(InvalidArgument):
        changes(sent(memory, **more), memory)


def test_the_form_joins_tags_with_commas() -> None:
    moment = datetime(2026, 5, 7, tzinfo=UTC)
    assert (
        written(Memory(id="m1", content="tea", created_at=moment, tags=("hot", "dry")))["tags"] == "hot, dry"
    )
