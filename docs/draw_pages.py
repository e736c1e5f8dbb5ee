"""Draw the pages of the demo's memory: docs/images/*.png, for docs/web.md and the README.

Needs what ``make test`` installs, a browser among it. Run it again after the pages change:
``python docs/draw_pages.py``.
"""

from __future__ import annotations

import io
import shutil
import threading
import time
from collections.abc import Callable
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Literal

import uvicorn
from PIL import Image
from playwright.sync_api import Page, sync_playwright

import memorata
from memorata.engine import Engine
from memorata.service.demo import ASKED, conversation
from memorata.web.app import create_pages

DRAWN = Path(__file__).parent / "images"
SIZE: tuple[int, int] = (1180, 760)
PHONE: tuple[int, int] = (390, 760)
Scheme = Literal["light", "dark"]


def explained(page: Page) -> None:
    """Open the explanation of the first hit."""
    page.locator(".why > summary").first.click()
    page.mouse.move(0, 0)


def nothing(page: Page) -> None:
    """Leave the page as it is."""


QUESTION = "/?q=Why+did+we+move+the+job+queue+to+PostgreSQL%3F"
PICTURES: dict[str, tuple[str, tuple[int, int], Scheme, Callable[[Page], None]]] = {
    "search": (QUESTION, SIZE, "light", explained),
    "compare": (f"{QUESTION}&compare=memini&vector_weight=0.7", SIZE, "dark", nothing),
    "memory": ("/memories/1006-1", SIZE, "light", nothing),
    "browse": ("/memories", SIZE, "light", nothing),
    "graph": ("/graph?entity=Anya", SIZE, "dark", nothing),
    "communities": ("/communities", SIZE, "light", nothing),
    "timeline": ("/timeline", SIZE, "light", nothing),
    "map": ("/map", SIZE, "light", nothing),
    "lab": ("/lab", SIZE, "light", nothing),
    "phone": (QUESTION, PHONE, "light", nothing),
}


def main() -> None:
    """Remember the conversation, serve its pages, and draw them."""
    DRAWN.mkdir(exist_ok=True)
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
    """Ask some questions and say what answers them, so that the lab has something to show."""
    for question in ("When do we release?", "Who was robbed in Portugal?", "Where is the key of the flat?"):
        found = engine.recall(question)
        engine.feedback.record(found.id, found.hits[0].memory.id, "relevant")


def draw(address: str) -> None:
    """Draw every picture."""
    browser_path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        for name, (path, (width, height), scheme, prepare) in PICTURES.items():
            page = browser.new_page(
                viewport={"width": width, "height": height}, color_scheme=scheme, bypass_csp=True
            )
            # Once for the index, so that the time on the page is that of a search.
            page.goto(address + path)
            page.goto(address + path)
            page.wait_for_load_state("networkidle")
            # The system font of a machine without a desktop is a stand-in that no reader has.
            page.add_style_tag(content='html { font-family: "Liberation Sans", sans-serif }')
            prepare(page)
            keep(page.screenshot(), DRAWN / f"{name}.png")
            page.close()
        browser.close()


def keep(picture: bytes, path: Path) -> None:
    """Write a picture in 256 colours, which is a third of its size and looks the same."""
    with Image.open(io.BytesIO(picture)) as drawn:
        drawn.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)


if __name__ == "__main__":
    main()
