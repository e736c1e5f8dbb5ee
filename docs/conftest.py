"""The examples of the pages run in a folder of their own, so that the files they make are left nowhere."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Go to an empty folder for the time of one page."""
    monkeypatch.chdir(tmp_path)
