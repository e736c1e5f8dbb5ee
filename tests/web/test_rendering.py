"""Templates escape, and complain about what they were not given."""

import pytest
from jinja2 import UndefinedError

from memorata.web.rendering import environment, excerpt, render


def test_everything_is_escaped() -> None:
    assert "&lt;b&gt;" in render("error_notice.html", {"title": "<b>", "text": "&"})


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
