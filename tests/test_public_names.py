"""The public surface: few names, each of which loads, and an import that costs next to nothing."""

import subprocess
import sys

import pytest

import memorata
from memorata import engine, model

PUBLIC = {
    "Config",
    "Engine",
    "Explanation",
    "Feedback",
    "Hit",
    "Memory",
    "Period",
    "Place",
    "Query",
    "RecallResult",
    "Recipe",
    "MemorataError",
    "When",
    "__version__",
    "open",
}


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=True)


def imported(code: str) -> set[str]:
    """Return every module that a fresh interpreter imports for `code`, beyond those it needs to start."""
    timed = python("-X", "importtime", "-c", code).stderr.splitlines()
    baseline = python("-X", "importtime", "-c", "pass").stderr.splitlines()
    names = [{line.rpartition("|")[2].strip() for line in lines} for lines in (timed, baseline)]
    return names[0] - names[1]


def test_the_public_names_are_these_and_at_most_sixteen() -> None:
    assert set(memorata.__all__) == PUBLIC
    assert len(memorata.__all__) == len(PUBLIC) <= 16
    assert sorted(memorata.__all__) == dir(memorata)


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_every_public_name_loads(name: str) -> None:
    value = getattr(memorata, name)
    homes = [home for home in (model, engine) if hasattr(home, name)]
    assert value is (getattr(homes[0], name) if homes else memorata.__version__)


def test_a_name_that_is_not_there_says_what_is() -> None:
    with pytest.raises(AttributeError, match=r"has no attribute 'Mermory'; it has Config, .*Memory"):
        memorata.Mermory  # noqa: B018


def test_importing_memorata_imports_only_the_standard_library() -> None:
    found = imported("import memorata")
    outside = {name for name in found if name.partition(".")[0] not in sys.stdlib_module_names}
    assert outside == {"memorata", "memorata._on_demand"}
    for heavy in ("asyncio", "ctypes", "http", "json", "logging", "multiprocessing", "sqlite3", "ssl"):
        assert heavy not in {name.partition(".")[0] for name in found}


def test_the_model_and_the_ranking_core_need_numpy_and_nothing_more() -> None:
    found = imported("import memorata.rank")
    outside = {name.partition(".")[0] for name in found} - sys.stdlib_module_names
    # What numpy imports by itself on some platforms is numpy's own affair.
    assert outside - {name.partition(".")[0] for name in imported("import numpy")} <= {"memorata"}
