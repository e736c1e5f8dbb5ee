"""The graph of Memorata: entities and relations, paths, PageRank, communities, places and times."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memorata.extend import on_demand

if TYPE_CHECKING:
    from memorata_graph.graph import Graph

__getattr__, __dir__ = on_demand(__name__, {".graph": ("Graph",)})

__all__ = ["Graph"]
