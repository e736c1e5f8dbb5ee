"""The report as a page: whole, fetching nothing, in light and dark, and text that is never markup."""

import re
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

from memorata.evaluate.collection import Question
from memorata.evaluate.report_html import emphasised, page, silence_plots, stand_out, standalone
from memorata.evaluate.run_file import Answered, Run, RunHeader
from memorata.evaluate.scored import Scored, Section
from memorata.evaluate.scoring import score

EVIL = "<script>alert(1)</script>|*x*"
ASKED = tuple(Question(f"q{n}", "", ("food", EVIL)[n % 2], relevant={f"d{n}": 1.0}) for n in range(6))


def run(name: str, right: int) -> Scored:
    """A run that answers the first `right` questions."""
    header = RunHeader(
        "tea " + EVIL, "01", {"name": name}, "", "turn", "1", 0, datetime(2026, 5, 7, tzinfo=UTC)
    )
    answers = {
        each.id: Answered(each.id, each.kind, ((f"d{n}" if n < right else "x", 1.0),), 1.0 + n, 1.0)
        for n, each in enumerate(ASKED)
    }
    scores = score(Run(header, answers), ASKED, ["any@5", "mrr"], "turn")
    return Scored(name, Path(f"{name}.jsonl"), scores, ((1, right / 6), (5, right / 6)))


SECTION = Section("tea " + EVIL, "turn", (run("bm25", 2), run("vector", 3), run("mine", 5), run("other", 1)))


class Reader(HTMLParser):
    """Collects what a browser would fetch or run, and checks that what is opened is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.fetched: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.fetched += [tag] if tag in ("script", "link", "img", "iframe") else []
        self.fetched += [name for name, _ in attrs if name in ("src", "href") or name.startswith("on")]
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_whole_and_fetches_nothing() -> None:
    reader = Reader()
    text = page([SECTION])
    reader.feed(text)
    assert reader.open == []
    assert reader.fetched == []
    assert "http" not in text
    assert "url(" not in text


def test_the_page_has_its_tables_and_drawings_and_both_schemes() -> None:
    text = page([SECTION])
    assert text.count("<svg") == 1 + 2 + 1  # the curve, two kinds, the times
    assert "prefers-color-scheme: dark" in text
    for name in ("bm25", "vector", "mine", "Difference from bm25", "66.7"):
        assert name in text


def test_the_best_and_the_plain_ones_stand_out() -> None:
    assert stand_out(SECTION, "any@5") == ["mine", "bm25", "vector"]


def doubtful(name: str) -> Scored:
    """A run over one question more, which cannot be answered."""
    asked = (*ASKED, Question("q9", "", "food", answerable=False))
    header = RunHeader("tea", "01", {"name": name}, "", "turn", "1", 0, datetime(2026, 5, 7, tzinfo=UTC))
    answers = {
        each.id: Answered(each.id, each.kind, ((f"d{n}", 1.0),), 1.0 + n, 9.0 - n)
        for n, each in enumerate(asked)
    }
    scores = score(Run(header, answers), asked, ["any@5"], "turn")
    return Scored(name, Path(f"{name}.jsonl"), scores, ((1, 1.0),))


def test_what_one_does_not_know_is_drawn_where_there_are_such_questions() -> None:
    assert silence_plots(SECTION, ["bm25"]) == {}
    assert "Knowing what one does not know" not in page([SECTION])
    section = Section("tea", "turn", (doubtful("bm25"), doubtful(EVIL)))
    text = page([section])
    reader = Reader()
    reader.feed(text)
    assert (reader.open, reader.fetched) == ([], [])
    assert "Knowing what one does not know" in text
    plots = silence_plots(section, emphasised(section))
    assert plots.keys() == {"risk-coverage", "roc"}
    # All six that have an answer score above the one that has none: no threshold is needlessly wrong.
    assert "bm25 100.0" in plots["roc"]
    assert f"bm25 {100 / 7 / 7:.1f}" in plots["risk-coverage"]


def test_a_drawing_of_its_own_has_its_colours_with_it() -> None:
    section = Section("tea", "turn", (doubtful("bm25"),))
    alone = standalone(silence_plots(section, ["bm25"])["roc"])
    root = ElementTree.fromstring(alone)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    for variable in set(re.findall(r"var\((--\w+)\)", alone)):
        assert f"{variable}:" in alone
