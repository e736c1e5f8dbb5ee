"""The examples of the pages run in a folder of their own, so that the files they make are left nowhere.

They run with the models of a plain installation, as for a reader who tries them.
"""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Go to an empty folder, with no models installed, for the time of one page."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MEMORATA_MODELS", str(tmp_path / "models"))
