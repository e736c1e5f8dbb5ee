"""What is near, among the cities of the Earth, against a scan of all of them with numpy.

Run ``python -m benchmarks.geo``. The file of cities is a CSV, gzipped, with columns ``latitude`` and
``longitude`` (GeoNames' cities15000 by default). It checks that both give the same answer, times them in
turns, prints the ratios and the latency of one question, and writes nothing unless told to by ``--markdown
FILE``. Where scikit-learn happens to be installed its BallTree joins in.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import importlib
import importlib.util
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import benchmarks.one_thread  # noqa: F401 - before numpy is loaded

# isort: split

import numpy as np

from benchmarks.timing import Rival, Subject, as_markdown, compared, shown, written
from memorata.geo import EARTH_RADIUS, Places, haversines
from memorata.model.checks import FloatArray

CITIES = Path(__file__).parents[1] / "../shared/data/cities15000.csv.gz"
_QUESTIONS = 20
"""Questions of one timed run: some have many neighbours, and some few."""
_LATENCIES = 2_000
_NEAREST = 10
_RADIUS = 50_000.0


def main(arguments: list[str] | None = None) -> int:
    """Time the index of the cities, and say how long one question takes."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.geo", description=__doc__)
    parser.add_argument(
        "--cities", type=Path, default=CITIES, metavar="FILE", help="the cities to look among"
    )
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="also write the table to FILE")
    options = parser.parse_args(arguments)
    lats, lons = coordinates(options.cities)
    lines = [line for subject in subjects(lats, lons) for line in compared(subject, len(lats))]
    shown("place: how many times as long the others take", lines)
    for where, questions in (("near a city", near_cities(lats, lons)), ("anywhere", anywhere())):
        print(f"nearest city, from {where}: {latency(Places(lats, lons), questions)}")
    if options.markdown:
        written(options.markdown, [as_markdown("geo", lines)])
    return 0


def coordinates(path: Path) -> tuple[FloatArray, FloatArray]:
    """Return the latitudes and longitudes of a file of cities."""
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        rows = [(float(row["latitude"]), float(row["longitude"])) for row in csv.DictReader(file)]
    table = np.array(rows)
    return np.ascontiguousarray(table[:, 0]), np.ascontiguousarray(table[:, 1])


def subjects(lats: FloatArray, lons: FloatArray) -> Iterator[Subject]:
    """Yield each kind of question, asked some times, and those who answer it too."""
    places = Places(lats, lons)
    for where, questions in (
        ("near a city", near_cities(lats, lons)[:_QUESTIONS]),
        ("anywhere", anywhere()[:_QUESTIONS]),
    ):
        for count in (1, _NEAREST):
            yield Subject(
                f"nearest {count}, {where}, ×{_QUESTIONS}",
                partial(_each, questions, partial(_nearest, places, count)),
                np.concatenate,
                [
                    Rival(
                        "numpy scan",
                        partial(_each, questions, partial(scanned, lats, lons, count)),
                        np.concatenate,
                    ),
                    *_ball_tree(lats, lons, questions, count),
                ],
            )
        yield Subject(
            f"within 50 km, {where}, ×{_QUESTIONS}",
            partial(_each, questions, lambda lat, lon: places.within(lat, lon, _RADIUS).metres),
            np.concatenate,
            [
                Rival(
                    "numpy scan",
                    partial(_each, questions, partial(scanned_within, lats, lons)),
                    np.concatenate,
                )
            ],
        )


def near_cities(lats: FloatArray, lons: FloatArray) -> list[tuple[float, float]]:
    """Return points some tens of kilometres from a city, drawn with a fixed seed."""
    chance = np.random.default_rng(34)
    chosen = chance.integers(0, len(lats), _LATENCIES)
    north = np.clip(lats[chosen] + chance.normal(0, 0.3, _LATENCIES), -90, 90)
    east = np.clip(lons[chosen] + chance.normal(0, 0.3, _LATENCIES), -180, 180)
    return list(zip(north.tolist(), east.tolist(), strict=True))


def anywhere() -> list[tuple[float, float]]:
    """Return points spread evenly over the Earth, most of them at sea, drawn with a fixed seed."""
    chance = np.random.default_rng(35)
    north = np.degrees(np.arcsin(chance.uniform(-1, 1, _LATENCIES)))
    return list(zip(north.tolist(), chance.uniform(-180, 180, _LATENCIES).tolist(), strict=True))


def latency(places: Places, questions: list[tuple[float, float]]) -> str:
    """Return how long one question takes by the clock, as a line of text."""
    spans = []
    for lat, lon in questions:
        start = time.perf_counter()
        places.nearest(lat, lon)
        spans.append(time.perf_counter() - start)
    middle, slow = np.percentile(spans, [50, 95]) * 1e3
    asked = f"{len(spans):,} questions, {len(places):,} cities"
    return f"median {middle:.3f} ms, 95 % within {slow:.3f} ms ({asked})"


def scanned(lats: FloatArray, lons: FloatArray, count: int, lat: float, lon: float) -> FloatArray:
    metres = haversines(lat, lon, lats, lons)
    best = np.argpartition(metres, count - 1)[:count]
    return metres[best[np.argsort(metres[best])]]


def scanned_within(lats: FloatArray, lons: FloatArray, lat: float, lon: float) -> FloatArray:
    metres = haversines(lat, lon, lats, lons)
    return np.sort(metres[metres <= _RADIUS])


def _nearest(places: Places, count: int, lat: float, lon: float) -> FloatArray:
    return places.nearest(lat, lon, limit=count).metres


def _each(questions: list[tuple[float, float]], ask: Callable[[float, float], Any]) -> list[Any]:
    return [ask(lat, lon) for lat, lon in questions]


def _ball_tree(
    lats: FloatArray, lons: FloatArray, questions: list[tuple[float, float]], count: int
) -> Iterator[Rival]:
    """Yield scikit-learn's tree where it is installed; nothing here asks for it to be."""
    if importlib.util.find_spec("sklearn") is None:
        return
    neighbours = importlib.import_module("sklearn.neighbors")
    tree = neighbours.BallTree(np.radians(np.column_stack([lats, lons])), metric="haversine")

    def ask(lat: float, lon: float) -> Any:  # noqa: ANN401 - an untyped library's array
        return tree.query(np.radians([[lat, lon]]), k=count)[0][0] * EARTH_RADIUS

    yield Rival("sklearn BallTree", partial(_each, questions, ask), np.concatenate, is_library=True)


if __name__ == "__main__":
    sys.exit(main())
