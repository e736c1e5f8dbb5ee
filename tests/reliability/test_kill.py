import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.profile import chosen

SCRIPT = Path(__file__).with_name("killed_writer.py")
ROUNDS = chosen(60, 200, 700)


@pytest.mark.long
def test_a_killed_writer_loses_nothing_that_was_acknowledged_and_leaves_nothing_half_done(
    tmp_path: Path,
) -> None:
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    ran = subprocess.run(
        [sys.executable, str(SCRIPT), str(tmp_path), str(ROUNDS), "7"],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
        timeout=3600,
    )
    assert ran.returncode == 0, ran.stderr
    counts = json.loads(ran.stdout)
    assert counts["rounds"] == ROUNDS
    # Otherwise the kills fell where there was nothing to lose.
    assert counts["acknowledged"] > ROUNDS / 2
    assert counts["underway"] > ROUNDS / 4
