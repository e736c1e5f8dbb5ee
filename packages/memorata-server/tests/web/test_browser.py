"""The pages in a real browser: they are live, they jump nowhere, everybody can use them, and nothing is run
that is not ours.

Needs Debian's chromium-headless-shell (``make test`` installs it where it may); without a browser these tests
are skipped and say so.
"""

import shutil
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import uvicorn
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect, sync_playwright

import memorata
from memorata.engine import Engine
from memorata.engine.access import ApiKeys
from memorata.model.entity import Place
from memorata.model.memory import Source
from memorata.service.transfer import ASKED, conversation
from memorata_graph import Graph
from memorata_server.web.app import create_pages

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, BROWSERS)), None)
AXE = Path(__file__).parent / "vendor" / "axe.min.js"
PAGES = (
    "/", "/?q=Why+did+we+move+the+job+queue&limit=4&compare=azure", "/?q=zzzz", "/memories/1006-1",
    "/memories?session=release-rules", "/graph?entity=Anya", "/communities?limit=4", "/timeline?entity=Anya",
    "/map", "/review", "/lab", "/experiments", "/settings", "/nowhere", "/?namespace=nobody",
)  # fmt: skip
# Long enough for a machine that does something else as well.
PATIENCE = 60_000
expect.set_options(timeout=PATIENCE)

pytestmark = [
    pytest.mark.untraced,
    pytest.mark.skipif(
        CHROMIUM is None, reason="no browser: apt-get install chromium-headless-shell, and run again"
    ),
]


class Served:
    """An engine and its pages on a port of this machine."""

    def __init__(self, engine: Engine, access: ApiKeys | None = None) -> None:
        self.engine = engine
        app = create_pages(engine, keys=access, clock=lambda: ASKED)
        self._server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", ws="none"))
        self._thread = threading.Thread(target=self._server.run)

    def __enter__(self) -> "Served":
        self._thread.start()
        while not self._server.started:
            time.sleep(0.01)
        port = self._server.servers[0].sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join()


class Clock:
    """Each session is remembered on its own day."""

    now = ASKED

    def __call__(self) -> Any:
        return self.now


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    clock = Clock()
    with memorata.open(":memory:", embedder="lexical", clock=clock) as engine:
        for _, session in groupby(conversation(), key=lambda each: each.source.session):
            turns = list(session)
            clock.now = turns[-1].created_at
            engine.remember_many(turns)
        clock.now = ASKED
        engine.remember(
            "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">",
            id="attack",
            tags=("<b>tag</b>",),
            entities=("<img src=x onerror=alert(1)>",),
            source=Source("<i>Mallory</i>", "attack", 0),
        )
        with Served(engine) as running:
            yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        # Root, as in a container, may run it only without a sandbox; it opens nothing but these pages.
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield launched
        launched.close()


def complaints(context: BrowserContext) -> list[str]:
    """Return the list in which whatever the browser complains about will be, a broken policy included."""
    heard: list[str] = []
    context.on("console", lambda said: heard.append(said.text) if said.type in ("error", "warning") else None)
    context.on("weberror", lambda error: heard.append(str(error.error)))
    return heard


@pytest.fixture
def page(browser: Browser, served: Served) -> Iterator[Page]:
    context = browser.new_context(base_url=served.url, viewport={"width": 1280, "height": 800})
    heard = complaints(context)
    opened = context.new_page()
    opened.set_default_timeout(PATIENCE)
    yield opened
    context.close()
    assert heard == []


def test_typing_asks_and_the_address_follows(page: Page) -> None:
    page.goto("/")
    expect(page.get_by_label("Query", exact=True)).to_be_focused()
    page.keyboard.type("When do we release?")
    expect(page.locator(".hit").first).to_contain_text("Release rule")
    expect(page).to_have_url("/?q=When+do+we+release%3F")


def test_a_slider_asks_anew_and_counts(page: Page) -> None:
    page.goto("/?q=When+do+we+release")
    slider = page.get_by_label("Vector weight")
    before = page.locator(".hit .value").first.inner_text()
    slider.focus()
    page.keyboard.press("End")
    expect(page.locator(".status")).to_contain_text("balanced with 1 change")
    expect(page).to_have_url("/?q=When+do+we+release&vector_weight=1")
    expect(page.locator("output[for=c-vector_weight]")).to_have_text("1")
    widths = "rects => rects.map(each => each.getAttribute('width'))"
    assert page.locator(".hit .s-lexical").evaluate_all(widths) == []
    assert before


def test_a_switch_and_a_choice_ask_anew(page: Page) -> None:
    page.goto("/?q=tea")
    page.locator("#tune > summary").click()
    page.get_by_text("Thresholds and variety").click()
    page.get_by_label("Deduplicate").click()
    expect(page).to_have_url("/?q=tea&deduplicate=false")
    page.get_by_label("Deduplicate").click()
    page.get_by_label("Diversity").select_option("mmr")
    expect(page).to_have_url("/?q=tea&diversity=mmr")


def test_another_recipe_brings_its_own_controls_and_keeps_the_question(page: Page) -> None:
    page.goto("/?q=When+do+we+release&vector_weight=0.9")
    page.get_by_label("Recipe").select_option("azure")
    expect(page.get_by_label("Vector weight")).to_have_value("0.65")
    expect(page).to_have_url("/?q=When+do+we+release&recipe=azure")
    expect(page.get_by_label("Query", exact=True)).to_have_value("When do we release")
    page.get_by_label("Vector weight").fill("0.3")
    expect(page).to_have_url("/?q=When+do+we+release&recipe=azure&vector_weight=0.3")


def test_two_recipes_side_by_side(page: Page) -> None:
    page.goto("/?q=When+do+we+release")
    page.locator("#tune > summary").click()
    page.get_by_label("Beside it").select_option("bm25")
    expect(page.locator(".side")).to_have_count(2)
    boxes = [page.locator(".side").nth(number).bounding_box() for number in (0, 1)]
    assert boxes[0] is not None
    assert boxes[1] is not None
    assert boxes[0]["y"] == boxes[1]["y"]
    assert boxes[0]["x"] < boxes[1]["x"]


def test_all_of_it_with_the_keyboard(page: Page) -> None:
    page.goto("/?q=When+do+we+release")
    page.locator("main").focus()
    page.keyboard.press("/")
    expect(page.get_by_label("Query", exact=True)).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.locator(".hit").nth(1)).to_have_class("hit current")
    page.keyboard.press("e")
    expect(page.locator(".hit").nth(1).locator(".tree")).to_be_visible()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    expect(page.locator("blockquote")).to_be_visible()


def test_ticking_forgetting_and_undoing(page: Page, served: Served) -> None:
    page.goto("/memories?session=release-rules")
    buttons = page.get_by_role("button", name="Forget")
    expect(buttons).to_be_disabled()
    boxes = page.locator("[data-tick]")
    count = boxes.count()
    boxes.nth(0).check()
    boxes.nth(1).check()
    expect(page.locator("[data-ticked]")).to_have_text("2")
    buttons.click()
    expect(page.get_by_role("status")).to_contain_text("2 memories forgotten")
    expect(boxes).to_have_count(count - 2)
    page.get_by_role("button", name="Undo").click()
    expect(boxes).to_have_count(count)


def test_a_list_narrows_down_while_one_types_and_ticks(page: Page, served: Served) -> None:
    served.engine.forget("1006-4")
    page.goto("/memories?session=release-rules")
    before = page.locator("[data-tick]").count()
    expect(page.locator(".narrow-down details")).to_have_attribute("open", "")
    page.get_by_label("Forgotten and replaced ones, too").check()
    expect(page.locator("[data-tick]")).to_have_count(before + 1)
    expect(page).to_have_url("/memories?session=release-rules&hidden=true")
    page.get_by_label("Contains").fill("night colours")
    expect(page.locator("[data-tick]")).to_have_count(1)
    served.engine.restore("1006-4")


def test_correcting_from_the_page(page: Page, served: Served) -> None:
    said = served.engine.remember("The printer is on the second floor.", tags=("printer",))
    page.goto(f"/memories/{said.id}")
    page.get_by_text("Correct what it says").click()
    page.get_by_label("What is right").fill("The printer is on the third floor.")
    page.get_by_role("button", name="Correct").click()
    expect(page.get_by_role("status")).to_contain_text("Corrected")
    expect(page.locator(".chain li")).to_have_count(2)
    assert served.engine.get(said.id).superseded_by is not None


def test_a_form_is_sent_once_however_often_it_is_clicked(page: Page) -> None:
    page.goto("/memories")
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if request.method == "POST" else None)
    page.route(
        "**/memories",
        lambda route: route.fulfill(status=204) if route.request.method == "POST" else route.continue_(),
    )
    page.get_by_text("Remember something").click()
    page.get_by_label("What was said").fill("Said once.")
    event = "new Event('submit', {bubbles: true, cancelable: true})"
    page.locator("#remember form").evaluate(f"form => [1, 2].forEach(() => form.dispatchEvent({event}))")
    page.wait_for_timeout(300)
    assert len(sent) == 1


def test_a_form_that_is_refused_keeps_what_was_typed(browser: Browser, served: Served) -> None:
    context = browser.new_context(base_url=served.url)
    page = context.new_page()
    page.goto("/memories")
    page.get_by_text("Remember something").click()
    page.get_by_label("What was said").fill("   ")
    page.locator("#new-tags").fill("kept")
    page.get_by_role("button", name="Remember", exact=True).click()
    expect(page.get_by_role("alert").filter(has_text="cannot be used")).to_be_visible()
    expect(page.locator("#new-tags")).to_have_value("kept")
    page.get_by_label("What was said").fill("Something worth keeping.")
    page.get_by_role("button", name="Remember", exact=True).click()
    expect(page.locator("blockquote")).to_have_text("Something worth keeping.")
    context.close()


def test_the_first_visit_offers_the_demo_and_an_import(browser: Browser, tmp_path: Path) -> None:
    notes = tmp_path / "notes.md"
    notes.write_text("Anna keeps bees.\n\nBoris plays the cello.", encoding="utf-8")
    with memorata.open(":memory:", embedder="lexical") as engine, Served(engine) as running:
        context = browser.new_context(base_url=running.url)
        heard = complaints(context)
        page = context.new_page()
        page.goto("/?namespace=mine")
        page.get_by_text("Import notes, a chat export").click()
        page.locator("[type=file]").set_input_files(notes)
        expect(page.get_by_label("Paste it, or choose a file")).to_have_value(
            notes.read_text(encoding="utf-8")
        )
        page.get_by_role("button", name="Import").click()
        expect(page.get_by_role("status")).to_contain_text("2 memories imported")
        expect(page.get_by_text("Boris plays the cello.")).to_be_visible()
        page.goto("/")
        page.get_by_role("button", name="Load the demo").click()
        expect(page.locator(".hit").first).to_be_visible()
        context.close()
        assert len(engine.list(namespace="mine").memories) == 2
    assert heard == []


def test_saving_what_was_turned(page: Page, served: Served) -> None:
    page.goto("/?q=When+do+we+release")
    page.get_by_label("Vector weight").focus()
    page.keyboard.press("Home")
    page.get_by_text("Save as a recipe").click()
    page.get_by_label("Name", exact=True).fill("words-first")
    page.get_by_role("button", name="Save").click()
    expect(page).to_have_url("/?q=When+do+we+release&recipe=words-first")
    expect(page.get_by_label("Vector weight")).to_have_value("0")
    assert served.engine.admin.recipes.get("words-first").vector_weight == 0
    served.engine.admin.recipes.rollback("words-first")


def test_judging_in_the_lab(page: Page, served: Served) -> None:
    page.goto("/lab")
    page.get_by_role("searchbox", name="Query").fill("When do we release?")
    page.get_by_role("button", name="Ask").click()
    first = page.locator(".judged").first
    first.get_by_role("button", name="Answers it").click()
    expect(first.get_by_role("button", name="Answers it")).to_have_attribute("aria-pressed", "true")
    assert len(served.engine.admin.feedback.list()) == 1


def test_vectors_that_are_missing_and_what_was_said_twice(browser: Browser, tmp_path: Path) -> None:
    with memorata.open(tmp_path / "m.db", embedder=None, config={"duplicates": "off"}) as engine:
        engine.remember_many([f"PageRoute {number} is painted blue." for number in range(40)])
        engine.remember("The key is under the mat.", id="mat")
        engine.remember("The key is under the mat!", id="again")
    with memorata.open(tmp_path / "m.db", embedder="lexical") as engine, Served(engine) as running:
        context = browser.new_context(base_url=running.url)
        heard = complaints(context)
        page = context.new_page()
        page.goto("/settings")
        expect(page.locator(".notice.warn")).to_contain_text("42 memories have no vector of this model")
        page.get_by_role("button", name="Re-embed now").click()
        expect(page.locator(".notice.good")).to_contain_text("Embedded 42 memories")
        page.goto("/review")
        page.get_by_role("button", name="Look for duplicates").click()
        group = page.locator("form", has_text="The key is under the mat!")
        group.get_by_role("button", name="Keep this one").last.click()
        expect(page.get_by_role("status")).to_contain_text("1 memory superseded")
        page.get_by_role("status").get_by_role("button", name="Undo").click()
        expect(page.get_by_text("undone")).to_be_visible()
        context.close()
    assert heard == []


def test_the_graph_is_drawn_and_grows(page: Page) -> None:
    page.goto("/graph?entity=Anya")
    expect(page.locator("#drawing.drawn canvas").first).to_be_visible()
    graph = "document.getElementById('drawing')._cyreg.cy"
    before = page.evaluate(f"{graph}.nodes().length")
    place = page.evaluate(f"{graph}.getElementById('name:Jonas').renderedPosition()")
    frame = page.locator("#drawing").bounding_box()
    assert frame is not None
    page.mouse.dblclick(frame["x"] + place["x"], frame["y"] + place["y"])
    expect(page.locator("#picked")).to_have_text("Jonas")
    for _ in range(100):
        page.wait_for_timeout(50)
        if page.evaluate(f"{graph}.nodes().length") > before:
            break
    assert page.evaluate(f"{graph}.nodes().length") > before


def test_names_of_the_graph_cover_nothing_and_stand_where_they_stood(page: Page) -> None:
    places = []
    for _ in range(2):
        page.goto("/graph?entity=Ines&depth=3")
        expect(page.locator("#drawing.drawn canvas").first).to_be_visible()
        boxes = page.evaluate("""() => {
            const graph = document.getElementById("drawing")._cyreg.cy;
            const only = {includeNodes: false, includeEdges: false, includeLabels: true};
            return graph.nodes("[side]").map(node => [node.id(), node.position(), node.boundingBox(only)]);
        }""")
        assert len(boxes) > 3
        for number, (_, _, one) in enumerate(boxes):
            for _, _, other in boxes[:number]:
                apart = one["x1"] >= other["x2"] or other["x1"] >= one["x2"]
                assert apart or one["y1"] >= other["y2"] or other["y1"] >= one["y2"]
        places.append([(name, position) for name, position, _ in boxes])
    assert places[0] == places[1]


@pytest.mark.parametrize("width", [390, 1400])
def test_no_name_on_the_map_is_cut_off_at_its_edge(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    page.goto("/map")
    edge = page.locator("#map").bounding_box()
    shown = page.locator(".names [visibility=visible]")
    assert edge is not None
    assert shown.count() > 3
    for name in shown.all():
        box = name.bounding_box()
        assert box is not None
        assert edge["x"] <= box["x"]
        assert box["x"] + box["width"] <= edge["x"] + edge["width"]


def test_the_map_can_be_zoomed(page: Page) -> None:
    page.goto("/map")
    before = page.locator("#map").get_attribute("viewBox")
    page.get_by_role("button", name="Closer").click()
    assert page.locator("#map").get_attribute("viewBox") != before
    assert page.locator(".countries [visibility=visible]").count() > 3
    page.get_by_role("button", name="All of it").click()
    box, whole = ([float(each) for each in (text or "").split()] for text in
                  (page.locator("#map").get_attribute("viewBox"), before))  # fmt: skip
    assert box == pytest.approx(whole, abs=0.001)
    page.locator("#near").get_by_role("link", name="Tbilisi").first.click()
    expect(page.get_by_role("heading", name="Nearest to")).to_be_visible()


@pytest.mark.parametrize(
    "path",
    ["/?q=document+title+owned+script", "/memories?session=attack", "/memories/attack", "/timeline"],
)
def test_markup_in_a_memory_is_text_and_does_nothing(page: Page, path: str) -> None:
    page.goto(path)
    expect(page.get_by_text("<script>document.title='owned'</script>").first).to_be_visible()
    assert "owned'" not in page.evaluate("[...document.images].map(each => each.src).join()")
    assert page.title() != "owned"


def test_names_that_are_markup_are_drawn_as_text(page: Page) -> None:
    page.goto("/graph?entity=%3Cimg+src%3Dx+onerror%3Dalert(1)%3E")
    expect(page.locator("#drawing.drawn canvas").first).to_be_visible()
    assert page.evaluate("document.images.length") == 0


@dataclass
class Tour:
    """What was noticed on a visit to every page."""

    serious: list[tuple[str, str, list[str]]] = field(default_factory=list)
    jumps: dict[str, float] = field(default_factory=dict)
    hosts: set[str] = field(default_factory=set)


@pytest.fixture
def tour(browser: Browser, served: Served) -> Tour:
    # The policy of the pages keeps foreign scripts out, axe too, so the browser is told to look away.
    context = browser.new_context(
        base_url=served.url, viewport={"width": 1280, "height": 800}, bypass_csp=True
    )
    context.add_init_script(
        "window.shifts = []; new PerformanceObserver(list => list.getEntries().forEach(each => "
        "window.shifts.push(each.value))).observe({type: 'layout-shift', buffered: true})"
    )
    noticed = Tour()
    context.on("request", lambda request: noticed.hosts.add(urlsplit(request.url).netloc))
    page = context.new_page()
    for path in PAGES:
        page.goto(path)
        # What comes late, such as similar memories, may move things as well.
        page.wait_for_timeout(250)
        noticed.jumps[path] = page.evaluate("window.shifts.reduce((sum, each) => sum + each, 0)")
        noticed.serious += serious(page, path)
    context.close()
    return noticed


def serious(page: Page, path: str, rules: list[str] | None = None) -> list[tuple[str, str, list[str]]]:
    """Return what axe-core finds on a page, however small."""
    page.add_script_tag(path=AXE)
    options: dict[str, Any] = {"resultTypes": ["violations"]} | ({} if rules is None else {"runOnly": rules})
    answer = page.evaluate("options => axe.run(document, options)", options)
    return [
        (path, each["id"], [node["html"][:120] for node in each["nodes"]][:3])
        for each in answer["violations"]
    ]


def test_every_page_is_fit_to_use_jumps_nowhere_and_asks_nobody_else(tour: Tour, served: Served) -> None:
    assert tour.serious == []
    assert max(tour.jumps.values()) < 0.02, tour.jumps
    assert tour.hosts == {urlsplit(served.url).netloc}


def test_what_opens_is_fit_to_use_too(browser: Browser, served: Served) -> None:
    found = []
    for width, opens in ((1400, "[data-palette]"), (1400, "[data-keys]"), (1400, "#tune > summary"),
                         (390, ".menu"), (390, ".to-controls")):  # fmt: skip
        context = browser.new_context(
            base_url=served.url, viewport={"width": width, "height": 844}, bypass_csp=True
        )
        page = context.new_page()
        page.goto("/?q=When+do+we+release")
        page.locator(".why > summary").first.click()
        page.locator(opens).click()
        if opens == "[data-palette]":
            expect(page.locator("#palette-list [role=option]").first).to_be_visible()
        found += serious(page, opens)
        context.close()
    assert found == []


def test_in_the_dark_everything_can_be_read_too(browser: Browser, served: Served) -> None:
    context = browser.new_context(base_url=served.url, color_scheme="dark", bypass_csp=True)
    page = context.new_page()
    found = []
    for path in (*PAGES, "/timeline?start=2026-06-01&end=2026-06-30"):
        page.goto(path)
        found += serious(page, path, ["color-contrast"])
    context.close()
    assert found == []


def test_on_a_phone_nothing_is_wider_than_the_screen(browser: Browser, served: Served) -> None:
    context = browser.new_context(base_url=served.url, viewport={"width": 360, "height": 700}, is_mobile=True)
    page = context.new_page()
    wide = {}
    for path in PAGES:
        page.goto(path)
        wide[path] = page.evaluate("document.documentElement.scrollWidth")
    context.close()
    assert max(wide.values()) <= 360, wide


def test_on_a_phone_one_sees_which_page_one_is_on(browser: Browser, served: Served) -> None:
    context = browser.new_context(base_url=served.url, viewport={"width": 360, "height": 700}, is_mobile=True)
    page = context.new_page()
    for path, name in (("/", "Search"), ("/timeline", "Timeline"), ("/settings", "Settings")):
        page.goto(path)
        button = page.get_by_role("button", name=name)
        expect(button).to_be_in_viewport(ratio=1)
        link = page.get_by_role("link", name="Experiments", exact=True)
        expect(link).to_be_hidden()
        button.click()
        expect(link).to_be_in_viewport(ratio=1)
    link.click()
    expect(page.get_by_role("heading", name="Experiments")).to_be_visible()
    context.close()


def test_on_a_phone_the_controls_are_a_sheet_beside_the_hits(browser: Browser, served: Served) -> None:
    context = browser.new_context(base_url=served.url, viewport={"width": 390, "height": 844}, is_mobile=True)
    page = context.new_page()
    page.goto("/?q=When+do+we+release")
    expect(page.get_by_label("Vector weight")).to_be_hidden()
    page.get_by_role("button", name="Tune").click()
    page.get_by_label("Vector weight").fill("1")
    expect(page).to_have_url("/?q=When+do+we+release&vector_weight=1")
    expect(page.locator(".hit").first).to_be_in_viewport()
    context.close()


def test_the_theme_can_be_switched_and_stays(page: Page) -> None:
    page.goto("/")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.get_by_role("button", name="Theme").click()
    dark = page.evaluate(ground)
    assert dark != light
    page.goto("/map")
    assert page.evaluate(ground) == dark
    page.get_by_role("button", name="Theme: dark").click()
    assert page.evaluate(ground) == light


def test_the_palette_leads_everywhere(page: Page) -> None:
    page.goto("/")
    options = page.locator("#palette-list").get_by_role("option")
    page.keyboard.type("not lost")
    page.keyboard.press("Control+k")
    expect(options.filter(has_text="Timeline")).to_be_visible()
    page.keyboard.type("sett")
    expect(options.first).to_contain_text("Settings")
    page.keyboard.press("Escape")
    expect(page.get_by_label("Query", exact=True)).to_have_value("not lost")
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox", name="Go to")).to_have_value("")
    page.keyboard.type("Jonas")
    expect(options.first).to_contain_text("Jonas")
    page.keyboard.press("ArrowDown")
    expect(options.nth(1)).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(page).to_have_url("/memories?entity=Jonas")


def test_no_field_is_a_trap(page: Page) -> None:
    page.goto("/")
    page.keyboard.type("When do we release?")
    expect(page).to_have_url("/?q=When+do+we+release%3F")
    page.keyboard.press("Enter")
    expect(page.locator(".hit").nth(0)).to_have_class("hit current")
    page.keyboard.press("j")
    expect(page.locator(".hit").nth(1)).to_have_class("hit current")
    page.keyboard.press("k")
    page.keyboard.press("/")
    expect(page.get_by_label("Query", exact=True)).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_label("Query", exact=True)).not_to_be_focused()
    expect(page.get_by_label("Query", exact=True)).to_have_value("When do we release?")
    page.keyboard.press("j")
    expect(page.locator(".hit").nth(1)).to_have_class("hit current")


def test_names_without_a_place_to_break_and_long_keys_are_readable(browser: Browser) -> None:
    with memorata.open(":memory:", embedder="lexical") as engine:
        engine.remember(
            "x" * 3_000, id="long", category="c" * 150, tags=("t" * 150,), entities=("n" * 300,),
            metadata={"k" * 200: "v" * 200, "a key of many words " * 9: "its value"},
            source=Source("s" * 200, "z" * 200, 0), place=Place(1, 2, "p" * 200),
        )  # fmt: skip
        Graph(engine).entities.relate("n" * 300, "r" * 150, "m" * 300)
        with Served(engine) as running:
            for width in (360, 1280):
                context = browser.new_context(base_url=running.url, viewport={"width": width, "height": 700})
                page = context.new_page()
                for path in ("/?q=" + "x" * 300, "/memories", "/memories/long", "/graph", "/communities",
                             "/timeline?entity=" + "n" * 300, "/map", "/map?lat=1&lon=2"):  # fmt: skip
                    page.goto(path)
                    assert page.evaluate("document.documentElement.scrollWidth") <= width, path
                page.goto("/memories/long")
                said = page.locator("dd", has_text="its value").bounding_box()
                assert said is not None
                assert said["width"] > 100
                context.close()


def test_what_is_written_from_right_to_left_is_read_so(browser: Browser) -> None:
    """The letter in the middle of a Hebrew sentence must not turn its halves around."""
    with memorata.open(":memory:", embedder="lexical") as engine:
        engine.remember("אנה אוהבת תה, ו-Bob לא", id="rtl", source=Source("שלום", "x", 1))
        with Served(engine) as running:
            context = browser.new_context(base_url=running.url)
            page = context.new_page()
            direction = "node => getComputedStyle(node).direction"
            page.goto("/memories/rtl")
            assert page.locator("blockquote").evaluate(direction) == "rtl"
            page.goto("/memories")
            assert page.locator(".said a").evaluate(direction) == "rtl"
            assert page.locator(".byline").evaluate(direction) == "ltr"
            page.goto("/")
            page.get_by_label("Query", exact=True).fill("מי אוהב תה?")
            assert page.get_by_label("Query", exact=True).evaluate(direction) == "rtl"
            context.close()


def test_a_server_that_is_slow_or_does_not_answer(browser: Browser, served: Served) -> None:
    context = browser.new_context(base_url=served.url)
    page = context.new_page()
    page.goto("/?q=release")
    held: list[Route] = []
    page.route("**/?q=*", lambda route: held.append(route))
    page.get_by_label("Query", exact=True).fill("release rule")
    expect(page.locator("#results")).to_have_class("results htmx-request")
    while not held:
        page.wait_for_timeout(10)
    for route in held:
        route.continue_()
    expect(page.locator("#results")).to_have_class("results")
    page.unroute_all()
    page.route("**/*", lambda route: route.abort())
    page.get_by_label("Query", exact=True).fill("release rules")
    expect(page.get_by_text("The server does not answer")).to_be_visible()
    page.unroute_all()
    page.get_by_label("Query", exact=True).fill("release")
    expect(page.get_by_text("The server does not answer")).to_be_hidden()
    context.close()


def test_everything_works_without_scripts(browser: Browser, served: Served) -> None:
    context = browser.new_context(base_url=served.url, java_script_enabled=False)
    page = context.new_page()
    page.goto("/")
    page.get_by_label("Query", exact=True).fill("When do we release?")
    page.get_by_label("Vector weight").fill("0.3")
    page.get_by_role("button", name="Search").click()
    expect(page.locator(".hit").first).to_contain_text("Release rule")
    expect(page.locator(".status")).to_contain_text("with 1 change")
    page.goto("/memories?session=attack")
    page.locator("[data-tick]").check()
    page.get_by_role("button", name="Forget").click()
    expect(page.locator(".notice.good")).to_contain_text("1 memory forgotten")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("[data-tick]")).to_have_count(1)
    context.close()


def test_a_key_opens_the_door(browser: Browser) -> None:
    with memorata.open(":memory:", embedder="lexical") as engine:
        engine.remember("Alice keeps bees.", namespace="acme/alice")
        keys = ApiKeys(engine.store)
        _, secret = keys.create("alice", ["acme/*"], ["write"])
        with Served(engine, keys) as running:
            context = browser.new_context(base_url=running.url)
            heard = complaints(context)
            page = context.new_page()
            page.goto("/memories")
            page.get_by_role("textbox", name="Key").fill(secret)
            page.get_by_role("button", name="Log in").click()
            expect(page.get_by_text("Alice keeps bees.")).to_be_visible()
            assert page.evaluate("document.cookie") == ""
            page.get_by_role("button", name="Log out").click()
            expect(page.get_by_role("heading", name="Log in")).to_be_visible()
            context.close()
    assert heard == []
