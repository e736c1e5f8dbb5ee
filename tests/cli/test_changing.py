"""Change, pin, unpin, used and confirm, as people type them."""

from collections.abc import Callable
from typing import Any

import pytest

Run = Callable[..., Any]


def test_what_is_known_is_changed_and_told(cli: Run, tea: str) -> None:
    said = {
        "-c": "habit",
        "--tier": "procedural",
        "--confidence": "0.5",
        "--importance": "0.9",
        "--entity": "Anna",
    }
    said |= {"--metadata": '{"cup": 2}', "--place": "1,2,Bath", "--valid-from": "2026-01-01"}
    said |= {"--valid-to": "2026-12-31", "--expires": "2030-01-01"}
    options = [part for option in said.items() for part in option]
    changed = cli("change", tea[-12:], "-t", "breakfast", "-t", "morning", *options, "--json").json
    assert (changed["category"], changed["tier"], changed["version"]) == ("habit", "procedural", 2)
    assert (changed["tags"], changed["metadata"]) == (["breakfast", "morning"], {"cup": 2})
    assert changed["place"] == {"lat": 1.0, "lon": 2.0, "name": "Bath"}
    assert cli("recall", "breakfast").code == 0
    assert cli("change", tea, "--expires", "never", "--json").json["expires_at"] is None
    assert cli("change", tea, "-c", "fact").out == f"{tea}\n"
    assert cli("change", tea, "-c", "x", terminal=True).out == "Changed; it is at version 5 now.\n"


def test_a_stale_version_and_nothing_to_change_are_refused(cli: Run, tea: str) -> None:
    assert cli("change", tea, "-c", "habit", "--expected-version", "1").code == 0
    stale = cli("change", tea, "-c", "other", "--expected-version", "1")
    assert (stale.code, "version" in stale.err) == (3, True)
    assert cli("change", tea).code == 2
    assert cli("change", tea, "--confidence", "2").code == 2
    assert cli("change", "0123456789", "-c", "x").code == 1


def test_pins_uses_and_confirmations_are_counted(cli: Run, tea: str) -> None:
    assert cli("pin", tea, "--json").json == {"pinned": [tea]}
    assert cli("used", tea).out == f"{tea}\n"
    assert cli("confirm", tea, terminal=True).out == "Confirmed 1 memory.\n"
    shown = dict(line.split("\t", 1) for line in cli("show", tea).lines[1:])
    assert (shown["pinned"], shown["used"], shown["said"]) == ("yes", "1 times", "2 times")
    assert cli("list", "-f", '{"pinned": true}').lines[0].startswith(tea)
    assert cli("unpin", tea, "--json").json == {"unpinned": [tea]}
    assert cli("pin", "0123456789").code == 1


def test_show_tells_both_confidences_where_they_differ(
    cli: Run, home: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORATA_CONFIG", str(home / "memorata.toml"))
    (home / "memorata.toml").write_text("[life]\nconfidence_loss = 0.05\nepisodic_uses = 3.0\n")
    cli("import", "-", input='{"content": "Anna likes tea", "id": "old", "confidence": 0.9, '
        '"created_at": "2020-01-01T00:00:00Z"}')  # fmt: skip
    old = cli("list", "--json").json["memories"][0]
    assert (old["confidence"], old["confidence_now"]) == (0.9, 0.05)
    shown = cli("show", old["id"])
    assert "confidence\t0.05 by now, 0.9 as written" in shown.out
    (home / "memorata.toml").write_text("[life]\ncolour = 1\n")
    assert cli("list").code == 2
