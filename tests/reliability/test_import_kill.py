import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.profile import chosen

KILLS = chosen(6, 10)
SCRIPT = Path(__file__).with_name("killed_importer.py")


@pytest.mark.long
def test_an_import_that_is_killed_shows_nothing_that_was_hidden_and_goes_on_where_it_was(
    tmp_path: Path,
) -> None:
    ran = subprocess.run(
        [sys.executable, str(SCRIPT), str(tmp_path), str(KILLS), "3"],
        capture_output=True,
        text=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        check=False,
        timeout=600,
    )
    assert ran.returncode == 0, ran.stderr
    # Before it stand the reports of the imports themselves.
    done = json.loads(ran.stdout.splitlines()[-1])
    assert done["kills"] == KILLS
    # Every run went on where the one before was killed.
    assert done["counts"] == sorted(done["counts"])
    assert len(set(done["counts"])) > 3
