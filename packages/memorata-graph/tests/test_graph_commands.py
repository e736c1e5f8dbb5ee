"""Near and timeline on the command line."""

from collections.abc import Callable
from typing import Any

import pytest

from memorata_graph.commands.graph import distance

Run = Callable[..., Any]


@pytest.fixture
def travels(cli: Run) -> None:
    """Three places on three days, not in the order they are told."""
    for day, place, text in (
        ("2026-05-03", "48.86,2.35,Paris", "Anna saw Paris"),
        ("2026-05-01", "52.52,13.41,Berlin", "Ben saw Berlin"),
        ("2026-05-02", "-18.14,178.44,Suva", "Anna saw Suva"),
    ):
        cli("remember", text, "--place", place, "--valid-from", day, "--id", text.split()[-1])


@pytest.mark.usefixtures("travels")
def test_the_nearest_come_first_with_their_distance(cli: Run) -> None:
    lines = cli("graph", "near", "50.85,4.35").lines
    assert [line.split("\t")[1] for line in lines] == ["Paris", "Berlin", "Suva"]
    assert float(lines[0].split("\t")[0]) == pytest.approx(263_000, rel=0.01)
    shown = cli("graph", "near", "50.85,4.35", "--limit", "1", terminal=True)
    assert "264 km" in shown.out
    within = cli("graph", "near", "-r", "500000", "--json", "--", "-17,180").json["memories"]
    assert [near["memory"]["id"] for near in within] == ["Suva"]
    assert within[0]["metres"] == pytest.approx(208_000, rel=0.01)
    nothing = cli("graph", "near", "0,0", "--radius", "1")
    assert (nothing.code, nothing.out) == (1, "")


@pytest.mark.usefixtures("travels")
def test_a_timeline_is_in_the_order_of_what_happened(cli: Run) -> None:
    assert [line.split("\t")[0] for line in cli("graph", "timeline").lines] == ["Berlin", "Suva", "Paris"]
    assert cli("graph", "timeline", "anna").lines == [
        "Suva\t2026-05-02\tAnna saw Suva",
        "Paris\t2026-05-03\tAnna saw Paris",
    ]
    between = cli("graph", "timeline", "--start", "2026-05-01", "--end", "2026-05-02", "--json").json[
        "memories"
    ]
    assert [memory["id"] for memory in between] == ["Berlin"]
    assert "2026-05-02" in cli("graph", "timeline", "--limit", "2", terminal=True).out
    assert cli("graph", "timeline", "--start", "2030-01-01").code == 1


@pytest.mark.usefixtures("travels")
def test_what_was_known_then(cli: Run) -> None:
    assert (
        cli("graph", "timeline", "--as-of", "2020-01-01").code
        == cli("graph", "near", "0,0", "--as-of", "2020-01-01").code
        == 1
    )
    assert cli("graph", "timeline", "--as-of", "2100-01-01").lines == cli("graph", "timeline").lines
    assert cli("graph", "near", "0,0", "--as-of", "2100-01-01").lines == cli("graph", "near", "0,0").lines


@pytest.mark.usefixtures("travels")
@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("near", "91,0"), 2, "lat must be a number from -90 to 90, got 91"),
        (("near", "Paris"), 2, "LAT,LON must be degrees such as"),
        (("near", "0,0", "--radius", "-1"), 2, "radius must be"),
        (("timeline", "Carl"), 1, "no entity 'Carl'"),
        (("timeline", "--start", "2026-05-02", "--end", "2026-05-01"), 2, "end must be at or after start"),
        (("timeline", "--start", "soon"), 2, "--start must be a time such as"),
        (("timeline", "--as-of", "then"), 2, "--as-of must be a time such as"),
        (("near", "0,0", "--as-of", "then"), 2, "--as-of must be a time such as"),
    ],
)
def test_mistakes_are_explained(cli: Run, arguments: tuple[str, ...], code: int, words: str) -> None:
    failed = cli("graph", *arguments)
    assert failed.code == code
    assert words in failed.err


def test_distances_in_metres_and_kilometres() -> None:
    assert (distance(12.3), distance(263_456)) == ("12 m", "263 km")


def test_ways_have_a_decay_scores_and_a_shortest_one(cli: Run) -> None:
    for words in (("UAV-001", "belongs_to", "fleet"), ("fleet", "stationed_at", "base")):
        cli("graph", "relate", *words)
    assert cli("graph", "paths", "UAV-001", "--scores", "--decay", "0.5").out.splitlines() == [
        "0.5000\tfleet",
        "0.2500\tbase",
    ]
    shortest = cli("graph", "paths", "UAV-001", "--to", "base", "--shortest", "--json").json
    assert (len(shortest["paths"]), shortest["paths"][0]["cost"]) == (1, 2.0)
    assert cli("graph", "paths", "UAV-001", "--shortest").code == 2
    assert cli("graph", "hubs", "--limit", "1").out.startswith("0.")
    first = [
        cli("graph", "hubs", "--direction", way, "--json").json["hubs"][0]["entity"]
        for way in ("out", "both")
    ]
    assert first == ["base", "fleet"]
    assert (
        cli("graph", "communities", "--levels", "2", "--level", "1", "--iterations", "5", "--json").json[
            "method"
        ]
        == "propagation"
    )
    assert cli("graph", "communities", "--method", "x").code == 2


def test_cells_are_listed(cli: Run) -> None:
    assert cli("remember", "at the tower", "--place", "48.8584,2.2945").code == 0
    (cell,) = cli("graph", "cells", "--precision", "5", "--json").json["cells"]
    assert (cell["name"], len(cell["memories"])) == ("geo_5_9038_22190", 1)
    assert cli("graph", "cells").out.startswith("geo_7_")
    assert cli("graph", "cells", "--precision", "9").code == 2
