"""Keys on the command line."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import memorata
from memorata.engine.access import ApiKeys

Run = Callable[..., Any]


def test_a_key_is_made_listed_and_revoked(cli: Run, home: Path) -> None:
    made = cli("key", "create", "the bot", "--namespace", "acme/*,beta", "-s", "write", "--json").json
    assert (made["name"], made["namespaces"], made["scopes"]) == ("the bot", ["acme/*", "beta"], ["write"])
    with memorata.open(home / "memories.db", embedder=None) as memory:
        assert ApiKeys(memory.store).authenticate(made["token"]).allows("write", "acme/alice")
    assert cli("key", "list").lines == [f"{made['id']}\tthe bot\tacme/*,beta\twrite\tgood"]
    assert cli("key", "revoke", made["id"]).out == f"revoked {made['id']}\n"
    assert cli("key", "list").lines[0].endswith("\trevoked")
    assert cli("key", "list", "--json").json["keys"][0]["revoked_at"] is not None
    assert cli("key", "revoke", made["id"], "--json").json == {"revoked": made["id"]}


def test_a_token_is_shown_once_on_standard_output(cli: Run) -> None:
    made = cli("key", "create", "mine", "-n", "*", "--expires", "2099-01-01")
    assert made.out.startswith("rcl_")
    assert "not shown again" in made.err
    assert made.out.strip() not in cli("key", "list", "--json").out
    assert cli("key", "list", "--json").json["keys"][0]["scopes"] == ["read"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("create", "mine"),
        ("create", "mine", "-n", "a/../b"),
        ("create", "mine", "-n", "acme/*", "--scope", "root"),
        ("create", "mine", "-n", "acme/*", "--expires", "2001-01-01"),
        ("create", " ", "-n", "acme/*"),
        ("revoke", "nobody"),
    ],
)
def test_what_makes_no_sense_is_refused(cli: Run, arguments: tuple[str, ...]) -> None:
    ran = cli("key", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert cli("key", "list", "--json").json == {"keys": []}


def test_a_key_without_a_namespace_is_told_what_to_give(cli: Run) -> None:
    wrong = cli("key", "create", "laptop").err
    assert wrong.startswith("memorata: --namespace must be given as acme/alice, ")
    assert "got None" not in wrong


def test_no_key_yet_says_how_to_make_one(cli: Run) -> None:
    assert "memorata key create" in cli("key", "list").err
