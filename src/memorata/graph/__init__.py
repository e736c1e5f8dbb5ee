"""What hangs together? Ranks, paths, neighbourhoods and communities of the graph of entities and memories.

Everything here is pure: a :class:`Graph` of numbered nodes goes in, numbers come out; seeds of randomness
and clocks are arguments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memorata._on_demand import on_demand

if TYPE_CHECKING:
    from memorata.graph.adjacency import Edges, Graph
    from memorata.graph.communities import Level, Partition, communities
    from memorata.graph.leiden import leiden
    from memorata.graph.modularity import modularity
    from memorata.graph.neighbourhood import Neighbourhood, neighbourhood
    from memorata.graph.pagerank import Ranking, pagerank
    from memorata.graph.paths import Path, PathSearch, Step, find_paths
    from memorata.graph.personalised import LocalRanking, local_push, personalised_pagerank
    from memorata.graph.propagation import Spread, spread
    from memorata.graph.seeds import seed_weights
    from memorata.graph.shortest import Route, shortest_path
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
        ".communities": ("Level", "Partition", "communities"),
        ".leiden": ("leiden",),
        ".modularity": ("modularity",),
        ".neighbourhood": ("Neighbourhood", "neighbourhood"),
        ".pagerank": ("Ranking", "pagerank"),
        ".paths": ("Path", "PathSearch", "Step", "find_paths"),
        ".personalised": ("LocalRanking", "local_push", "personalised_pagerank"),
        ".propagation": ("Spread", "spread"),
        ".seeds": ("seed_weights",),
        ".shortest": ("Route", "shortest_path"),
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
    "Neighbourhood",
    "Partition",
    "Path",
    "PathSearch",
    "Ranking",
    "Route",
    "Spread",
    "StatisticalSummariser",
    "Step",
    "Summariser",
    "Summary",
    "TermStatistics",
    "communities",
    "find_paths",
    "leiden",
    "local_push",
    "modularity",
    "neighbourhood",
    "pagerank",
    "personalised_pagerank",
    "seed_weights",
    "shortest_path",
    "spread",
    "summarised",
]
