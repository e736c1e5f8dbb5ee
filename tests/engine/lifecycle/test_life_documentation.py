"""docs/life.md runs from top to bottom, prints what it says it prints, and lists every rule there is."""

import contextlib
import io
import re
from pathlib import Path

from memorata.engine.rules import RULES

TEXT = (Path(__file__).parents[3] / "docs" / "life.md").read_text("utf-8")


def test_the_page_runs_and_prints_what_it_says() -> None:
    names: dict[str, object] = {}
    printed = io.StringIO()
    shown = []
    for language, block in re.findall(r"```(python|text)\n(.*?)```", TEXT, re.S):
        if language == "text":
            shown.append(block)
            continue
        with contextlib.redirect_stdout(printed):
            exec(compile(block, "docs/life.md", "exec"), names)
    assert printed.getvalue() == "".join(shown)
    assert len(shown) == 2


def test_every_rule_is_listed_with_its_default_and_meaning() -> None:
    rows = re.findall(r"^\| `(\w+)` \| ([\d.]+) \| (.+) \|$", TEXT, re.M)
    assert rows == [(rule.name, f"{rule.default:g}", rule.doc) for rule in RULES]
