"""The graph's algorithms against networkx, on a million nodes, and on people whose departments are known.

Run ``python -m benchmarks.graph``, or one part of it with ``--only``. *ratios* times PageRank and label
propagation in turns with networkx, on graphs of 10,000 nodes. *million* asks a graph of a million nodes and
five million edges for two hops and personalised PageRank, and compares the latter with the exact
scores. *departments* looks how well communities match the departments of email-eu-core (Leskovec and Krevl's
SNAP), which no algorithm is shown; the folder is ``--emails``. Nothing is written unless told to by
``--markdown FILE``.
"""

from __future__ import annotations

import argparse
import gzip
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import benchmarks.one_thread  # noqa: F401 - before numpy is loaded

# isort: split

import networkx as nx
import numpy as np

from benchmarks.latency import asked, load, milliseconds
from benchmarks.timing import Rival, Subject, as_markdown, compared, shown, written
from memorata.model.checks import FloatArray, IntArray
from memorata_graph.adjacency import Adjacency
from memorata_graph.communities import communities, leiden
from memorata_graph.pagerank import local_push, pagerank, personalised_pagerank

EMAILS = Path(__file__).parents[2] / "shared" / "data" / "email-eu-core"
_NODES, _EDGES, _GROUPS = 10_000, 50_000, 100
_MANY_NODES, _MANY_EDGES = 1_000_000, 5_000_000
_QUESTIONS = 200
_EPSILON = 1e-5
_SEEDS = 10


def main(arguments: list[str] | None = None) -> int:
    """Run the parts asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.graph", description=__doc__)
    names = ("ratios", "million", "departments")
    parser.add_argument("--only", choices=names, help="one part instead of all")
    parser.add_argument(
        "--emails", type=Path, default=EMAILS, metavar="FOLDER", help="where edges and departments lie"
    )
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="also write the results to FILE")
    options = parser.parse_args(arguments)
    parts: list[str] = []
    if options.only in (None, "ratios"):
        lines = [line for subject in subjects() for line in compared(subject, _NODES)]
        shown(f"graph, {_NODES:,} nodes: how many times as long the others take", lines)
        parts.append(as_markdown("graph", lines))
    if options.only in (None, "million"):
        parts += reported(f"{_MANY_NODES:,} nodes, {_MANY_EDGES:,} edges", million())
    if options.only in (None, "departments"):
        parts += reported("departments of email-eu-core", departments(options.emails))
    if options.markdown:
        written(options.markdown, parts)
    return 0


def reported(title: str, lines: Iterable[str]) -> list[str]:
    """Print lines as they come, and return them as Markdown."""
    print(f"{title} (load {load():.1f})")
    listed = []
    for line in lines:
        print(f"  {line}", flush=True)
        listed.append(f"- {line}")
    return [f"### {title}", "", *listed, ""]


def subjects() -> Iterator[Subject]:
    """Yield what is timed against networkx, on groups of a hundred with four in five edges inside them."""
    sources, targets = grouped(np.random.default_rng(1))
    graph, both = Adjacency.of(_NODES, sources, targets), Adjacency.of(_NODES, sources, targets).both_ways
    pairs = list(zip(sources.tolist(), targets.tolist(), strict=True))
    directed, undirected = nx.DiGraph(), nx.Graph()
    for other in (directed, undirected):
        other.add_nodes_from(range(_NODES))
        other.add_edges_from(pairs)
    for name, ours, theirs in (("directed", graph, directed), ("undirected", both, undirected)):
        # networkx multiplies its tolerance by the number of nodes, so by default it stops rather early.
        for until, tolerance in (("stopped as networkx does", 1e-6 * _NODES), ("to 1e-6", 1e-6)):
            rival = partial(nx.pagerank, theirs, tol=tolerance / _NODES)
            yield Subject(
                f"PageRank, {name}, {until}",
                partial(pagerank, ours, tolerance=tolerance),
                lambda found: found.scores * _NODES,
                [Rival("networkx", rival, lambda found: np.array(list(found.values())) * _NODES, True)],
            )
    propagations: Mapping[str, Callable[[], Any]] = {
        "networkx, semi-synchronous": lambda: list(nx.community.label_propagation_communities(undirected)),
        "networkx, asynchronous": lambda: list(nx.community.asyn_lpa_communities(undirected, seed=1)),
        "networkx, fast": lambda: list(nx.community.fast_label_propagation_communities(undirected, seed=1)),
    }
    # Which of equal labels is taken is everybody's own affair, so partitions cannot be compared.
    rivals = [Rival(name, run, None, True) for name, run in propagations.items()]
    for name, settings in (
        ("label propagation, plain", {"levels": 1, "resolution": 0}),
        ("the same by modularity", {"levels": 1}),
        ("the same, three levels", {"levels": 3}),
    ):
        yield Subject(name, partial(communities, graph, **settings), lambda levels: levels[0].labels, rivals)


def grouped(random: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Return the edges of a graph of groups, each pair once and no loops."""
    size = _NODES // _GROUPS
    one = random.integers(0, _NODES, _EDGES)
    inside = one // size * size + random.integers(0, size, _EDGES)
    other = np.where(random.random(_EDGES) < 0.8, inside, random.integers(0, _NODES, _EDGES))
    pairs = np.unique(np.minimum(one, other) * _NODES + np.maximum(one, other))
    pairs = pairs[pairs // _NODES != pairs % _NODES]
    return pairs // _NODES, pairs % _NODES


def million() -> Iterator[str]:
    """Yield what a large graph costs, when all nodes are alike and when a few are hubs."""
    random = np.random.default_rng(2)
    for name, steepness in (("even", 1.0), ("with hubs", 3.0)):
        sources = random.integers(0, _MANY_NODES, _MANY_EDGES)
        targets = random.permutation(_MANY_NODES)[
            (_MANY_NODES * random.random(_MANY_EDGES) ** steepness).astype(np.intp)
        ]
        began = time.perf_counter()
        graph = Adjacency.of(_MANY_NODES, sources, targets).both_ways
        built = time.perf_counter() - began
        yield f"{name}: built in {built:.1f} s, largest degree {np.diff(graph.starts).max():,}"
        questions = [random.choice(_MANY_NODES, 3, replace=False) for _ in range(_QUESTIONS)]
        times = asked(
            {
                f"personalised PageRank by push to {_EPSILON:g}, 3 seeds": partial(_pushed, graph),
                "2 hops, all": partial(_around, graph),
            },
            questions,
        )
        for what, spread in times.items():
            yield (
                f"{name}: {what}: median {milliseconds(spread.median)}, p99 {milliseconds(spread.p99)}"
                f" (processor {milliseconds(spread.processor_median)})"
            )
        yield f"{name}: {_accuracy(graph, questions[0])}"


def _pushed(graph: Adjacency, seeds: IntArray) -> Any:  # noqa: ANN401 - only timed
    return local_push(graph, seeds, [3.0, 2.0, 1.0], epsilon=_EPSILON)


def _around(graph: Adjacency, seeds: IntArray) -> Any:  # noqa: ANN401 - only timed
    near = graph.around(seeds[:1], "out").nodes
    return graph.around(np.unique(near), "out")


def _accuracy(graph: Adjacency, seeds: IntArray) -> str:
    """Return how far one pushed answer is from the exact one."""
    near = _pushed(graph, seeds)
    lacking = personalised_pagerank(graph, seeds, [3.0, 2.0, 1.0], tolerance=1e-9).scores
    best = set(np.argsort(-lacking)[:100].tolist())
    found = set(near.nodes[np.argsort(-near.scores)[:100]].tolist())
    lacking[near.nodes] -= near.scores
    per_degree = (lacking / np.maximum(np.diff(graph.starts), 1)).max()
    return (
        f"push reaches {near.nodes.size:,} nodes and leaves {near.residual:.2f} unsaid; no score is off by "
        f"more than {lacking.max():.1e}, or {per_degree:.1e} per unit of degree; "
        f"{len(best & found)} of the best 100 are the same"
    )


def departments(folder: Path) -> Iterator[str]:
    """Yield how well communities match departments, as normalised mutual information, over some seeds."""
    with gzip.open(folder / "edges.txt.gz", "rt", encoding="utf-8") as file:
        edges = np.loadtxt(file, dtype=np.intp)
    labelled = np.loadtxt(folder / "departments.txt", dtype=np.intp)
    truth = np.empty(len(labelled), dtype=np.intp)
    truth[labelled[:, 0]] = labelled[:, 1]
    graph = Adjacency.of(len(truth), edges[:, 0], edges[:, 1])
    other = nx.Graph(edges.tolist())
    other.add_nodes_from(range(len(truth)))
    count = len(set(truth.tolist()))
    yield f"{len(truth):,} people, {len(edges):,} edges, {count} departments; {_SEEDS} seeds"
    plain = [communities(graph, levels=1, resolution=0, seed=seed)[0].labels for seed in range(_SEEDS)]
    yield _matched("label propagation, plain", plain, truth)
    runs = [communities(graph, seed=seed) for seed in range(_SEEDS)]
    for number in range(3):
        what = f"label propagation by modularity, level {number + 1}"
        yield _matched(what, [levels[number].labels for levels in runs], truth)
    yield _matched("Leiden", [leiden(graph, seed=seed).labels for seed in range(_SEEDS)], truth)
    rivals: Mapping[str, Callable[[int], Any]] = {
        "networkx label propagation": lambda seed: nx.community.asyn_lpa_communities(other, seed=seed),
        "networkx Louvain": lambda seed: nx.community.louvain_communities(other, seed=seed),
    }
    for name, found in rivals.items():
        yield _matched(name, [_labels(found(seed), len(truth)) for seed in range(_SEEDS)], truth)


def normalised_mutual_information(one: IntArray, other: IntArray) -> float:
    """Return 2·I / (H + H): 1 for the same partition, 0 for partitions that say nothing about each other."""
    table = np.zeros((one.max() + 1, other.max() + 1))
    np.add.at(table, (one, other), 1.0 / one.size)
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    shared = _entropy(rows) + _entropy(columns) - _entropy(table.ravel())
    return float(2 * shared / (_entropy(rows) + _entropy(columns)))


def _entropy(shares: FloatArray) -> float:
    shares = shares[shares > 0]
    return float(-(shares * np.log(shares)).sum())


def _matched(what: str, found: list[IntArray], truth: IntArray) -> str:
    scores = [normalised_mutual_information(labels, truth) for labels in found]
    count = np.mean([labels.max() + 1 for labels in found])
    return f"{what}: NMI {np.mean(scores):.3f} ± {np.std(scores):.3f}, {count:.0f} communities"


def _labels(parts: Iterable[Iterable[int]], count: int) -> IntArray:
    labels = np.empty(count, dtype=np.intp)
    for number, part in enumerate(parts):
        labels[list(part)] = number
    return labels


if __name__ == "__main__":
    sys.exit(main())
