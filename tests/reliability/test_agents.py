"""Two coding agents and a server on one file, for a few seconds; `benchmarks.agents` is the whole minute."""

from pathlib import Path

import pytest
from benchmarks.agents import run
from tests.profile import chosen


@pytest.mark.long
def test_two_agents_and_a_server_lose_nothing(tmp_path: Path) -> None:
    report = run(chosen(5, 10), tmp_path)
    # How long a hook takes is measured by the benchmark, where nothing else runs.
    assert (report.lost, report.twice, report.missing, report.problems) == ([], 0, 0, [])
    assert report.captured == report.said > 0
    assert report.acknowledged > 0
