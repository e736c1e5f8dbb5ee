"""Draw the pages of the demo's memory: docs/images/*.png, for docs/web.md and the README.

Needs what ``make test`` installs, a browser among it. Run it again after the pages change:
``python docs/draw_pages.py``.
"""

from __future__ import annotations

import io
import shutil
import threading
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Literal

import uvicorn
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

import memorata
from memorata.engine import Engine
from memorata.service.transfer import ASKED, conversation
from memorata_server.web.app import create_pages

DRAWN = Path(__file__).parent / "images"
SIZE: tuple[int, int] = (1180, 760)
Scheme = Literal["light", "dark"]


def explained(page: Page) -> None:
    """Open the explanation of the first hit."""
    page.locator(".why > summary").first.click()
    page.mouse.move(0, 0)


def nothing(page: Page) -> None:
    """Leave the page as it is."""


def tuned(page: Page) -> None:
    """Open all controls."""
    if page.locator(".to-controls").is_visible():
        page.locator(".to-controls").click()
    page.locator("#tune > summary").click()
    page.mouse.move(0, 0)


QUESTION = "/?q=Why+did+we+move+the+job+queue+to+PostgreSQL%3F"
PICTURES: dict[str, tuple[str, tuple[int, int], Scheme, Callable[[Page], None]]] = {
    "search": (QUESTION, SIZE, "light", explained),
    "compare": (f"{QUESTION}&compare=memini&vector_weight=0.7", SIZE, "dark", nothing),
    "memory": ("/memories/1006-1", SIZE, "light", nothing),
    "graph": ("/graph?entity=Anya", SIZE, "dark", nothing),
    "map": ("/map", SIZE, "light", nothing),
}
PAGES: dict[str, tuple[str, Callable[[Page], None]]] = {
    "start": ("/", nothing),
    "why": (QUESTION, explained),
    "tune": (QUESTION, tuned),
    "browse": ("/memories", nothing),
    "memory": ("/memories/1006-1", nothing),
    "graph": ("/graph?entity=Anya", nothing),
    "communities": ("/communities", nothing),
    "timeline": ("/timeline", nothing),
    "map": ("/map", nothing),
    "review": ("/review", nothing),
    "lab": ("/lab", nothing),
    "experiments": ("/experiments", nothing),
    "settings": ("/settings", nothing),
    "empty": ("/?namespace=nobody", nothing),
}
"""The pages that docs/pages.md shows, light and dark, on a desk and on a phone, in one row each."""
SHOWN: tuple[tuple[tuple[int, int], Scheme], ...] = (
    ((1400, 900), "light"),
    ((1400, 900), "dark"),
    ((390, 844), "light"),
    ((390, 844), "dark"),
)
ROW_HEIGHT = 380


def main() -> None:
    """Remember the conversation, serve its pages, and draw them."""
    (DRAWN / "pages").mkdir(parents=True, exist_ok=True)
    now = [ASKED]

    def clock() -> datetime:
        return now[0]

    with memorata.open(":memory:", clock=clock) as engine:
        for _, session in groupby(conversation(), key=lambda each: each.source.session):
            turns = list(session)
            now[0] = turns[-1].created_at
            engine.remember_many(turns)
        now[0] = ASKED
        asked(engine)
        server = uvicorn.Server(uvicorn.Config(create_pages(engine, clock=clock), port=0, log_level="error"))
        thread = threading.Thread(target=server.run)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        try:
            draw(f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}")
        finally:
            server.should_exit = True
            thread.join()


def asked(engine: Engine) -> None:
    """Ask some questions and say what answers them, so that the lab and the review have something to show."""
    for question in ("When do we release?", "Who was robbed in Portugal?", "Where is the key of the flat?"):
        found = engine.recall(question)
        engine.admin.feedback.record(found.id, found.hits[0].memory.id, "relevant")
    engine.admin.lifecycle.consolidate()


def draw(address: str) -> None:
    """Draw every picture."""
    browsers = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    browser_path = next(filter(None, map(shutil.which, browsers)))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        for name, (path, size, scheme, prepare) in PICTURES.items():
            keep(drawn(browser, address + path, size, scheme, prepare), DRAWN / f"{name}.png")
        for name, (path, prepare) in PAGES.items():
            shown = [drawn(browser, address + path, size, scheme, prepare) for size, scheme in SHOWN]
            keep(in_a_row(shown), DRAWN / "pages" / f"{name}.png")
        browser.close()


def drawn(
    browser: Browser, address: str, size: tuple[int, int], scheme: Scheme, prepare: Callable[[Page], None]
) -> Image.Image:
    """Return a picture of a page."""
    page = browser.new_page(
        viewport={"width": size[0], "height": size[1]}, color_scheme=scheme, bypass_csp=True
    )
    # Once for the index, so that the time on the page is that of a search.
    page.goto(address)
    page.goto(address)
    page.wait_for_load_state("networkidle")
    # The system font of a machine without a desktop is a stand-in that no reader has.
    page.add_style_tag(content='html { font-family: "Liberation Sans", sans-serif }')
    prepare(page)
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    page.close()
    return picture


def in_a_row(pictures: Sequence[Image.Image]) -> Image.Image:
    """Return pictures beside each other, all of one height."""
    scaled = [each.resize((each.width * ROW_HEIGHT // each.height, ROW_HEIGHT)) for each in pictures]
    row = Image.new("RGB", (sum(each.width + 8 for each in scaled) - 8, ROW_HEIGHT), "#808080")
    left = 0
    for each in scaled:
        row.paste(each, (left, 0))
        left += each.width + 8
    return row


def keep(picture: Image.Image, path: Path) -> None:
    """Write a picture in 128 colours, rare ones too, which is a third of its size and looks the same."""
    few = picture.quantize(128, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    few.save(path, optimize=True)


if __name__ == "__main__":
    main()
