"""Tables and bars of what a suite measured.

``memorata lab eval suite FOLDER --json > sets.json``, then ``python -m benchmarks.sets sets.json [more.json
…] [--plot FILE]``: a line for each set, a column for each recipe; the plot has bars of hit@5. With
``--ablate`` a line for each lever: what hit@5 and MRR of each set gain from it, in points; ``·`` where
nothing does.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

WITHOUT = "without "
Rows = dict[str, dict[str, dict[str, Any]]]


def read(files: Sequence[Path]) -> Rows:
    """Return the rows of all files by set and recipe."""
    sets: Rows = {}
    for file in files:
        for row in json.loads(file.read_text(encoding="utf-8"))["rows"]:
            sets.setdefault(row["set"], {})[row["recipe"]] = row
    return sets


def cell(row: dict[str, Any], whole: dict[str, Any]) -> str:
    """Return hit@1, hit@5 and nDCG@10 of a recipe, or what it loses by lacking a lever."""
    if not row["recipe"].startswith(WITHOUT):
        return " / ".join(f"{100 * row[name]:.0f}" for name in ("hit1", "hit5", "ndcg10"))
    gains = [100 * (whole[name] - row[name]) for name in ("hit5", "mrr")]
    return " / ".join(f"{gain:+.1f}" for gain in gains) if any(gains) else "·"


def table(sets: Rows) -> str:
    """Return a Markdown table of sets by recipes, or of levers by sets."""
    recipes = list(dict.fromkeys(recipe for rows in sets.values() for recipe in rows))
    first = {name: next(iter(rows.values())) for name, rows in sets.items()}
    lines = [
        ["set", *sets],
        ["questions", *(str(row["questions"]) for row in first.values())],
        *(
            [
                recipe.removeprefix(WITHOUT),
                *(cell(rows[recipe], first[name]) if recipe in rows else "" for name, rows in sets.items()),
            ]
            for recipe in recipes
        ),
    ]
    if not any(recipe.startswith(WITHOUT) for recipe in recipes):
        lines = [list(column) for column in zip(*lines, strict=True)]
    lines.insert(1, ["---", *["--:"] * (len(lines[0]) - 1)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def draw(sets: Rows, path: Path) -> None:
    """Draw a group of bars for each set, one for each recipe."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    recipes = list(next(iter(sets.values())))
    figure, axes = pyplot.subplots(figsize=(11, 4), layout="constrained")
    width = 0.8 / len(recipes)
    for number, recipe in enumerate(recipes):
        values = [100 * rows[recipe]["hit5"] if recipe in rows else 0.0 for rows in sets.values()]
        last = number == len(recipes) - 1
        colour = "tab:blue" if last else str(0.3 + 0.6 * number / len(recipes))
        places = [place + (number - (len(recipes) - 1) / 2) * width for place in range(len(sets))]
        axes.bar(places, values, width, color=colour, label=recipe)
    axes.set_xticks(range(len(sets)), [name.replace("_", "\n") for name in sets])
    axes.set(ylabel="hit@5, per cent", ylim=(0, 100), title="The default beside its parts, set by set")
    figure.legend(ncols=len(recipes), loc="outside lower center", frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=110)


def main() -> None:
    """Print the table, and draw if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--plot", type=Path)
    given = parser.parse_args()
    sets = read(given.files)
    print(table(sets))
    if given.plot:
        draw(sets, given.plot)


if __name__ == "__main__":
    main()
