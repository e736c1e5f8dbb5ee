"""Namespaces on the command line."""

from collections.abc import Callable
from typing import Any

import pytest

Run = Callable[..., Any]


@pytest.fixture
def spaces(cli: Run) -> Run:
    for path, text in (("acme", "The team deploys on Fridays."), ("style", "Indent with four spaces.")):
        cli("--namespace", path, "remember", text)
    return cli


def test_a_link_is_seen_where_inheritance_is_asked_for(spaces: Run) -> None:
    here = ("--namespace", "acme/api")
    made = spaces(*here, "namespace", "link", "style", "--filter", '{"category": "fact"}', "--json").json
    assert made == {"namespace": "style", "filter": {"category": "fact"}}
    assert spaces(*here, "namespace", "links").out == "style\n"
    assert spaces(*here, "recall", "how to indent?").code == 1
    found = spaces(*here, "recall", "how to indent?", "--inherit", "--json").json["hits"]
    assert [hit["memory"]["namespace"] for hit in found] == ["style"]
    both = (
        "recall",
        "deploys four spaces",
        "--min-confidence",
        "0",
        "--namespaces",
        "acme",
        "--namespaces",
        "style",
    )
    assert len(spaces(*both, "--json").json["hits"]) == 2
    assert spaces(*both, "--sessions").code == 2
    assert spaces(*here, "namespace", "unlink", "style", "--json").json == {"unlinked": "style"}
    assert spaces(*here, "namespace", "links").out == ""
    assert spaces(*here, "namespace", "unlink", "style").code == 2


def test_namespaces_move_and_split(spaces: Run) -> None:
    assert spaces("namespace", "move", "acme", "beta", "--alone").out == "acme → beta\n"
    there = ("--namespace", "style", "namespace", "split", "beta")
    some = ("--filter", '{"category": "fact"}')
    assert len(spaces(*there, *some, "--dry-run", "--json").json["would_move"]) == 1
    assert len(spaces(*there, *some, "--json").json["moved"]) == 1
    assert spaces(*there).code == 2
    assert spaces("namespace", "list", "--json").json == {"namespaces": {"beta": 2, "style": 0}}
