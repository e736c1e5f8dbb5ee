"""Learn the weights of :mod:`memorata.engine.recall.confidence`; measure them with every set left out once.

``python -m benchmarks.answer_confidence FOLDER CACHE`` where FOLDER has sets in the form of
:mod:`memorata.evaluate.suite` and CACHE is where vectors are kept. Prints, for a model learnt on all other
sets, the expected calibration error of the first hit, how often a right first hit has a higher confidence
than a wrong one, and an answerable question than another; then the weights learnt on all.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from memorata.embed import Resources, open_embedder
from memorata.engine import RECIPES
from memorata.engine.recall.confidence import FEATURES
from memorata.engine.settings import Settings
from memorata.evaluate.abstention import auroc
from memorata.evaluate.cached_embedder import CachedEmbedder
from memorata.evaluate.suite import Asked, run_suite

LONG_SETS = ("beam100k", "realmem", "longmemeval_s")
"""Sets of long texts, read with the static model."""
MOST_QUESTIONS = {"xquad": 110, "wiki_native": 130, "prefeval": 200, "memdaily_zh": 12, "realmem": 60}
HITS = 10
Floats = np.typing.NDArray[np.float64]


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


def calibration_error(chance: Floats, right: Floats, bins: int = 10) -> float:
    """Return the expected calibration error over bins of equal width."""
    bin_of = np.minimum((chance * bins).astype(int), bins - 1)
    gaps = [
        np.mean(bin_of == number) * abs(chance[bin_of == number].mean() - right[bin_of == number].mean())
        for number in set(bin_of.tolist())
    ]
    return float(sum(gaps))


def collected(folder: Path, cache: Path) -> tuple[list[Any], Floats]:
    """Return for each of the first hits of every question its set, rank and labels; and its features."""
    settings = Settings()
    facts: list[Any] = []
    rows: list[Floats] = []
    for path in sorted(folder.glob("*.jsonl.gz")):
        name = path.name.removesuffix(".jsonl.gz")
        model = "potion-base-8M" if name in LONG_SETS else "arctic-embed-s"
        embedder = CachedEmbedder(
            open_embedder(model, Resources(models=settings.models, threads=1)), cache / f"cache_{model}.db"
        )

        def seen(asked: Asked, right: list[bool], features: Floats, name: str = name) -> None:
            facts.extend((name, rank, asked.answerable, one) for rank, one in enumerate(right[:HITS]))
            rows.append(features[:HITS])

        recipe = RECIPES["balanced"]
        for _ in run_suite(
            folder, [recipe], embedder, sets=[name], most_questions=MOST_QUESTIONS.get(name), seen=seen
        ):
            pass
        print(name, len(facts), file=sys.stderr)
    return facts, np.concatenate(rows)


def main() -> None:
    """Collect, learn, and print."""
    facts, features = collected(Path(sys.argv[1]), Path(sys.argv[2]))
    sets = np.array([fact[0] for fact in facts])
    first = np.array([fact[1] == 0 for fact in facts])
    answerable = np.array([fact[2] for fact in facts])
    right = np.array([float(fact[3]) for fact in facts])
    # A set of many questions says more than one of few, but not in proportion.
    weights = np.array([1 / np.sqrt(np.sum(sets == name)) for name in sets])
    weights *= len(weights) / weights.sum()
    chance = np.zeros(len(right))
    print("| set | calibration error | right above wrong | answerable above not |\n|---|--:|--:|--:|")
    for name in dict.fromkeys(sets.tolist()):
        own, bias = fitted(features[sets != name], right[sets != name], weights[sets != name])
        of_set = sets == name
        chance[of_set] = 1 / (1 + np.exp(-(features[of_set] @ own + bias)))
        here = of_set & first
        good, bad = chance[here & (right > 0)], chance[here & (right == 0)]
        yes, no = chance[here & answerable], chance[here & ~answerable]
        print(
            f"| {name} | {calibration_error(chance[here], right[here]):.3f} | {auroc(good, bad):.2f} | "
            f"{f'{auroc(yes, no):.2f}' if no.size else ''} |"
        )
    print(f"| all, first hit | {calibration_error(chance[first], right[first]):.3f} | | |")
    print(f"| all, first ten | {calibration_error(chance, right):.3f} | | |")
    own, bias = fitted(features, right, weights)
    print("BIAS", round(bias, 3), "WEIGHTS", dict(zip(FEATURES, own.round(3).tolist(), strict=True)))


if __name__ == "__main__":
    main()
