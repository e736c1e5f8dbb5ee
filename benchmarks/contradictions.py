"""Contradictions between pairs of texts: the plain rule beside the score, by source; the fit of its weights.

Run ``python -m benchmarks.contradictions PAIRS``, where PAIRS is a file of JSON lines (also ``.gz``) with
``first``, ``second``, ``contradicts``, ``source``, ``subtype`` and ``lang``. Two kinds of figures:

* as it is: the weights in :mod:`memorata.dedupe.contradiction_score`, which were fitted to these pairs;
* held out: for each source the weights are fitted to all others. Templates of one language are a source; of
  the English ones, each sub-type is.

``--fit`` prints weights fitted to all pairs: logistic regression on the best pair of clauses of each pair
(chosen by the weights so far, four rounds), with a quadratic penalty around weights set by hand, each source
counting by the root of its size. The pairs of ``tests/dedupe/labelled_contradictions.tsv`` are fitted too.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from memorata.dedupe.contradiction import contradiction
from memorata.dedupe.contradiction_score import EVIDENCE, FEATURES, NOTED, SUPERSEDES, assess, features

Floats = npt.NDArray[np.float64]
LABELLED = Path(__file__).parents[1] / "tests" / "dedupe" / "labelled_contradictions.tsv"
OWN = "labelled by hand"
ROUNDS = 4
TELLING = [FEATURES.index(name) for name in EVIDENCE]
PENALTY = 0.1 / len(FEATURES)
STIFF = {"pairs": 1.0, "unlike": 0.1, "same_me": 0.02, "other_before": 0.02}
"""Penalties of features that tell a source rather than a contradiction."""
PRIOR = {
    "bias": -1.5, "rule": 3.0, "attribute_value": 1.5, "weak_value": 1.0, "class_denied": 2.0, "number": 1.5,
    "number_only": 2.0, "negated": 2.0, "sign": 2.0, "changed": 1.0, "ended": 0.5, "opposite": 1.5,
    "never": 1.0, "kind": 0.5, "overlap": 0.5, "same_name": 0.3, "several": -2.0, "attribute_same": -2.0,
    "planned": -2.0, "pairs": -0.3, "other_before": -0.3, "other_kind": -2.0,
    "other_preposition": -1.5, "plain_words": -2.0, "day_value": -1.0, "count": 1.5,
    "running": 1.5, "covered": 1.0, "topic_changed": 2.5, "value_ended": 2.0, "replaced": 1.5, "prefers": 2.0,
    "corrects": 2.5,
}  # fmt: skip


@dataclass(frozen=True)
class Pair:
    """Two texts, whether the second contradicts the first, and where they come from."""

    first: str
    second: str
    contradicts: bool
    source: str
    group: str
    rows: Floats
    speakers: tuple[str, str] = ("", "")


def read(path: Path) -> list[Pair]:
    """Return the pairs of a file, and those labelled by hand, with their features."""
    read_bytes = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    pairs = [_pair(json.loads(line)) for line in read_bytes.decode("utf-8").splitlines()]
    for line in LABELLED.read_text("utf-8").splitlines():
        label, first, second = line.split("\t")
        pairs.append(Pair(first, second, label == "yes", OWN, OWN, _rows(first, second)))
    return pairs


def _pair(line: dict[str, str | bool]) -> Pair:
    first, second, source = str(line["first"]), str(line["second"]), str(line["source"])
    group = source
    if source.startswith("own templates"):
        source = f"templates {line['lang']}"
        group = f"{source} {line['subtype']}" if line["lang"] == "en" else source
    speakers = str(line.get("first_speaker") or ""), str(line.get("second_speaker") or "")
    rows = _rows(first, second, speakers)
    return Pair(first, second, bool(line["contradicts"]), source, group, rows, speakers)


def _rows(first: str, second: str, speakers: tuple[str, str] = ("", "")) -> Floats:
    return np.array(features(first, second, speakers)).reshape(-1, len(FEATURES))


def fit(pairs: list[Pair]) -> Floats:
    """Return weights fitted to pairs."""
    prior = np.array([PRIOR.get(name, 0.0) for name in FEATURES])
    penalty = np.array([STIFF.get(name, PENALTY) for name in FEATURES])
    sizes = Counter(pair.source for pair in pairs)
    told = [pair for pair in pairs if len(pair.rows)]
    truth = np.array([pair.contradicts for pair in told], float)
    share = np.array([1.0 / np.sqrt(sizes[pair.source]) for pair in told])
    share /= share.sum()
    weights = prior.copy()
    for _ in range(ROUNDS):
        best = np.stack([pair.rows[np.argmax(pair.rows @ weights)] for pair in told])
        weights = _newton(best, truth, share, weights, prior, penalty)
    return weights


def _newton(
    rows: Floats, truth: Floats, share: Floats, weights: Floats, prior: Floats, penalty: Floats
) -> Floats:
    def loss(at: Floats) -> float:
        odds = rows @ at
        fitted = share @ (np.logaddexp(0.0, odds) - truth * odds)
        return float(fitted + 0.5 * penalty @ (at - prior) ** 2)

    for _ in range(40):
        chance = 1.0 / (1.0 + np.exp(-np.clip(rows @ weights, -30, 30)))
        slope = rows.T @ (share * (chance - truth)) + penalty * (weights - prior)
        curve = (rows * (share * chance * (1 - chance))[:, None]).T @ rows + np.diag(penalty)
        step, length = np.linalg.solve(curve, slope), 1.0
        while (
            loss(weights - length * step) > loss(weights) - 1e-4 * length * (slope @ step) and length > 1e-6
        ):
            length /= 2
        weights = weights - length * step
    return weights


def score(pair: Pair, weights: Floats) -> float:
    """Return the score of a pair under weights."""
    telling = pair.rows[pair.rows[:, TELLING].any(axis=1)]
    return float(1.0 / (1.0 + np.exp(-np.max(telling @ weights)))) if len(telling) else 0.0


def held_out(pairs: list[Pair]) -> Floats:
    """Return the score of each pair under weights that were fitted without its source."""
    scores = np.zeros(len(pairs))
    for group in sorted({pair.group for pair in pairs}):
        weights = fit([pair for pair in pairs if pair.group != group])
        for place, pair in enumerate(pairs):
            if pair.group == group:
                scores[place] = score(pair, weights)
    return scores


def recall_at(truth: npt.NDArray[np.bool_], scores: Floats, precision: float) -> float:
    """Return the highest recall of a threshold whose precision is at least `precision`."""
    best = 0.0
    for threshold in np.unique(scores[scores > 0]):
        chosen = scores >= threshold
        if truth[chosen].mean() >= precision:
            best = max(best, float(truth[chosen].sum() / max(1, truth.sum())))
    return best


def _line(name: str, truth: npt.NDArray[np.bool_], rule: npt.NDArray[np.bool_], scores: Floats) -> str:
    cells = [f"{name:26s}", f"{len(truth):5d}", f"{truth.sum():5d}"]
    for chosen in (rule, scores >= NOTED, scores >= SUPERSEDES):
        right = int((chosen & truth).sum())
        precision = f"{right / chosen.sum():.2f}" if chosen.any() else "  – "
        recall, f1 = right / max(1, truth.sum()), 2 * right / max(1, chosen.sum() + truth.sum())
        cells.append(f"{precision} / {recall:.2f} / {f1:.2f}")
    cells.append(f"{recall_at(truth, scores, 0.9):.2f}")
    return " | ".join(cells)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.contradictions", description=__doc__)
    parser.add_argument("pairs", type=Path, help="JSON lines of pairs")
    parser.add_argument("--fit", action="store_true", help="print weights fitted to all pairs")
    options = parser.parse_args()
    pairs = read(options.pairs)
    if options.fit:
        for name, weight in zip(FEATURES, fit(pairs), strict=True):
            print(f'    "{name}": {weight:.2f},')
        return
    truth = np.array([pair.contradicts for pair in pairs])
    rule = np.array([contradiction(pair.first, pair.second) is not None for pair in pairs])
    as_it_is = np.array([assess(pair.first, pair.second, speakers=pair.speakers).score for pair in pairs])
    sources = np.array([pair.source for pair in pairs])
    templates = np.char.startswith(sources, "templates")
    given = sources != OWN
    for title, scores in (("held out", held_out(pairs)), ("as it is", as_it_is)):
        print(f"\n{title}: precision / recall / F1 of the rule, noting, superseding; recall at precision 0.9")
        for name, mask in [
            ("all", given), ("templates", templates), ("not templates", given & ~templates),
            *((source, sources == source) for source in sorted(set(sources))),
        ]:  # fmt: skip
            print(_line(name, truth[mask], rule[mask], scores[mask]))
    short = [pair for pair in pairs if len(pair.first) + len(pair.second) < 200]
    start = time.process_time()
    for pair in short:
        assess(pair.first + " ", pair.second + " ")
    spent = (time.process_time() - start) / len(short) * 1e6
    print(f"\nprocessor time of a short pair, read for the first time: {spent:.0f} µs")


if __name__ == "__main__":
    main()
