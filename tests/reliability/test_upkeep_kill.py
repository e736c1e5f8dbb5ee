"""Long work on a whole file, killed in its middle: nothing is lost, and it can go on."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.profile import chosen

SCRIPT = Path(__file__).with_name("killed_upkeep.py")
KILLS = chosen(2, 10, 60)
VERBS = ("reembed", "copy", "encrypt", "decrypt", "vacuum", "purge")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the file lies that each of them begins with a copy of."""
    return tmp_path_factory.mktemp("upkeep")


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes that are forked here")
@pytest.mark.parametrize("verb", VERBS)
def test_work_that_is_killed_in_its_middle_loses_nothing_and_can_go_on(verb: str, folder: Path) -> None:
    if verb in ("encrypt", "decrypt"):
        pytest.importorskip("sqlcipher3")
    ran = subprocess.run(
        [sys.executable, str(SCRIPT), str(folder), verb, str(KILLS), "7"],
        capture_output=True,
        text=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        check=False,
        timeout=3600,
    )
    assert ran.returncode == 0, ran.stderr
    counts = json.loads(ran.stdout)
    # Every one of them fell after the work was seen to have begun, and before its end.
    assert counts["inside"] == KILLS
    if verb in ("reembed", "vacuum", "purge"):
        assert counts["written"] > 0, "otherwise nobody wrote meanwhile"
