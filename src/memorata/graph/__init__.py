"""What hangs together? Ranks, paths and communities of the graph of entities and memories.

Everything here is pure: a :class:`Graph` of numbered nodes goes in, numbers come out; seeds of randomness
and clocks are arguments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memorata._on_demand import on_demand

if TYPE_CHECKING:
    from memorata.graph.adjacency import Edges, Graph
    from memorata.graph.communities import Level, Partition, communities, leiden
    from memorata.graph.pagerank import (
        LocalRanking,
        Ranking,
        local_push,
        pagerank,
        personalised_pagerank,
        seed_weights,
    )
    from memorata.graph.paths import Path, PathSearch, Route, Step, find_paths, shortest_path
    from memorata.graph.summaries import (
        Community,
        Member,
        StatisticalSummariser,
        Summariser,
        Summary,
        TermStatistics,
        summarised,
    )

__getattr__, __dir__ = on_demand(
    __name__,
    {
        ".adjacency": ("Edges", "Graph"),
        ".communities": ("Level", "Partition", "communities", "leiden"),
        ".pagerank": (
            "LocalRanking",
            "Ranking",
            "local_push",
            "pagerank",
            "personalised_pagerank",
            "seed_weights",
        ),
        ".paths": ("Path", "PathSearch", "Route", "Step", "find_paths", "shortest_path"),
        ".summaries": (
            "Community",
            "Member",
            "StatisticalSummariser",
            "Summariser",
            "Summary",
            "TermStatistics",
            "summarised",
        ),
    },
)

__all__ = [
    "Community",
    "Edges",
    "Graph",
    "Level",
    "LocalRanking",
    "Member",
    "Partition",
    "Path",
    "PathSearch",
    "Ranking",
    "Route",
    "StatisticalSummariser",
    "Step",
    "Summariser",
    "Summary",
    "TermStatistics",
    "communities",
    "find_paths",
    "leiden",
    "local_push",
    "pagerank",
    "personalised_pagerank",
    "seed_weights",
    "shortest_path",
    "summarised",
]
