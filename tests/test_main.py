"""``python -m memorata`` and the installed command are the same program."""

import subprocess
import sys
import tomllib
from pathlib import Path

import memorata


def test_python_m_memorata_runs_the_command_line() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "memorata", "--version"], capture_output=True, text=True, check=True
    )
    assert ran.stdout == f"memorata {memorata.__version__}\n"


def test_the_installed_command_is_the_same_function() -> None:
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["scripts"]["memorata"] == "memorata.cli:main"
    from memorata.cli import main

    assert callable(main)
