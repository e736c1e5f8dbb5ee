"""Does learning keep its promises? Four simulations with a known truth, as tables.

Run ``python -m benchmarks.learning``; about three minutes, or twenty seconds with ``--quick``. Nothing is
read, and nothing written unless told to by ``--markdown FILE``; everything follows from fixed seeds, so two
runs print the same figures. ``--plots FOLDER`` draws the plots instead. The people are those of
``benchmarks/simulation.py``.

1. Tuning recovers a known best weight from noisy feedback, and leaves a weight alone where there is no signal
   or nothing better.
2. Somebody looks at an experiment every day and stops at the first winner: how often is it named wrongly?
3. How soon is a real difference found, looking every day?
4. How many questions do an A/B comparison and team-draft interleaving need for the same power?
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

import benchmarks.one_thread  # noqa: F401 - before numpy is loaded

# isort: split

import numpy as np

from benchmarks.simulation import peeking_trials, questions_needed, simulated_clicks, tuning_trials
from memorata_lab.learn.calibration import fit_logistic, out_of_fold, reliability
from memorata_lab.learn.plots import draw_calibration, draw_drift, draw_grid, draw_thresholds
from memorata_lab.learn.retune import Event, retune
from memorata_lab.learn.thresholds import at_precision, by_f1, threshold_curve

Table = tuple[str, Sequence[str], Sequence[Sequence[str]]]


def main(arguments: list[str] | None = None) -> int:
    """Run the simulations and print their tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.learning", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the runs")
    parser.add_argument(
        "--plots", type=Path, metavar="FOLDER", help="only draw the plots, of simulated pairs"
    )
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="also write the tables to FILE")
    options = parser.parse_args(arguments)
    if options.plots:
        for path in plots(options.plots):
            print(path)
        return 0
    share = 0.1 if options.quick else 1.0
    written = []
    for table in (
        tuning(round(300 * share)),
        peeking(round(4_000 * share)),
        finding(round(500 * share)),
        drafts(),
    ):
        written.append(as_text(table))
        print(written[-1])
    if options.markdown:
        options.markdown.write_text("\n".join(written))
    return 0


def tuning(repeats: int) -> Table:
    """Return what tuning did with and without something to find."""
    rows = []
    for said, best, current, wrong, questions in (
        ("best weight 0.3", 0.3, 0.8, 0.0, 150),
        ("the same, 1 label in 10 wrong", 0.3, 0.8, 0.1, 150),
        ("the same, 1 label in 4 wrong", 0.3, 0.8, 0.25, 150),
        ("the same, 1 in 10 wrong, few questions", 0.3, 0.8, 0.1, 40),
        ("no signal", None, 0.8, 0.1, 150),
        ("no signal, few questions", None, 0.8, 0.1, 40),
        ("in use is best already", 0.5, 0.5, 0.1, 150),
    ):
        found = tuning_trials(repeats, questions, best=best, current=current, wrong=wrong, seed=10_000)
        low, high = np.quantile(found.weights, [0.05, 0.95])
        rows.append(
            (
                said,
                str(questions),
                f"{current:.2f}",
                f"{found.accepted:.1%}",
                f"{np.median(found.weights):.2f} ({low:.2f} to {high:.2f})",
                f"{found.gains.mean():+.4f}",
            )
        )
    names = (
        "log",
        "questions",
        "in use",
        "accepted",
        "weight after (median, 90 %)",
        "held-out gain, nDCG@10",
    )
    return f"Tuning the weight of meaning, {repeats} logs each", names, rows


def peeking(repeats: int) -> Table:
    """Return how often a winner is named among variants that are the same."""
    rows = []
    for users, days in ((120, 21), (200, 28), (200, 56)):
        found = peeking_trials(repeats, users=users, days=days)
        rows.append(
            (
                f"{users}",
                f"{days}",
                f"{found.always_valid:.2%}",
                f"{found.fixed:.2%}",
                f"{found.single_look:.2%}",
            )
        )
    names = ("users per variant", "days", "ours, every day", "usual test, every day", "usual test, once")
    return f"A winner among variants that are the same, {repeats} experiments each", names, rows


def finding(repeats: int) -> Table:
    """Return how often and how soon a real difference is found."""
    rows = []
    for lift in (0.05, 0.10, 0.15):
        for users in (200, 600):
            found = peeking_trials(repeats, lift=lift, users=users, days=28, seed=1_000_000)
            rows.append(
                (
                    f"{lift:+.2f}",
                    f"{users}",
                    f"{found.always_valid:.1%}",
                    f"{found.days:.0f}",
                    f"{found.single_look:.1%}",
                )
            )
    names = ("click rate", "users per variant", "found within 28 days", "median day", "usual test on day 28")
    return f"A variant that is better, {repeats} experiments each", names, rows


def drafts() -> Table:
    """Return how many questions two ways of comparing need."""
    rows = []
    for blur, other in ((0.1, 0.2), (0.2, 0.4), (0.3, 0.4)):
        clicks = simulated_clicks(20_000, seed=1, blur=blur, other_blur=other)
        halves, draft = questions_needed(clicks)
        rows.append(
            (
                f"{blur} and {other}",
                f"{clicks.first.mean():.1%} and {clicks.second.mean():.1%}",
                f"{halves:,}",
                f"{draft:,}",
                f"{halves / draft:.1f}",
            )
        )
    names = ("noise of the rankings", "questions with a click", "A/B", "team draft", "times fewer")
    return "Questions needed for a power of 80 % at 5 %", names, rows


def plots(folder: Path) -> Iterator[Path]:
    """Draw every plot of learning, of pairs whose similarity and confidence say something."""
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(1)
    count = 800
    relevant = random.random(count) < 0.4
    similar = np.clip(random.normal(0.42, 0.12, count) + 0.2 * relevant, -1, 1)
    sure = np.clip(random.normal(0.5, 0.2, count) + 0.25 * relevant, 0, 1)
    choice = at_precision(similar, relevant, target=0.85, fallback=0.6)
    yield draw_thresholds(threshold_curve(similar, relevant), choice, folder / "thresholds.svg")
    yield draw_grid(by_f1(similar, sure, relevant), folder / "grid.svg")
    chances = out_of_fold(similar, relevant, [f"q{row // 4}" for row in range(count)], fit_logistic)
    curves = {
        "raw similarity": reliability(np.clip(similar, 0, 1), relevant),
        "logistic, out of fold": reliability(chances, relevant),
    }
    yield draw_calibration(curves, folder / "calibration.svg")
    weeks, threshold = {}, 0.85
    for week in range(1, 15):
        # From the ninth week on another embedder is in use, whose cosines are higher.
        seen = random.random(60)
        wanted = random.random(60) < 1 / (1 + np.exp(-14 * (seen - 0.55)))
        shown = np.clip(seen + (0.12 if week > 8 else 0.0), 0, 1)
        events = [Event(at, yes) for at, yes in zip(shown.tolist(), wanted.tolist(), strict=True)]
        weeks[str(week)] = retune(threshold, events)
        threshold = weeks[str(week)].after
    yield draw_drift(weeks, folder / "drift.svg")


def as_text(table: Table) -> str:
    """Return a table in Markdown."""
    title, names, rows = table
    lines = [f"### {title}", "", "| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    raise SystemExit(main())
