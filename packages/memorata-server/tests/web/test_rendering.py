"""Templates escape, and complain about what they were not given."""

from datetime import UTC, datetime

import pytest
from jinja2 import UndefinedError

from memorata_server.web import context as rendering
from memorata_server.web.context import environment, excerpt, render


def test_everything_is_escaped() -> None:
    shown = {"title": "<b>", "text": "&", "suggestions": [("<i>", "/?q=<u>")]}
    page = render("error_notice.html", shown)
    assert all(part in page for part in ("&lt;b&gt;", "&amp;", "&lt;i&gt;", "&lt;u&gt;"))


def test_no_template_switches_escaping_off() -> None:
    loader = environment().loader
    assert loader is not None
    for name in loader.list_templates():
        source = loader.get_source(environment(), name)[0]
        assert "|safe" not in source
        assert "autoescape" not in source


def test_a_missing_value_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        render("error_notice.html", {"title": "x"})


def test_an_excerpt_is_short_even_of_a_megabyte() -> None:
    assert len(excerpt("word " * 200_000, 100)) <= 101
    assert excerpt(" " * 1_000 + "end", 10) == "…"


def test_values_as_pages_show_them() -> None:
    morning = datetime(2026, 5, 7, 9, 5, tzinfo=UTC)
    assert (rendering.day(morning), rendering.moment(morning)) == ("7 May 2026", "7 May 2026, 09:05 UTC")
    assert (rendering.number(0.5), rendering.number(1234.5678, 1)) == ("0.500", "1,234.6")
    assert (rendering.number_or_dash(0.5, 2), rendering.number_or_dash(float("nan"), 2)) == ("0.50", "–")
    assert rendering.share(0.254) == "25.4 %"
    assert excerpt("Green tea,  please", 9) == "Green tea…"
    assert rendering.counted(1200, "hit") == "1,200 hits"
    assert rendering.embedder_name("arctic@f5e56449:cls") == "arctic"
