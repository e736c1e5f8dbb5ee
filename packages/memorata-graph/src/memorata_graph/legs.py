"""The legs of the graph: a random walk from the best candidates, paths from named entities, communities."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

import numpy as np

from memorata.extend.graph import BM25, MENTIONS, NEXT, SUPERSEDES, LexicalQuery, NamespaceIndex, Terms
from memorata.extend.model import FloatArray, IntArray, Memory, folded
from memorata.extend.recall import (
    NO_CANDIDATES,
    Combination,
    LegCandidates,
    RecallContext,
    Recipe,
    not_excluded,
)
from memorata_graph.namespace_graph import Graphs, NamespaceGraph
from memorata_graph.pagerank import local_push, personalised_pagerank, seed_weights
from memorata_graph.paths import Path, find_paths
from memorata_graph.summaries import Partitioning, groups_of, members_of, summaries


def leg_detail(notes: Mapping[int, Mapping[str, float]]) -> Callable[[IntArray], Combination]:
    """Return a leg's detail from the parts of each slot's score, by name."""

    def detail(slots: IntArray) -> Combination:
        own = [notes[slot] for slot in slots.tolist()]
        names = list(dict.fromkeys(name for parts in own for name in parts))
        return Combination.of(
            "sum", names, np.array([[parts.get(name, 0.0) for parts in own] for name in names])
        )

    return detail


def graph_of(context: RecallContext) -> NamespaceGraph:
    """Return the graph of the namespace of a recall; building it may take seconds."""
    assert context.runtime is not None  # a replay of the log finds nothing anew
    return context.runtime.part(Graphs).at(context.namespace, context.now, context.as_of)


_WALK_SHARE: Final = 0.5
"""Weight of the walk; the cosine has the rest."""
_WALK_POOL: Final = 100
"""Most candidates of the leg."""
_MAX_ENTITY_MEMORIES: Final = 20
"""Most memories of an entity that its vector is averaged from."""
_MAX_EXACT_EDGES: Final = 50_000
"""Above this many edges only the neighbourhood of the seeds is walked."""
_EPSILON: Final = 1e-6


def walk_leg(recipe: Recipe, context: RecallContext, slots: IntArray, scores: FloatArray) -> LegCandidates:
    """Return the memories that a walk from the best candidates' entities reaches."""
    if not slots.size or scores[0] <= 0:
        return NO_CANDIDATES
    graph = graph_of(context)
    nodes = graph.nodes_of(slots[: recipe.graph_seeds])
    mentioned = graph.graph.around(nodes[nodes >= 0], "out", [MENTIONS]).nodes
    if not mentioned.size:
        return NO_CANDIDATES
    seeds = np.unique(mentioned)
    walked = _walked(recipe, graph, seeds, _weights(recipe, graph, context, seeds))
    reached = np.flatnonzero(walked)
    owners = graph.slots_of(reached)
    memories = not_excluded(context, owners[owners >= 0])
    if not memories.size:
        return NO_CANDIDATES
    visits = walked[graph.nodes_of(memories)]
    nearest = np.lexsort((memories, -visits))[:_WALK_POOL]
    memories, visits = memories[nearest], visits[nearest] / visits.max()
    close = _cosines(context, memories)
    total = _WALK_SHARE * visits + (1 - _WALK_SHARE) * close
    order = (-total).argsort(kind="stable")
    ordered = memories[order]
    notes = _notes(graph, walked, ordered, _WALK_SHARE * visits[order], (1 - _WALK_SHARE) * close[order])
    return LegCandidates(ordered, total[order], leg_detail(notes))


def _weights(recipe: Recipe, graph: NamespaceGraph, context: RecallContext, seeds: IntArray) -> FloatArray:
    """Return the share of the walk that begins at each seed."""
    own, of_memories = np.zeros(seeds.size), np.zeros(seeds.size)
    if context.vector is not None:
        mentions = graph.graph.around(seeds, "in", [MENTIONS])
        owners, slots = mentions.origin, graph.slots_of(mentions.nodes)
        allowed = np.isin(slots, context.view.without(np.unique(slots), ()))
        owners, slots = owners[allowed], slots[allowed]
        order = np.lexsort((slots, owners))
        owners, slots = owners[order], slots[order]
        read = np.arange(owners.size) - np.searchsorted(owners, owners) < _MAX_ENTITY_MEMORIES
        owners, (slots, back) = owners[read], np.unique(slots[read], return_inverse=True)
        counts = np.maximum(np.bincount(owners, minlength=seeds.size), 1)
        close = _cosines(context, slots)
        of_memories = np.bincount(owners, close[back], minlength=seeds.size) / counts
        sums = np.zeros((seeds.size, context.vector.size))
        if owners.size:
            present, starts = np.unique(owners, return_index=True)
            sums[present] = np.add.reduceat(context.view.vectors(slots)[back], starts, axis=0)
        sizes = np.linalg.norm(sums, axis=1) * np.linalg.norm(context.vector)
        np.divide(sums @ context.vector, sizes, out=own, where=sizes > 0)
        own, of_memories = np.clip(own, -1.0, 1.0), np.clip(of_memories, -1.0, 1.0)
    return seed_weights(
        own,
        of_memories,
        _degrees(graph, seeds),
        entity_weight=recipe.seed_entity_weight,
        memory_weight=recipe.seed_memory_weight,
        degree_weight=recipe.seed_degree_weight,
    )


def _walked(recipe: Recipe, graph: NamespaceGraph, seeds: IntArray, weights: FloatArray) -> FloatArray:
    """Return the probability of the walk for every node."""
    edges = graph.graph.both_ways
    if edges.edges <= _MAX_EXACT_EDGES:
        exact = personalised_pagerank(
            edges, seeds, weights, damping=recipe.walk_damping, iterations=recipe.walk_iterations
        )
        return exact.scores
    near = local_push(edges, seeds, weights, damping=recipe.walk_damping, epsilon=_EPSILON)
    scores = np.zeros(graph.graph.nodes)
    scores[near.nodes] = near.scores
    return scores


def _degrees(graph: NamespaceGraph, nodes: IntArray) -> IntArray:
    """Return how many edges each of some nodes has; a loop counts once."""
    return np.diff(graph.graph.both_ways.starts)[nodes]


def _notes(
    graph: NamespaceGraph, walked: FloatArray, slots: IntArray, shares: FloatArray, close: FloatArray
) -> dict[int, dict[str, float]]:
    """Return the parts of each memory's score: closeness, and the entities on the way of the walk.

    The walk's part is divided among entities in proportion to what each passes on to a neighbour.
    """
    edges = graph.graph.around(graph.nodes_of(slots), "out", [MENTIONS])
    order = np.lexsort((edges.nodes, edges.origin))
    origin, (ends, back) = edges.origin[order], np.unique(edges.nodes[order], return_inverse=True)
    passed = (walked[ends] / np.maximum(_degrees(graph, ends), 1))[back] if ends.size else np.zeros(0)
    totals = np.bincount(origin, passed, minlength=slots.size)
    names = {node: f"by way of {graph.name_of(node)}" for node in ends.tolist()}
    notes: dict[int, dict[str, float]] = {
        slot: {"closeness": value} for slot, value in zip(slots.tolist(), close.tolist(), strict=True)
    }
    for at, node, value in zip(origin.tolist(), ends[back].tolist(), passed.tolist(), strict=True):
        if value:
            notes[int(slots[at])][names[node]] = float(shares[at]) * value / float(totals[at])
    for at in np.flatnonzero(totals == 0).tolist():
        notes[int(slots[at])]["by way of its neighbours"] = float(shares[at])
    return notes


def _cosines(context: RecallContext, slots: IntArray) -> FloatArray:
    if context.vector is None:
        return np.zeros(slots.size)
    return np.clip(context.view.score(context.vector, slots).scores, -1.0, 1.0)


_MAX_NODES: Final = 200
_MAX_PATHS: Final = 200
_PATHS_POOL: Final = 100
"""Most candidates of the leg."""
_MAX_NAME_WORDS: Final = 6
"""Most words of a name that is looked for in a query."""
_WORD: Final = re.compile(r"[^\s,;:!?\"“”„«»()\[\]]+")
_POSSESSIVE: Final = re.compile(r"['’]s?$")


def path_leg(recipe: Recipe, context: RecallContext, slots: IntArray, scores: FloatArray) -> LegCandidates:
    """Return the memories of entities that paths from the query's entities lead to."""
    graph = graph_of(context)
    starts = named_entities(graph, context.query.text)[: recipe.graph_seeds]
    if not starts:
        return NO_CANDIDATES
    reached, ways = _reached(recipe, graph, starts)
    entities = np.array(list(reached), np.intp)
    prior = graph.ranks[entities]
    worth = np.array(list(reached.values())) * (1 + prior / prior.max()) / 2
    edges = graph.graph.around(entities, "in", [MENTIONS])
    # Entity by entity: a sum has the same last bit however the graph has grown.
    order = np.argsort(edges.origin, kind="stable")
    origin = edges.origin[order]
    candidates, back = np.unique(graph.slots_of(edges.nodes[order]), return_inverse=True)
    total: FloatArray = np.bincount(back, worth[origin], minlength=candidates.size).astype(np.float64)
    kept = np.isin(candidates, not_excluded(context, candidates))
    if not kept.any():
        return NO_CANDIDATES
    # Memories of the same entities are equally far; the cosine then decides.
    close = np.zeros(candidates.size)
    if context.vector is not None:
        close = context.view.score(context.vector, candidates).scores
    order = np.lexsort((candidates, -close, -total))
    order = order[kept[order]][:_PATHS_POOL]
    notes: dict[int, dict[str, float]] = {slot: {} for slot in candidates[order].tolist()}
    for at, slot in zip(origin.tolist(), candidates[back].tolist(), strict=True):
        if slot in notes:
            notes[slot][ways[int(entities[at])]] = float(worth[at])
    return LegCandidates(candidates[order], total[order], leg_detail(notes))


def named_entities(graph: NamespaceGraph, text: str) -> list[int]:
    """Return the nodes of the entities that a text names, longer names before the words in them."""
    words = [_POSSESSIVE.sub("", word).rstrip(".") for word in _WORD.findall(text)]
    free = [True] * len(words)
    nodes: dict[int, int] = {}
    for length in range(min(_MAX_NAME_WORDS, len(words)), 0, -1):
        for start in range(len(words) - length + 1):
            span = slice(start, start + length)
            if not all(free[span]):
                continue
            node = graph.entity_node(" ".join(words[span]))
            if node is not None:
                nodes.setdefault(node, start)
                free[span] = [False] * length
    return sorted(nodes, key=nodes.__getitem__)


def _reached(
    recipe: Recipe, graph: NamespaceGraph, starts: list[int]
) -> tuple[dict[int, float], dict[int, str]]:
    """Return the entities on paths from the starts, the score of each, and the path to it in words."""
    types = [name for name in graph.graph.type_names if name not in (NEXT, SUPERSEDES)]
    reached = dict.fromkeys(starts, 1.0)
    ways = {node: graph.name_of(node) or "" for node in starts}
    for start in starts:
        search = find_paths(
            graph.graph,
            start,
            depth=recipe.path_depth,
            nodes=_MAX_NODES,
            paths=_MAX_PATHS,
            types=types,
            decay=recipe.path_decay,
        )
        for path in search.paths:
            for at, step in enumerate(path.steps):
                score = recipe.path_decay ** (at + 1)
                if graph.name_of(step.node) is not None and score > reached.get(step.node, 0.0):
                    reached[step.node] = score
                    ways[step.node] = _path_text(graph, path, at)
    return reached, ways


def _path_text(graph: NamespaceGraph, path: Path, last: int) -> str:
    """Return a path up to a step in words: entities and relations, without memories."""
    text = graph.name_of(path.start) or ""
    for step in path.steps[: last + 1]:
        name = graph.name_of(step.node)
        if name is None:
            continue
        arrow = "—" if step.type == MENTIONS else f"—{step.type}→" if step.forward else f"←{step.type}—"
        text += f" {arrow} {name}"
    return text


IN_SUMMARY: Final = 2.0
IN_KEYWORDS: Final = 1.5
_MAX_COMMUNITIES: Final = 5
"""Most communities whose memories become candidates."""
_COMMUNITY_POOL: Final = 100
"""Most candidates of the leg."""
_SHOWN_KEYWORDS: Final = 3
"""The number of keywords by which an explanation names a community."""


class _Group(NamedTuple):
    """A community: its memories, the keywords of its summary, and the words of the names in it."""

    slots: IntArray
    terms: tuple[str, ...]
    names: frozenset[str]


def community_leg(
    recipe: Recipe, context: RecallContext, slots: IntArray, scores: FloatArray
) -> LegCandidates:
    """Return the memories of the communities that match a query."""
    if not context.query.terms:
        return NO_CANDIDATES
    runtime, graph = context.runtime, graph_of(context)
    assert runtime is not None

    def groups_of_all() -> list[_Group]:
        # Cached for later queries, so the restrictions of this one must not apply.
        with runtime.store.view(context.namespace, context.now, as_of=context.as_of) as view:
            return _groups(graph, view, runtime.terms_of)

    groups = graph.once("groups", groups_of_all)
    terms, words = set(context.query.terms), set(folded(context.query.text).split())
    worth = [points(terms, words, group.terms, group.names) for group in groups]
    best = sorted((-value, place) for place, value in enumerate(worth) if value)[:_MAX_COMMUNITIES]
    if not best:
        return NO_CANDIDATES
    members = [groups[place].slots for _, place in best]
    owner = np.repeat([place for _, place in best], [member_slots.size for member_slots in members])
    total = np.repeat([-value for value, _ in best], [member_slots.size for member_slots in members])
    candidates = np.concatenate(members)
    kept = np.isin(candidates, _sharing(context)) & np.isin(
        candidates, not_excluded(context, np.unique(candidates))
    )
    if not kept.any():
        return NO_CANDIDATES
    candidates, owner, total = candidates[kept], owner[kept], total[kept]
    # Memories of one community have the same score; the cosine then decides.
    close = np.zeros(candidates.size)
    if context.vector is not None:
        close = context.view.score(context.vector, candidates).scores
    order = np.lexsort((candidates, -close, -total))[:_COMMUNITY_POOL]
    notes: dict[int, dict[str, float]] = {
        int(candidates[at]): {_community_text(groups[int(owner[at])]): float(total[at])} for at in order
    }
    return LegCandidates(candidates[order], total[order], leg_detail(notes))


def points(terms: set[str], words: set[str], keywords: tuple[str, ...], names: frozenset[str]) -> float:
    """Return the score of a summary for a query, by its analysed terms and its plain words."""
    as_keywords = len(terms.intersection(keywords))
    return IN_SUMMARY * (as_keywords + len(words & names)) + IN_KEYWORDS * as_keywords


def _groups(graph: NamespaceGraph, view: NamespaceIndex, terms_of: Callable[[Memory], Terms]) -> list[_Group]:
    """Return every community of the finest level that has memories."""
    visible = np.ones(graph.graph.nodes, np.bool_)
    visible[: graph.memories.size] = np.isin(graph.memories, view.without(graph.memories, ()))
    groups = groups_of(Partitioning().levels_of(graph)[0], visible)
    groups = [group for group in groups if group[0] < graph.memories.size]
    largest = [members_of(graph, group, view) for group in groups]
    return [
        _Group(
            graph.memories[group[group < graph.memories.size]],
            summary.terms,
            frozenset(word for name in summary.entities for word in folded(name).split()),
        )
        for group, summary in zip(
            groups, summaries(largest, terms_of, view.document_frequencies), strict=True
        )
    ]


def _sharing(context: RecallContext) -> IntArray:
    """Return the memories that share a word with the query."""
    query = LexicalQuery(dict.fromkeys(context.query.terms, 1.0), {"content": 1.0}, (), BM25())
    return context.view.search(query, max(1, context.view.status.count)).slots


def _community_text(group: _Group) -> str:
    return f"a community about {', '.join(group.terms[:_SHOWN_KEYWORDS])}" if group.terms else "a community"
