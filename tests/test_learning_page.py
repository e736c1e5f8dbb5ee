"""docs/learning.md does what it says: its Python is run as doctest, then its commands on the database."""

import doctest
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from memorata.cli.app import app

TEXT = (Path(__file__).parents[1] / "docs" / "learning.md").read_text("utf-8")


@pytest.mark.untraced
def test_the_worked_example_goes_from_feedback_to_a_recipe_and_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MEMORATA_DB", str(tmp_path / "learning.db"))
    monkeypatch.setenv("MEMORATA_EMBEDDER", "lexical")
    blocks = re.findall(r"```python\n(.*?)```", TEXT, re.S)
    parsed = doctest.DocTestParser().get_doctest("".join(blocks), {}, "learning.md", None, 0)
    told: list[str] = []
    ran = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(parsed, out=told.append)
    assert ran.failed == 0, "".join(told)
    assert ran.attempted > 20
    commands = re.findall(r"^\$ memorata (.*)$", TEXT, re.M)
    assert len(commands) >= 10
    for command in commands:
        result = CliRunner().invoke(app, shlex.split(command))
        assert result.exit_code == 0, f"{command}: {result.output}"


def test_every_picture_is_there() -> None:
    for name in re.findall(r"\]\((images/[^)]*)\)", TEXT):
        path = Path(__file__).parents[1] / "docs" / name
        assert path.stat().st_size < 60_000
        assert path.read_text("utf-8").startswith("<?xml")
