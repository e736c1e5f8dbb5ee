"""Maintain and consolidate, as people type them."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memorata.store.dialects import SqliteStore

Run = Callable[..., Any]
TEA = (
    "Anna made green tea.",
    "Anna drank green tea again.",
    "Green tea for Anna at four.",
    "Anna bought green tea.",
)


@pytest.fixture
def filled(cli: Run, home: Path) -> None:
    long_ago = (datetime.now(UTC) - timedelta(days=30)).isoformat()
    rows: list[dict[str, object]] = [
        {"id": f"t{n}", "content": text, "tier": "episodic"} for n, text in enumerate(TEA)
    ]
    rows.append({"id": "note", "content": "Milk is in the fridge.", "tier": "working"})
    rows.append(
        {"id": "often", "content": "The door code changes on Mondays.", "tier": "episodic", "mentions": 3}
    )
    lines = (json.dumps(row | {"created_at": long_ago}) for row in rows)
    (home / "rows.jsonl").write_text("\n".join(lines))
    assert cli("import", "rows.jsonl").code == 0


def test_a_dry_run_tells_what_a_run_does(cli: Run, filled: None) -> None:
    would = cli("admin", "maintain", "--dry-run", "--json").json["namespaces"][0]
    assert (would["expired"], would["promoted"]) == (
        ["note"],
        [{"id": "often", "from": "episodic", "to": "semantic"}],
    )
    assert [each["sources"] for each in would["proposed"]] == [["t0", "t1", "t2", "t3"]]
    told = cli("admin", "maintain", "--dry-run")
    assert "default\texpired\tnote" in told.lines
    assert "Nothing was changed" in told.err
    assert cli("list", "--json").json["memories"][-1]["tier"] == "episodic"
    done = cli("admin", "maintain")
    assert "default\tpromoted\toften\tepisodic to semantic" in done.lines
    assert "restore brings it back" in done.err
    assert "default: expire 1" in done.err
    assert cli("admin", "maintain", "--all-namespaces").out == ""
    assert cli("admin", "check").code == 0


def test_proposals_are_shown_accepted_and_rejected(cli: Run, filled: None) -> None:
    assert cli("admin", "consolidate", "--dry-run", "--json").json["proposed"] == 1
    found = cli("admin", "consolidate", "--json").json
    (waiting,) = found["waiting"]
    assert (found["proposed"], waiting["sources"]) == (1, ["t0", "t1", "t2", "t3"])
    shown = cli("admin", "consolidate")
    assert waiting["id"] in shown.out
    assert "--accept ID" in shown.err
    assert cli("admin", "consolidate", "--reject", waiting["id"], "--json").json["rejected"] == [
        waiting["id"]
    ]
    accepted = cli("admin", "consolidate", "--accept", waiting["id"], "--json").json
    assert (accepted["accepted"], accepted["waiting"]) == ([waiting["id"]], [])
    assert "In short" in cli("recall", "in short green tea", "--json").out


def test_bad_input(cli: Run, filled: None) -> None:
    assert cli("admin", "consolidate", "--dry-run", "--accept", "t0").code == 2
    assert cli("admin", "consolidate", "--accept", "often").code == 2
    assert cli("admin", "consolidate", "--accept", "0123456789").code == 1
    assert cli("admin", "consolidate", "--model", "m").code == 2
    assert cli("admin", "consolidate", "--model", "m", "--address", "nowhere").code == 2


def test_a_namespace_that_another_server_maintains_is_left_to_it(cli: Run, filled: None, home: Path) -> None:
    cli("remember", "acme has tea", "--namespace", "acme")
    store = SqliteStore(cli("admin", "stats", "--json").json["db"])
    store.leases.acquire("maintain", "default", "another server", 600, datetime.now(UTC))
    store.close()
    refused = cli("admin", "maintain")
    assert refused.code == 3
    assert "is being done by another server" in refused.err
    everybody = cli("admin", "maintain", "--all-namespaces", "--json")
    assert everybody.code == 0
    assert [each["namespace"] for each in everybody.json["namespaces"]] == ["acme"]
    assert [each["namespace"] for each in everybody.json["skipped"]] == ["default"]
