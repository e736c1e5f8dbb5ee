import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("killed_reembedder.py")


@pytest.mark.long
def test_a_reembedding_that_is_killed_ten_times_ends_as_a_fresh_store(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, str(SCRIPT), str(tmp_path), "7"],
        capture_output=True,
        text=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        check=False,
        timeout=600,
    )
    assert ran.returncode == 0, ran.stderr
    counts = json.loads(ran.stdout)
    assert counts["kills"] == 10
    new, old = zip(*counts["done"], strict=True)
    # Every run went on where the one before was killed, while embedding and while removing.
    assert list(new) == sorted(new)
    assert list(old) == sorted(old, reverse=True)
    assert len(set(new)) > 5
    assert len(set(old)) > 2
