"""Learn what texts say for hits, and how likely hits answer; measure both with every set left out once.

``python -m benchmarks.answer_confidence FOLDER CACHE [--sets a,b] [--embedders a,b] [--images FOLDER]``
where FOLDER has sets in the form of :mod:`memorata_lab.evaluate.suite` and CACHE is where vectors and
candidates are kept. Learns the weights of :mod:`memorata.engine.recall.evidence` on all embedders together,
prints what weights learnt on all *other* sets reach on each set with each embedder, then those learnt on all;
``--images`` draws it.
"""

from __future__ import annotations

import argparse
import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np

from memorata._frozen import frozen
from memorata.embed import Resources, open_embedder
from memorata.engine import RECIPES
from memorata.engine.recall.confidence import FEATURES
from memorata.engine.recall.evidence import EVIDENCE, text_evidence
from memorata.engine.recall.result import RecallResult
from memorata.engine.settings import Settings
from memorata_lab.evaluate.cached_embedder import CachedEmbedder
from memorata_lab.evaluate.metrics import auroc, risk_coverage
from memorata_lab.evaluate.suite import QuestionScore, run_suite

LONG_SETS = ("beam100k", "realmem", "longmemeval_s")
"""Sets of long texts, read with the static model alone."""
LONG_MODEL = "potion-base-8M"
EMBEDDERS = "arctic-embed-s,use-multilingual"
"""The best model for English, and the built-in one."""
ON_TOPIC = ("short_facts", "locomo", "timeqa", "squad2_es", "beam100k", "longmemeval_s")
"""Sets whose unanswerable questions are about what is there."""
MOST_QUESTIONS = {"xquad": 60, "wiki_native": 80, "prefeval": 100, "memdaily_zh": 12, "realmem": 60}
HITS, READ, FIRST = 10, 20, 5
Floats = np.typing.NDArray[np.float64]


@frozen(eq=False)
class Row:
    """One question: its first hits as they are shown, and its best candidates as they were before."""

    set: str
    embedder: str
    answerable: bool
    right: list[bool]
    hits: Floats
    recall: Floats
    scores: Floats
    evidence: Floats
    read_right: list[bool]


def collected(folder: Path, cache: Path, name: str, model: str) -> list[Row]:
    """Return the questions of a set with the features of what was found, from the cache if they are there."""
    kept = cache / f"answers_{model}_{name}.pickle"
    if kept.exists():
        rows: list[Row] = pickle.loads(kept.read_bytes())
        return rows
    opened = open_embedder(model, Resources(models=Settings().models, threads=1))
    rows = []

    def seen(asked: QuestionScore, right: list[bool], result: RecallResult) -> None:
        estimates, trace = result.estimates, result.trace
        if estimates is None or trace is None:
            return
        # A set may be right about sessions, each once: one flag for each hit is needed.
        flags = dict(zip(estimates.order, right, strict=False))
        read = [flags.get(number, False) for number in range(len(estimates.memories))]
        base = trace.scores[trace.kept[: len(read)]]
        rows.append(
            Row(
                asked.set,
                model,
                asked.answerable,
                right[:HITS],
                estimates.features[list(estimates.order[:HITS])],
                estimates.of_recall,
                base[:READ] / max(float(base[0]), 1e-9),
                text_evidence(estimates.requirements, estimates.memories[:READ]),
                read,
            )
        )

    embedder = CachedEmbedder(opened, cache / f"cache_{model}.db")
    most = MOST_QUESTIONS.get(name)
    for _ in run_suite(folder, [RECIPES["balanced"]], embedder, sets=[name], most_questions=most, seen=seen):
        pass
    kept.write_bytes(pickle.dumps(rows))
    print(name, model, len(rows), file=sys.stderr)
    return rows


def fitted(features: Floats, right: Floats, weights: Floats, penalty: float = 1.0) -> tuple[Floats, float]:
    """Return the weights and the bias of a logistic regression with a ridge, by Newton's method."""
    mean, scale = features.mean(0), features.std(0) + 1e-9
    rows = np.column_stack([(features - mean) / scale, np.ones(len(features))])
    ridge = penalty * np.append(np.ones(rows.shape[1] - 1), 1e-6)
    found = np.zeros(rows.shape[1])
    for _ in range(30):
        chance = 1 / (1 + np.exp(-rows @ found))
        slope = rows.T @ (weights * (chance - right)) + ridge * found
        curve = (rows * (weights * chance * (1 - chance))[:, None]).T @ rows + np.diag(ridge)
        found -= np.linalg.solve(curve, slope)
    own = found[:-1] / scale
    return own, float(found[-1] - own @ mean)


def lifting(rows: list[Row], steps: int = 150, rate: float = 0.06, penalty: float = 3.0) -> Floats:
    """Return the weights of texts' evidence beside a score of weight 1: a softmax over candidates (Adam)."""
    rows = [row for row in rows if any(row.read_right[:READ])]
    tables = [np.column_stack([row.scores, row.evidence]) for row in rows]
    sizes = [len(table) for table in tables]
    features, group = np.concatenate(tables), np.repeat(np.arange(len(rows)), sizes)
    scale = features.std(0) + 1e-6
    features, starts = features / scale, np.r_[0, np.cumsum(sizes)[:-1]]
    right = np.concatenate(
        [row.read_right[:READ][: len(table)] for row, table in zip(rows, tables, strict=True)]
    )
    share = shares([row.set for row in rows])[group]
    found = np.eye(features.shape[1])[0] * 2
    first, second = np.zeros_like(found), np.zeros_like(found)
    for step in range(1, steps + 1):
        logits = features @ found
        mass = np.exp(logits - np.maximum.reduceat(logits, starts)[group])
        chance, good = mass / np.add.reduceat(mass, starts)[group], mass * right
        slope = features.T @ (share * (chance - good / np.add.reduceat(good, starts)[group])) / len(rows)
        slope += penalty / len(rows) * found
        first, second = 0.9 * first + 0.1 * slope, 0.999 * second + 0.001 * slope**2
        move = first / (1 - 0.9**step) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
        found = np.maximum(found - rate * move, 0)
    own = found / scale
    return np.asarray(own[1:] / own[0])


def shares(sets: list[str]) -> Floats:
    """Return what each question counts: a set of many says more than one of few, but not in proportion."""
    counts = {name: sets.count(name) for name in set(sets)}
    weights = np.array([1 / np.sqrt(counts[name]) for name in sets])
    return np.asarray(weights * len(weights) / weights.sum())


def ranks(row: Row, weights: Floats) -> tuple[float, float, float]:
    """Return hit@1, hit@5 and reciprocal rank once texts count so much."""
    read = len(row.scores)
    order = (-(row.scores + row.evidence @ weights)).argsort(kind="stable")
    right = [*np.array(row.read_right[:read])[order], *row.read_right[read:]]
    place = next((place for place, one in enumerate(right) if one), None)
    return float(any(right[:1])), float(any(right[:5])), 0.0 if place is None else 1 / (place + 1)


def calibration_error(chance: Floats, right: Floats, bins: int = 10) -> float:
    """Return the expected calibration error over bins of equal width."""
    bin_of = np.minimum((chance * bins).astype(int), bins - 1)
    gaps = [
        np.mean(bin_of == number) * abs(chance[bin_of == number].mean() - right[bin_of == number].mean())
        for number in set(bin_of.tolist())
    ]
    return float(sum(gaps))


def main() -> None:
    """Collect, learn, print and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("cache", type=Path)
    parser.add_argument("--sets", default="")
    parser.add_argument("--embedders", default=EMBEDDERS)
    parser.add_argument("--images", type=Path)
    given = parser.parse_args()
    names = [path.name.removesuffix(".jsonl.gz") for path in sorted(given.folder.glob("*.jsonl.gz"))]
    wanted = (
        given.sets.split(",") if given.sets else [name for name in names if name != "contradiction_pairs"]
    )
    rows = [
        row
        for name in wanted
        for model in ([LONG_MODEL] if name in LONG_SETS else given.embedders.split(","))
        for row in collected(given.folder, given.cache, name, model)
    ]
    sets = [row.set for row in rows]
    of, embedder_of = np.array(sets), np.array([row.embedder for row in rows])
    answerable = np.array([row.answerable for row in rows])
    first = np.array([float(any(row.right[:1])) for row in rows])
    one_of_five = np.array([float(any(row.right[:FIRST])) for row in rows])
    recalls, weights = np.array([row.recall for row in rows]), shares(sets)
    sizes = [len(row.hits) for row in rows]
    hits, owner = np.concatenate([row.hits for row in rows]), np.repeat(np.arange(len(rows)), sizes)
    right = np.concatenate([row.right[: len(row.hits)] for row in rows]).astype(float)
    starts = np.r_[0, np.cumsum(sizes)[:-1]]
    of_hit, of_recall, gains = np.zeros(len(hits)), np.zeros(len(rows)), []
    columns = [
        *("set", "questions", "hit@1 / hit@5 / MRR by legs", "with texts read", "calibration error, hit"),
        *("recall", "right above wrong", "answerable above not, hit", "recall"),
    ]
    print(f"| {' | '.join(columns)} |\n|---|{'--:|' * (len(columns) - 1)}")
    for name in dict.fromkeys(sets):
        here, there = of == name, of != name
        own, bias = fitted(hits[there[owner]], right[there[owner]], weights[owner][there[owner]])
        of_hit[here[owner]] = 1 / (1 + np.exp(-(hits[here[owner]] @ own + bias)))
        own, bias = fitted(recalls[there], one_of_five[there], weights[there])
        of_recall[here] = 1 / (1 + np.exp(-(recalls[here] @ own + bias)))
        lift = lifting([row for row in rows if row.set != name and row.answerable])
        none, top = np.zeros(len(EVIDENCE)), of_hit[starts]
        for model in dict.fromkeys(embedder_of[here].tolist()):
            own_rows = here & (embedder_of == model)
            asked = [row for row in rows if row.set == name and row.embedder == model and row.answerable]
            before, after = (np.mean([ranks(row, each) for row in asked], axis=0) for each in (none, lift))
            gains.append(after - before)
            cells = [
                " / ".join(f"{100 * value:.0f}" for value in before),
                " / ".join(f"{100 * value:.0f}" for value in after),
                f"{calibration_error(top[own_rows], first[own_rows]):.3f}",
                f"{calibration_error(of_recall[own_rows], one_of_five[own_rows]):.3f}",
                _auroc(top, own_rows & (first > 0), own_rows & (first == 0)),
                _auroc(top, own_rows & answerable, own_rows & ~answerable),
                _auroc(of_recall, own_rows & answerable, own_rows & ~answerable),
            ]
            print(f"| {name}, {model} | {len(asked)} | {' | '.join(cells)} |", flush=True)
    print(
        "gain of hit@1, hit@5, MRR by reading texts, mean of sets:", (100 * np.mean(gains, axis=0)).round(2)
    )
    on_topic = [
        float(_auroc(of_recall, (of == name) & answerable, (of == name) & ~answerable))
        for name in ON_TOPIC
        if name in sets
    ]
    print("answerable above not, mean of the sets on the topic:", round(float(np.mean(on_topic)), 3))
    for model in ("", *dict.fromkeys(embedder_of.tolist())):
        among = (embedder_of == model) | (model == "")
        errors = (
            calibration_error(of_hit[starts][among], first[among]),
            calibration_error(of_hit[among[owner]], right[among[owner]]),
            calibration_error(of_recall[among], one_of_five[among]),
        )
        shown = " / ".join(f"{error:.3f}" for error in errors)
        print(f"calibration error of first hit / ten hits / recall, {model or 'all'}: {shown}")
    lift = lifting([row for row in rows if row.answerable])
    print("EVIDENCE_WEIGHTS", dict(zip(EVIDENCE, lift.round(3).tolist(), strict=True)))
    own, bias = fitted(hits, right, weights[owner])
    print("BIAS", round(bias, 3), dict(zip(FEATURES, own.round(3).tolist(), strict=True)))
    if given.images:
        _draw(given.images, of, answerable, of_hit[starts], first, of_recall, one_of_five)


def _auroc(chance: Floats, yes: np.typing.NDArray[Any], no: np.typing.NDArray[Any]) -> str:
    return f"{auroc(chance[yes], chance[no]):.2f}" if yes.any() and no.any() else ""


def _draw(
    folder: Path,
    of: np.typing.NDArray[Any],
    answerable: np.typing.NDArray[Any],
    top: Floats,
    first: Floats,
    of_recall: Floats,
    one_of_five: Floats,
) -> None:
    """Draw reliability, risk and coverage, and what is told apart on each set."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, middle, bars) = pyplot.subplots(1, 3, figsize=(13, 4), layout="constrained")
    left.plot([0, 1], [0, 1], color="0.7", linewidth=1)
    for chance, right, label in (
        (top, first, "first hit"),
        (of_recall, one_of_five, "one of the first five"),
    ):
        bin_of = np.minimum((chance * 10).astype(int), 9)
        numbers = [number for number in range(10) if np.sum(bin_of == number) >= 10]
        points = [(chance[bin_of == number].mean(), right[bin_of == number].mean()) for number in numbers]
        left.plot(*zip(*points, strict=True), marker="o", label=label)
        curve = risk_coverage(chance, [bool(each) for each in right])
        middle.plot(curve.coverage, curve.risk, label=label)
    left.set(xlabel="confidence", ylabel="share that answers", title="Reliability, sets left out")
    middle.set(xlabel="questions answered", ylabel="share of those that is wrong", title="Risk and coverage")
    left.legend()
    middle.legend()
    names = [name for name in dict.fromkeys(of.tolist()) if (~answerable[of == name]).any()]
    values = [
        auroc(of_recall[(of == name) & answerable], of_recall[(of == name) & ~answerable]) for name in names
    ]
    bars.barh(names, values, color=["tab:blue" if name in ON_TOPIC else "tab:gray" for name in names])
    bars.axvline(0.5, color="0.3", linewidth=1)
    bars.set(xlim=(0, 1), xlabel="AUROC", title="Answerable above not (grey: off topic)")
    figure.savefig(folder / "confidence.png", dpi=110)


if __name__ == "__main__":
    main()
