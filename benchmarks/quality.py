"""How good recall is on real data: every shipped recipe, and our default without each of its levers.

The sets are read where they lie, in their official formats, and never copied; see the README of the
evaluation data for what each is. Vectors are kept in a cache, so that a second run takes minutes. The rows of
one table were computed in one run of this program, on the same store.

Run ``python -m benchmarks.quality --cache vectors.db``; ``--only locomo`` for one set.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rich.console import Console

from memorata._environment import models_folder
from memorata.embed import Resources, open_embedder
from memorata.engine import RECIPES, Recipe
from memorata_lab.evaluate.cached_embedder import CachedEmbedder
from memorata_lab.evaluate.dataset import Dataset, Question
from memorata_lab.evaluate.datasets import open_dataset
from memorata_lab.evaluate.run_file import read_run
from memorata_lab.evaluate.runner import run
from memorata_lab.evaluate.scores import Scores, compare, score

FOLDER = Path(__file__).parents[2] / "shared" / "data"

WITHOUT: Mapping[str, Mapping[str, Any]] = {
    "words read alone": {"context_before": 0.0, "context_after": 0.0, "complete": True},
    "context after, too": {"context_after": 0.3},
    "no session": {"session_weight": 0.0},
    "assistants count fully": {"machine_weight": 1.0},
    "no shared names": {"graph": "none"},
    "no time": {"temporal": "none"},
    "no date words": {"dates_weight": 0.0},
    "no speaker": {"speaker_weight": 0.0, "speakers_apart": False},
    "speakers named in content, too": {"speakers_apart": False},
    "speakers named in meaning, too": {"speaker_share": 1.0},
    "no roots": {"roots_weight": 0.0},
    "no quality": {"quality": "none"},
    "scales from the pool": {"anchored": False},
    "meaning 0.4": {"vector_weight": 0.4},
    "meaning 0.6": {"vector_weight": 0.6},
    "k1 1.2, b 0.75": {"k1": 1.2, "b": 0.75},
    "with a forgetting curve": {"fading": "half_life", "fading_weight": 0.2, "fading_days": 30.0},
}
"""The levers of the default, each taken away or turned by itself."""


@dataclass(frozen=True, slots=True)
class Set:
    """A data set, what is ranked in it, and what is measured."""

    reader: str
    path: str
    measures: Sequence[str]
    granularity: str = "turn"
    embedder: str = "arctic-embed-s"
    options: Mapping[str, Any] = field(default_factory=dict)


SETS: Mapping[str, Set] = {
    "locomo": Set("locomo", "locomo_dev.json.gz", ("any@5", "any@10", "mrr", "ndcg@10")),
    "locomo-sessions": Set("locomo", "locomo_dev.json.gz", ("any@5", "all@5", "mrr"), "session"),
    "longmemeval": Set(
        "longmemeval", "longmemeval_s_dev.json.gz", ("any@5", "all@5", "mrr"), "session", "potion-base-8M"
    ),
    "longmemeval-arctic": Set(
        "longmemeval", "longmemeval_s_dev.json.gz", ("any@5", "all@5", "mrr"), "session"
    ),
    "longmemeval-turns": Set(
        "longmemeval", "longmemeval_s_dev.json.gz", ("any@5", "all@10", "mrr"), "turn", "potion-base-8M"
    ),
    "longmemeval-user": Set(
        "longmemeval",
        "longmemeval_s_dev.json.gz",
        ("any@5", "all@5", "mrr"),
        "session",
        options={"turns": "user"},
    ),
    "musique": Set("multihop", "musique_200.jsonl.gz", ("recall@5", "recall@10")),
    "cranfield": Set("smart", "cranfield", ("ndcg@10", "map")),
    "russian": Set("facts", "russian_facts.tsv.gz", ("recall@1", "recall@10")),
}


def measured(
    chosen: Set, data: Path, recipes: Sequence[Recipe], cache: Path
) -> tuple[Dataset, dict[str, Scores]]:
    """Run the recipes on a set, and return the scores of each."""
    dataset = open_dataset(chosen.reader, data / chosen.path, **chosen.options)
    resources = Resources(
        models=models_folder(os.environ, sys.platform, Path.home()),
        threads=None,
    )
    embedder = CachedEmbedder(open_embedder(chosen.embedder, resources), cache)
    with tempfile.TemporaryDirectory() as folder:
        files = run(dataset, recipes, embedder=embedder, folder=Path(folder), granularity=chosen.granularity)
        questions: list[Question] = [each for stack in dataset.haystacks() for each in stack.questions]
        found = {
            file.recipe: score(read_run(file.path), questions, chosen.measures, chosen.granularity)
            for file in files
        }
    embedder.close()
    return dataset, found


def rows(chosen: Set, found: Mapping[str, Scores], baseline: str, *, ablation: bool) -> Iterator[str]:
    """Yield the lines of a Markdown table: means in percent, with their interval or difference from ours."""
    yield "| | " + " | ".join(chosen.measures) + " | ms p50 |"
    yield "|---" * (len(chosen.measures) + 2) + "|"
    for name, scores in found.items():
        cells = []
        versus = None if name == baseline or not ablation else compare(scores, found[baseline])
        for measure in chosen.measures:
            mean = scores.measures[measure].micro
            cell = f"{100 * mean.mean:.1f}"
            if versus is None:
                cell += f" ({100 * mean.low:.1f}–{100 * mean.high:.1f})"
            else:
                gap = versus.measures[measure].micro
                cell += f" ({100 * gap.mean:+.1f}: {100 * gap.low:+.1f} to {100 * gap.high:+.1f})"
            if measure.startswith("ndcg") and len(scores.kinds) > 1:
                cell += f", macro {100 * scores.measures[measure].macro.mean:.1f}"
            cells.append(cell)
        latency = "" if scores.latency is None else f"{scores.latency.p50:.2f}"
        yield f"| {name} | " + " | ".join(cells) + f" | {latency} |"


def by_kind(measure: str, found: Mapping[str, Scores], names: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a Markdown table of one measure by kind of question."""
    kinds = list(next(iter(found.values())).measures[measure].kinds)
    yield f"| {measure} | " + " | ".join(kinds) + " |"
    yield "|---" * (len(kinds) + 1) + "|"
    for name in names:
        means = found[name].measures[measure].kinds
        yield f"| {name} | " + " | ".join(f"{100 * means[kind].mean:.1f}" for kind in kinds) + " |"


def report(name: str, data: Path, cache: Path, *, ablation: bool, everything: bool) -> Iterator[str]:
    """Yield the Markdown of one set: every shipped recipe, then ours without each lever."""
    chosen = SETS[name]
    ours = RECIPES["balanced"]
    peers = (
        list(RECIPES.values()) if everything else [RECIPES[each] for each in ("balanced", "bm25", "vector")]
    )
    turned = (
        [replace(ours.changed(changes), name=label) for label, changes in WITHOUT.items()] if ablation else []
    )
    dataset, found = measured(chosen, data, [*peers, *turned], cache)
    counts = found["balanced"].counts
    dropped = ", ".join(f"{count} {reason}" for reason, count in dataset.dropped.items()) or "none"
    yield f"### {name}: {dataset.name}, by {chosen.granularity}, {chosen.embedder}"
    yield ""
    yield f"{counts.measured} questions measured, {counts.unanswerable} unanswerable, left out: {dropped}."
    yield ""
    yield from rows(chosen, {each.name: found[each.name] for each in peers}, "balanced", ablation=False)
    yield ""
    if len(found["balanced"].kinds) > 1:
        for measure in chosen.measures:
            yield from by_kind(measure, found, [each.name for each in peers][:4])
            yield ""
    if turned:
        yield "`balanced` with one lever turned; in brackets the difference with its 95 % interval:"
        yield ""
        shown = {"balanced": found["balanced"]} | {each.name: found[each.name] for each in turned}
        yield from rows(chosen, shown, "balanced", ablation=True)
        yield ""


def main() -> None:
    """Measure, and print Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=FOLDER, help="the folder of the evaluation data")
    parser.add_argument("--cache", type=Path, required=True, help="the file that keeps vectors")
    parser.add_argument("--only", nargs="*", choices=list(SETS), default=list(SETS))
    parser.add_argument("--no-ablation", action="store_true", help="leave out the tables of levers")
    parser.add_argument("--few", action="store_true", help="only our default, bm25 and vector as recipes")
    arguments = parser.parse_args()
    out = Console(file=sys.stdout, width=500, highlight=False, markup=False, soft_wrap=True)
    for name in arguments.only:
        for line in report(
            name,
            arguments.data,
            arguments.cache,
            ablation=not arguments.no_ablation,
            everything=not arguments.few,
        ):
            out.print(line)


if __name__ == "__main__":
    main()
