"""The report as a page: whole, fetching nothing, in light and dark, and text that is never markup."""

import re
from datetime import UTC, datetime
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

from memorata_lab.evaluate.dataset import Question
from memorata_lab.evaluate.report import (
    abstention_plots,
    bars,
    curves,
    highlighted,
    page,
    ranges,
    shares,
    standalone,
    write_report,
)
from memorata_lab.evaluate.run_file import Answer, Run, RunHeader
from memorata_lab.evaluate.scores import score
from memorata_lab.evaluate.tables import ScoredRun, Section, markdown

EVIL = "<script>alert(1)</script>|*x*"
ASKED = tuple(Question(f"q{n}", "", ("food", EVIL)[n % 2], relevant={f"d{n}": 1.0}) for n in range(6))


def run(name: str, right: int) -> ScoredRun:
    """A run that answers the first `right` questions."""
    header = RunHeader(
        "tea " + EVIL, "01", {"name": name}, "", "turn", "1", 0, datetime(2026, 5, 7, tzinfo=UTC)
    )
    answers = {
        each.id: Answer(each.id, each.kind, ((f"d{n}" if n < right else "x", 1.0),), 1.0 + n, 1.0)
        for n, each in enumerate(ASKED)
    }
    scores = score(Run(header, answers), ASKED, ["any@5", "mrr"], "turn")
    return ScoredRun(name, Path(f"{name}.jsonl"), scores, ((1, right / 6), (5, right / 6)))


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
    assert highlighted(SECTION) == ["mine", "bm25", "vector"]


def doubtful(name: str) -> ScoredRun:
    """A run over one question more, which cannot be answered."""
    asked = (*ASKED, Question("q9", "", "food", answerable=False))
    header = RunHeader("tea", "01", {"name": name}, "", "turn", "1", 0, datetime(2026, 5, 7, tzinfo=UTC))
    answers = {
        each.id: Answer(each.id, each.kind, ((f"d{n}", 1.0),), 1.0 + n, 9.0 - n)
        for n, each in enumerate(asked)
    }
    scores = score(Run(header, answers), asked, ["any@5"], "turn")
    return ScoredRun(name, Path(f"{name}.jsonl"), scores, ((1, 1.0),))


def test_what_one_does_not_know_is_drawn_where_there_are_such_questions() -> None:
    assert abstention_plots(SECTION, ["bm25"]) == {}
    assert "Knowing what one does not know" not in page([SECTION])
    section = Section("tea", "turn", (doubtful("bm25"), doubtful(EVIL)))
    text = page([section])
    reader = Reader()
    reader.feed(text)
    assert (reader.open, reader.fetched) == ([], [])
    assert "Knowing what one does not know" in text
    plots = abstention_plots(section, highlighted(section))
    assert plots.keys() == {"risk-coverage", "roc"}
    # All six that have an answer score above the one that has none: no threshold is needlessly wrong.
    assert "bm25 100.0" in plots["roc"]
    assert f"bm25 {100 / 7 / 7:.1f}" in plots["risk-coverage"]


def test_a_drawing_of_its_own_has_its_colours_with_it() -> None:
    section = Section("tea", "turn", (doubtful("bm25"),))
    alone = standalone(abstention_plots(section, ["bm25"])["roc"])
    root = ElementTree.fromstring(alone)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    for variable in set(re.findall(r"var\((--\w+)\)", alone)):
        assert f"{variable}:" in alone


@pytest.mark.parametrize("sections", [[], [SECTION], [SECTION, Section("x", "turn", SECTION.runs[:1])]])
def test_markdown_tables_have_as_many_cells_in_every_row(sections: list[Section]) -> None:
    text = markdown(sections)
    assert "<script" not in text.replace("\\<script", "")
    for block in text.split("\n\n"):
        if block.startswith("|"):
            counts = {line.replace("\\|", "").count("|") for line in block.splitlines()}
            assert len(counts) == 1


def test_markdown_says_the_numbers() -> None:
    text = markdown([SECTION])
    # Five of six questions are answered at once, and nobody does better.
    assert "| mine | **83.3** [" in text
    assert "| bm25 | 33.3 [" in text


def test_both_files_are_written(tmp_path: Path) -> None:
    written = write_report(tmp_path / "new" / "folder", [SECTION])
    assert [path.name for path in written] == ["report.md", "report.html"]
    assert written[0].read_text("utf-8") == markdown([SECTION])
    assert written[1].read_text("utf-8") == page([SECTION])


def test_drawings_of_what_cannot_be_answered_are_files_too(tmp_path: Path) -> None:
    asked = (*ASKED, Question("q9", "", "food", answerable=False))
    header = RunHeader("tea", "01", {"name": "x"}, "", "turn", "1", 0, datetime(2026, 5, 7, tzinfo=UTC))
    answers = {each.id: Answer(each.id, each.kind, (("d1", 1.0),), 1.0, 1.0) for each in asked}
    scored = ScoredRun("x", Path("x.jsonl"), score(Run(header, answers), asked, ["mrr"], "turn"), ((1, 1.0),))
    sections = [Section("tea", "turn", (scored,)), SECTION, Section("more", "turn", (scored,))]
    written = write_report(tmp_path, sections)
    assert [path.name for path in written[2:]] == [
        "risk-coverage.svg",
        "roc.svg",
        "risk-coverage-2.svg",
        "roc-2.svg",
    ]
    assert all(path.read_text("utf-8").startswith("<svg") for path in written[2:])


NAMES = ["bm25", "vector", '<b>&"evil"</b>', "a name that is longer than any label can be"]


def parsed(drawn: str) -> ElementTree.Element:
    return ElementTree.fromstring(drawn)


DRAWN = {
    "curves": curves({name: [(1, 0.2), (5, 0.6), (50, 0.9)] for name in NAMES}, ["vector"]),
    "bars": bars(dict.fromkeys(NAMES, 0.5), ["vector"], intervals={"bm25": (0.4, 0.6)}),
    "shares": shares(
        {name: [(0.0, 0.1), (0.5, 0.6), (1.0, 1.0)] for name in NAMES},
        ["vector"],
        across="answered",
        up="wrong",
        ends=dict.fromkeys(NAMES, "7.5"),
        diagonal=True,
    ),
    "ranges": ranges(dict.fromkeys(NAMES, (1.0, 5.0, 12.0)), ["vector"]),
}


@pytest.mark.parametrize("name", DRAWN)
def test_every_series_has_its_name_and_is_well_formed(name: str) -> None:
    root = parsed(DRAWN[name])
    said = " ".join(root.itertext())
    assert all(each in said for each in NAMES)
    assert "<b>" not in DRAWN[name]


@pytest.mark.parametrize("name", DRAWN)
def test_everything_lies_inside(name: str) -> None:
    root = parsed(DRAWN[name])
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    for text in root.iter("text"):
        assert 0 <= float(text.attrib["x"]) <= width
        assert 0 <= float(text.attrib["y"]) <= height
    for line in root.iter("polyline"):
        for x, y in re.findall(r"([\d.]+),([\d.]+)", line.attrib["points"]):
            assert 0 <= float(x) <= width
            assert 0 <= float(y) <= height


def test_colours_are_those_of_the_page() -> None:
    for drawn in DRAWN.values():
        assert "var(--one)" in drawn
        assert not re.search(r"#[0-9a-f]{3}", drawn)


def test_names_at_the_ends_of_lines_do_not_cover_each_other() -> None:
    series = {f"run {number}": [(1, 0.1), (10, 0.5 + number / 1000)] for number in range(30)}
    root = parsed(curves(series))
    places = sorted(
        float(text.attrib["y"]) for text in root.iter("text") if (text.text or "").startswith("run")
    )
    gaps = [after - before for before, after in pairwise(places)]
    assert len(places) == 30
    assert min(gaps) >= 15.9


def test_a_higher_share_is_drawn_higher_and_a_deeper_one_further_right() -> None:
    (line,) = parsed(curves({"x": [(1, 0.2), (10, 0.8)]})).iter("polyline")
    (x1, y1), (x2, y2) = re.findall(r"([\d.]+),([\d.]+)", line.attrib["points"])
    assert float(x2) > float(x1)
    assert float(y2) < float(y1)


def test_a_share_is_drawn_where_it_belongs_and_beside_it_its_figure() -> None:
    drawn = shares({"x": [(0.0, 0.0), (1.0, 1.0)]}, across="a", up="b", ends={"x": "62.5"})
    (line,) = parsed(drawn).iter("polyline")
    (x1, y1), (x2, y2) = re.findall(r"([\d.]+),([\d.]+)", line.attrib["points"])
    # The field is a square: equal shares are equal lengths.
    assert float(x2) - float(x1) == float(y1) - float(y2) == 256
    said = [text.text for text in parsed(drawn).iter("text")]
    assert {"a", "b", "x 62.5", "0%", "100%"} <= set(said)
    assert "stroke-dasharray" not in drawn


def test_many_names_beside_shares_make_the_drawing_taller() -> None:
    many = {f"run {number}": [(0.0, 0.0)] for number in range(40)}
    root = parsed(shares(many, across="a", up="b", ends=dict.fromkeys(many, "1")))
    lowest = max(float(text.attrib["y"]) for text in root.iter("text"))
    assert lowest < float(root.attrib["viewBox"].split()[3])


def test_bars_are_as_long_as_their_values() -> None:
    whole, half, none = parsed(bars({"a": 1.0, "b": 0.5, "c": 0.0})).iter("rect")
    assert float(whole.attrib["width"]) == 2 * float(half.attrib["width"])
    assert float(none.attrib["width"]) == 0


def test_nothing_is_drawn_of_nothing_and_one_point_is_enough() -> None:
    assert curves({}) == ranges({}) == shares({}, across="a", up="b", ends={}) == ""
    assert "polyline" in curves({"x": [(1, 1.0)]})
    assert "circle" in ranges({"x": (0.0, 0.0, 0.0)})
