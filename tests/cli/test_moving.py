"""docs/moving.md is true: its files are written, its commands run in order, and they say what it says."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

Run = Callable[..., Any]

DOCS = Path(__file__).parents[2] / "docs" / "moving.md"
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.M | re.S)


def test_every_command_does_what_the_page_says(cli: Run, home: Path) -> None:
    ran = 0
    for kind, name, text in BLOCK.findall(DOCS.read_text("utf-8")):
        if name:
            (home / name).parent.mkdir(exist_ok=True)
            (home / name).write_text(text, encoding="utf-8")
        if kind != "console":
            continue
        for command in re.split(r"^\$ memorata ", text, flags=re.M)[1:]:
            line, _, expected = command.partition("\n")
            done = cli(*line.split())
            assert done.code == 0, (line, done.err)
            assert re.fullmatch(re.escape(expected).replace("…", ".*"), done.out), (line, done.out)
            ran += 1
    assert ran > 10
