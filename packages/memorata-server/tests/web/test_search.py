"""The search page: hits with bars and reasons, controls that count, two recipes side by side."""

import re
from dataclasses import replace

import pytest
from markupsafe import escape

from memorata.engine import Engine
from memorata.engine.recall.evidence import TEXT_PARTS
from memorata.engine.recipes import RECIPES
from memorata_server.testing import TestClient
from memorata_server.web.app import create_pages
from memorata_server.web.search import Piece, rows, sentence, signal

LIVE = {"HX-Request": "true", "HX-Target": "results"}


def hits(page: str) -> list[str]:
    return re.findall(r'<li class="hit" data-row>\s*<p class="said"><a href="/memories/([\w-]+)"', page)


def test_hits_are_those_of_the_engine_in_its_order(client: TestClient, engine: Engine) -> None:
    found = [hit.memory.id for hit in engine.recall("who drinks tea?")]
    assert found
    assert hits(client.get("/?q=who+drinks+tea?").text) == found


def test_a_bar_says_what_each_signal_put_in(client: TestClient, engine: Engine) -> None:
    page = client.get("/?q=green+tea&recipe=azure").text
    first = engine.recall("green tea", recipe="azure").hits[0]
    parts = [f"{part.label} {part.value:.3f}" for part in first.explanation.parts]
    sure = f"{100 * first.confidence:.0f} %"
    assert f'aria-label="{sure} sure: {", ".join(parts)}"' in page
    assert f'<span class="value">{sure}</span>' in page


def test_a_bar_is_as_long_as_the_hit_is_sure(engine: Engine) -> None:
    shown = rows(engine.recall("what does Anna drink in the morning?"))
    assert shown
    for row in shown:
        assert sum(segment.width for segment in row.bar) == pytest.approx(100 * row.hit.confidence)


def test_a_sentence_stands_above_every_explanation(client: TestClient, engine: Engine) -> None:
    (row, *_) = rows(engine.recall("green tea"))
    assert sentence(row).startswith(row.hit.reason[:-1])
    assert f'<p>{escape(sentence(row))}</p><ul class="tree">' in client.get("/?q=green+tea").text
    alone = replace(row, pieces=(Piece("vector", 0.75), Piece("lexical", 0.25), Piece("quality", 0.0)))
    assert sentence(alone).endswith(". Its score is made of 75 % vector and 25 % lexical.")
    assert sentence(replace(row, pieces=())) == row.hit.reason


def test_the_palette_leads_to_pages_names_memories_and_namespaces(client: TestClient, engine: Engine) -> None:
    engine.remember("Alice keeps bees.", namespace="acme/alice")
    everything = client.get("/palette").text
    assert 'href="/settings"' in everything
    assert 'href="/?namespace=acme%2Falice"' in everything
    about = client.get("/palette", params={"q": "ann"}).text
    assert 'href="/memories?entity=Anna"' in about
    assert 'href="/settings"' not in about
    page = client.get("/palette", params={"q": "green <b>tea"}).text
    assert 'href="/memories/tea"' in page
    assert "Search for “green &lt;b&gt;tea”" in page
    assert engine.admin.feedback.recalls() == []


def test_filters_offer_what_exists(client: TestClient, engine: Engine) -> None:
    page = client.get("/").text
    select = page.partition('<select id="only-category"')[2].partition("</select>")[0]
    assert re.findall(r"<option>([^<]*)<", select) == ["preference", "&lt;i&gt;markup&lt;/i&gt;", "event"]
    assert '<option value="travel">' in page
    assert "<option selected>long gone</option>" in client.get("/?category=long+gone").text
    engine.remember_many([f"Note {number}." for number in range(500)])
    assert '<input id="only-category"' in client.get("/").text


def test_the_whole_explanation_is_there_on_demand(client: TestClient, engine: Engine) -> None:
    page = client.get("/?q=green+tea").text
    for node in engine.recall("green tea").hits[0].explanation.walk():
        assert f'{node.value:.4f}</span> <span class="label">{node.label}</span>' in page


def test_the_page_says_how_far_several_answers_agree(client: TestClient) -> None:
    assert "the answers agree to" in client.get("/?q=who+drinks+green+tea&recipe=confident").text
    refused = client.get("/?q=who+drinks+green+tea+at+noon&samples=4&least_agreement=1").text
    assert "The answers do not agree" in refused


def test_a_control_changes_the_answer(client: TestClient, engine: Engine) -> None:
    assert hits(client.get("/?q=green+tea").text)
    page = client.get("/?q=green+tea&recipe=vector&least_similarity=1").text
    assert hits(page) == []
    assert "Nothing is close enough" in page
    (enough,) = re.findall(r"Set “Least similarity” to (0\.\d\d) to see it", page)
    assert len(hits(client.get(f"/?q=green+tea&recipe=vector&least_similarity={enough}").text)) == 1
    engine.remember("A green zebra ran past.", confidence=0.5)
    for missed in (
        "recipe=bm25&least_match=1&least_confidence=0.9",
        "recipe=vector&least_similarity=1&least_confidence=0.9",
    ):
        page = client.get(f"/?q=green+zebra&{missed}").text
        assert "Nothing is close enough" in page
        assert "Lower the thresholds to see it." in page


@pytest.mark.untraced
def test_every_recipe_can_be_chosen_and_is_explained(client: TestClient) -> None:
    for name, recipe in RECIPES.items():
        page = client.get("/", params={"q": "tea", "recipe": name}).text
        assert f"<option selected>{name}</option>" in page
        assert recipe.doc.partition("'")[0] in page


def test_two_recipes_stand_side_by_side_and_say_where_a_hit_is_on_the_other(client: TestClient) -> None:
    page = client.get("/?q=tea&compare=bm25").text
    assert '<div class="sides two">' in page
    assert "<h2>balanced</h2>" in page
    assert "<h2>bm25</h2>" in page
    assert "same place" in client.get("/?q=tea&compare=balanced").text
    # What balanced lets through its gate and what words alone find are not the same set.
    one, two = (hits(side) for side in page.split('<div class="side">')[1:])
    assert ("only here" in page) == (set(one) != set(two))


def test_the_address_says_what_is_shown_and_nothing_else(client: TestClient) -> None:
    answer = client.get("/?q=tea&recipe=balanced&vector_weight=0.7&trade=0.7&limit=10&compare=", headers=LIVE)
    assert answer.headers["hx-replace-url"] == "/?q=tea&vector_weight=0.7"
    assert "<html" not in answer.text


def test_a_change_of_the_recipe_replaces_the_controls_too(client: TestClient) -> None:
    answer = client.get("/?q=tea&recipe=azure", headers={**LIVE, "HX-Target": "search"})
    assert answer.text.startswith('<form id="search"')
    assert 'value="0.65"' in answer.text


def test_only_some_memories(client: TestClient) -> None:
    assert hits(client.get("/?q=tea&speaker=Boris").text) == ["coffee"]


def test_what_was_believed_then(client: TestClient, engine: Engine) -> None:
    engine.correct("tea", "Anna prefers white tea now.")
    assert "tea" not in hits(client.get("/?q=Anna+tea").text)
    assert "tea" in hits(client.get("/?q=Anna+tea&as_of=2026-05-15").text)


def test_before_a_question_the_newest_are_shown(client: TestClient) -> None:
    page = client.get("/").text
    assert "4 memories in default, hidden ones included." in page
    assert "green tea" in page


def test_an_empty_memory_says_what_to_do(empty: Engine) -> None:
    client = TestClient(create_pages(empty), base_url="http://localhost")
    for path in ("/", "/?q=tea"):
        page = client.get(path).text
        assert "Nothing is remembered here yet" in page
        assert "memorata remember" in page


@pytest.mark.parametrize(
    "query",
    ["q=x&limit=0", "q=x&limit=1000", "q=x&recipe=magic", "q=x&compare=magic", "q=x&as_of=soon", "q=%ff",
     "q=x&filter={", "q=x&vector_pool=0&lexical_pool=0"],
)  # fmt: skip
def test_what_cannot_be_used_is_refused_with_words(client: TestClient, query: str) -> None:
    answer = client.get(f"/?{query}")
    assert answer.status_code == 400
    assert 'role="alert"' in answer.text


@pytest.mark.parametrize(
    "question", ['" OR 1=1 --', "tea* NEAR(x) AND NOT", "'; DROP TABLE memories;", "-", '""']
)
def test_a_question_is_words_and_nothing_else(client: TestClient, question: str) -> None:
    assert client.get("/", params={"q": question}).status_code == 200


def test_markup_in_a_memory_is_text(client: TestClient) -> None:
    page = client.get("/", params={"q": "document title owned bold quoted script"}).text
    assert hits(page)[0] == "script"
    assert "<script>document" not in page
    assert "&lt;script&gt;document.title=&#39;owned&#39;&lt;/script&gt;" in page
    for markup in ("<b>", "<i>", "<u>", "<s>"):
        assert markup not in page


def test_what_was_turned_is_saved_as_a_recipe(client: TestClient, engine: Engine, token: str) -> None:
    page = client.get("/?q=tea&recipe=azure&vector_weight=0.8").text
    saved = dict(re.findall(r'<input form="save" type="hidden" name="(\w+)" value="([^"]*)"', page))
    assert saved == {"recipe": "azure", "q": "tea", "vector_weight": "0.8"}
    answer = client.post("/recipes", data={"token": token, **saved, "name": "mine", "use": "true"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/?q=tea&recipe=mine")
    mine = engine.admin.recipes.get("mine")
    assert (mine.fusion, mine.vector_weight) == ("rrf", 0.8)
    assert engine.admin.recipes.get().name == "mine"
    again = client.get("/?q=tea").text
    assert "<option selected>mine</option>" in again
    assert "Save as a recipe" not in again


@pytest.mark.parametrize(
    "form", [{"name": ""}, {"name": "balanced"}, {"name": "a b"}, {"name": "x", "vector_weight": "9"}]
)
def test_a_recipe_that_cannot_be_saved_is_refused(
    client: TestClient, engine: Engine, token: str, form: dict[str, str]
) -> None:
    assert client.post("/recipes", data={"token": token, **form}).status_code == 400
    assert engine.admin.recipes.list() == ()


def test_a_piece_has_the_colour_of_its_signal() -> None:
    assert (signal("time factor"), signal("something new")) == ("time", "other")
    assert {signal(label) for label in TEXT_PARTS} == {"text"}
