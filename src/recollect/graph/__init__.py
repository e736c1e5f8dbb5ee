"""What hangs together? Ranks, paths, neighbourhoods and communities of the graph of entities and memories.

Everything here is pure: a :class:`Graph` of numbered nodes goes in, numbers come out; seeds of randomness
and clocks are arguments.
"""

from recollect.graph.adjacency import Edges, Graph
from recollect.graph.communities import Level, Partition, communities
from recollect.graph.leiden import leiden
from recollect.graph.modularity import modularity
from recollect.graph.neighbourhood import Neighbourhood, neighbourhood
from recollect.graph.pagerank import Ranking, pagerank
from recollect.graph.paths import Path, PathSearch, Step, find_paths
from recollect.graph.personalised import LocalRanking, local_push, personalised_pagerank
from recollect.graph.propagation import Spread, spread
from recollect.graph.seeds import seed_weights
from recollect.graph.shortest import Route, shortest_path
from recollect.graph.summaries import (
    Community,
    Member,
    StatisticalSummariser,
    Summariser,
    Summary,
    TermStatistics,
    summarised,
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
