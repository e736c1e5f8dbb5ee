"""The lab: judgements are kept, too few are told, and what wins is installed and can be taken back."""

import re
import time
from datetime import UTC, datetime, timedelta

import pytest

import memorata
from memorata.engine import Engine
from memorata.engine.recall.log import Logging
from memorata.engine.recipes import Recipe
from memorata_lab import pages as tuning
from memorata_lab.evaluate.significance import Difference
from memorata_lab.learn.training_set import TrainingSet
from memorata_lab.learn.tuning import Tuned
from memorata_lab.learn.validation import Verdict
from memorata_lab.pages import HEIGHT, WIDTH, plotted
from memorata_server.testing import TestClient
from memorata_server.web.app import create_pages

LIVE = {"HX-Request": "true"}
NOW = datetime(2026, 5, 20, tzinfo=UTC)


def asked(client: TestClient, token: str, question: str) -> str:
    """Ask a question in the lab, and return the id of the recall."""
    answer = client.post("/lab/ask", data={"token": token, "q": question})
    assert answer.status_code == 303
    return answer.headers["location"].partition("recall=")[2]


def tuned(client: TestClient, token: str, way: str) -> str:
    """Let the lab look for settings, and return what it says in the end."""
    client.post("/lab/tune", data={"token": token, "way": way})
    end = time.monotonic() + 60
    while 'class="running"' in (page := client.get("/lab/outcome").text) and time.monotonic() < end:
        time.sleep(0.02)
    return page


def test_a_question_is_asked_judged_and_kept(client: TestClient, engine: Engine, token: str) -> None:
    hours = iter(range(1, 100))
    # The latest opinion counts, so time has to pass.
    engine.runtime.clock = lambda: NOW + timedelta(hours=next(hours))
    recall = asked(client, token, "who drinks tea?")
    page = client.get("/lab", params={"recall": recall}).text
    assert 'value="who drinks tea?"' in page
    assert page.count("Answers it") == len(engine.admin.feedback.recalls(ids=(recall,))[0].shown) > 0
    form = {"token": token, "recall": recall, "memory": "tea", "relevant": "yes"}
    part = client.post("/lab/judge", data=form, headers=LIVE).text
    assert re.search(r'value="yes" aria-pressed="true"', part)
    assert re.search(r'value="no" aria-pressed="false"', part)
    assert [each.feedback.memory_id for each in engine.admin.feedback.list()] == ["tea"]
    assert "<strong>1</strong> of the 20 queries" in client.get("/lab").text
    client.post("/lab/judge", data={**form, "relevant": "no"})
    again = client.get("/lab", params={"recall": recall}).text
    assert re.search(r'value="no" aria-pressed="true"', again)
    assert "who drinks tea?" in client.get("/lab").text


def test_a_blank_question_is_not_taken_for_one_that_was_not_kept(client: TestClient, engine: Engine) -> None:
    engine.recall(" ")
    page = client.get("/lab").text
    assert "A blank query" in page
    assert "A query that was not kept" not in page
    with memorata.open(
        ":memory:", embedder="lexical", config={"logging": Logging(queries=False)}
    ) as discreet:
        discreet.remember("Green tea.")
        discreet.recall("which tea?")
        page = TestClient(create_pages(discreet), base_url="http://localhost").get("/lab").text
    assert "A query that was not kept" in page


def test_questions_of_the_search_page_are_not_logged(client: TestClient, engine: Engine) -> None:
    client.get("/?q=who+drinks+tea")
    client.get("/memories/tea/similar")
    assert engine.admin.feedback.recalls() == []


def test_too_few_judgements_are_told(client: TestClient, token: str) -> None:
    page = client.get("/lab").text
    assert re.search(r"<button disabled>Tune</button>", page)
    assert "20 more queries first" in page
    assert "too few to learn from" in tuned(client, token, "share")


def test_what_luck_explains_is_refused_with_numbers(client: TestClient, engine: Engine, token: str) -> None:
    for number in range(25):
        engine.remember(f"PageRoute {number} has the code K{number * 37}.", id=f"route{number}")
        found = engine.recall(f"code of route {number}")
        engine.admin.feedback.record(found.id, f"route{number}", "relevant")
    page = tuned(client, token, "share")
    assert "Refused" in page
    assert '<svg class="plot"' in page
    assert "Gain on held-out queries" in page
    assert "Install" not in page
    assert client.post("/lab/install", data={"token": token, "name": "tuned"}).status_code == 400
    assert engine.admin.recipes.list() == ()


@pytest.mark.parametrize("way", ["similarity", "gate"])
def test_thresholds_are_tuned_on_judged_hits(
    client: TestClient, engine: Engine, token: str, way: str
) -> None:
    for number in range(25):
        engine.remember(f"PageRoute {number} has the code K{number * 37}.", id=f"route{number}")
    for number in range(25):
        found = engine.recall(f"code of route {number}", limit=3)
        for hit in found:
            kind = "yes" if hit.memory.id == f"route{number}" else "no"
            engine.admin.feedback.record(found.id, hit.memory.id, "relevant", kind)
    page = tuned(client, token, way)
    assert "Gain on held-out queries" in page
    assert "least_similarity" in page
    assert ("least_confidence" in page) == (way == "gate")


def won(material: object, base: Recipe) -> Tuned:
    """Return a win, as tuning would."""
    gain = Difference(0.05, 0.02, 0.08, 0.001)
    verdict = Verdict(True, "held out it gains 0.05", {"vector_weight": 0.8}, gain, 0.06, 0.01, ())
    scores = (({"vector_weight": 0.5}, 0.6), ({"vector_weight": 0.8}, 0.65))
    return Tuned(verdict, base, base.changed({"vector_weight": 0.8}), 40, "ndcg@10", scores)


def test_what_wins_is_installed_and_used(
    client: TestClient, engine: Engine, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(tuning._WAYS, "share", ("The share", won))
    page = tuned(client, token, "share")
    assert "It wins" in page
    assert "+0.0500 ndcg@10 (+0.0200 to +0.0800)" in page
    answer = client.post("/lab/install", data={"token": token, "name": "tuned", "use": "true"})
    assert answer.headers["location"] == "/settings#recipes"
    assert (engine.admin.recipes.get().name, engine.admin.recipes.get().vector_weight) == ("tuned", 0.8)
    assert "held out it gains 0.05" in client.get("/settings").text
    assert "Nothing was tried yet" in client.get("/lab").text


def test_a_long_search_keeps_its_lease(
    client: TestClient, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[TrainingSet] = []

    def look(material: TrainingSet, base: Recipe) -> Tuned:
        tried.append(material)
        return won(material, base)

    monkeypatch.setitem(tuning._WAYS, "share", ("The share", look))
    assert "It wins" in tuned(client, token, "share")
    assert [each.lease is not None for each in tried] == [True]


def test_nothing_is_installed_before_anything_was_found(client: TestClient, token: str) -> None:
    assert client.post("/lab/install", data={"token": token, "name": "x"}).status_code == 400


def test_bad_forms(client: TestClient, engine: Engine, token: str) -> None:
    assert client.post("/lab/tune", data={"token": token, "way": "magic"}).status_code == 400
    assert client.get("/lab?recall=nobody").status_code == 404
    form = {"token": token, "recall": "nobody", "memory": "tea", "relevant": "yes"}
    assert client.post("/lab/judge", data=form).status_code == 404
    recall = asked(client, token, "who drinks tea?")
    bad = {**form, "recall": recall, "relevant": "perhaps"}
    assert client.post("/lab/judge", data=bad).status_code == 400
    assert engine.admin.feedback.list() == []


def test_a_memory_that_logs_nothing_says_so() -> None:
    with memorata.open(":memory:", embedder="lexical", config={"logging": Logging(recalls=False)}) as engine:
        client = TestClient(create_pages(engine), base_url="http://localhost")
        assert "Recalls are not logged here" in client.get("/lab").text


def test_markup_in_a_memory_is_text(client: TestClient, token: str) -> None:
    recall = asked(client, token, "document title owned <b>bold</b>")
    page = client.get("/lab", params={"recall": recall}).text
    assert "&lt;script&gt;" in page
    for markup in ("<script>document", "<b>", "<i>", "<s>"):
        assert markup not in page


def test_a_hit_beyond_those_that_the_lab_shows_is_judged_all_the_same(
    client: TestClient, engine: Engine, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tuning, "_MAX_HITS", 1)
    recall = engine.recall("who drinks tea or coffee?")
    form = {"token": token, "recall": recall.id, "memory": recall.hits[1].memory.id, "relevant": "yes"}
    answer = client.post("/lab/judge", data=form, headers=LIVE)
    assert (answer.status_code, answer.headers["HX-Redirect"]) == (204, f"/lab?recall={recall.id}")
    assert [each.feedback.memory_id for each in engine.admin.feedback.list()] == [recall.hits[1].memory.id]


POINTS = [(0.0, 0.5), (0.5, 0.9), (1.0, 0.7)]


def test_points_keep_their_order_and_stay_inside() -> None:
    plot = plotted(POINTS, "share", "ndcg", {"in use": 0.5})
    assert plot is not None
    xs, ys = [each.x for each in plot.points], [each.y for each in plot.points]
    assert xs == sorted(xs)
    assert ys[1] < ys[2] < ys[0]
    assert all(0 < x < WIDTH for x in xs)
    assert all(0 < y < HEIGHT for y in ys)
    assert [tick.text for tick in plot.across] == ["0", "0.5", "1"]
    assert [tick.text for tick in plot.upwards] == ["0.500", "0.900"]


def test_what_is_no_point_is_not_marked() -> None:
    plot = plotted(POINTS, "share", "ndcg", {"in use": 0.55, "found": 1.0})
    assert plot is not None
    assert [mark.label for mark in plot.marks] == ["found"]


def test_a_flat_line_is_in_the_middle() -> None:
    plot = plotted([(0.0, 0.5), (1.0, 0.5)], "x", "y", {})
    assert plot is not None
    assert plot.points[0].y == plot.points[1].y


def test_one_point_is_no_line() -> None:
    assert plotted(POINTS[:1], "x", "y", {}) is None


def test_a_mark_names_a_point() -> None:
    drawing = plotted([(0.0, 0.5), (1.0, 0.7)], "share", "ndcg", {"found": 1.0})
    assert drawing is not None
    assert [(mark.label, mark.value, mark.height) for mark in drawing.marks] == [("found", 1.0, 0.7)]
