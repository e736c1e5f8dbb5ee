"""One recall over several namespaces: asked in each, merged by how likely a hit answers.

Scores are relative to a query and a namespace; the confidence of a hit is calibrated, so it is what hits of
different namespaces are compared by. Each namespace is searched by its own statistics, and logged by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from memorata.engine.recall.recaller import within_budget
from memorata.engine.recall.result import RecallResult
from memorata.model import checks
from memorata.model.errors import InvalidArgument
from memorata.model.identifiers import namespace as checked_namespace

MAX_NAMESPACES: Final = 100
"""Namespaces that one recall may touch."""
_BELOW: Final = "/*"


def expanded(
    names: Iterable[str], existing: Callable[[], Iterable[str]], *, inherit: bool = False
) -> tuple[str, ...]:
    """Return the namespaces that names stand for, each once, in their order.

    ``acme/*`` is everything below acme that was ever written to, and acme itself; with `inherit`, a namespace
    also sees what is above it. What there is, is looked up only for names that end so.

    Examples
    --------
    >>> expanded(["acme/*"], lambda: ["acme", "acme/api", "acmeus"])
    ('acme', 'acme/api')
    >>> expanded(["acme/phoenix/api"], list, inherit=True)
    ('acme/phoenix/api', 'acme/phoenix', 'acme')
    """
    if isinstance(names, str):
        raise InvalidArgument("namespaces", names, "a list of namespaces")
    found: dict[str, None] = {}
    for name in names:
        text = checks.text("namespaces", name)
        if text.endswith(_BELOW):
            above = checked_namespace("namespaces", text.removesuffix(_BELOW))
            below = sorted(path for path in existing() if path == above or path.startswith(f"{above}/"))
            found.update(dict.fromkeys(below))
            continue
        path = checked_namespace("namespaces", text)
        found[path] = None
        while inherit and "/" in path:
            path = path.rpartition("/")[0]
            found[path] = None
    if len(found) > MAX_NAMESPACES:
        raise InvalidArgument("namespaces", len(found), f"at most {MAX_NAMESPACES} namespaces at once")
    return tuple(found)


def recall_across(
    recall: Callable[..., RecallResult],
    query: str,
    namespaces: Sequence[str],
    *,
    limit: int,
    budget: int | None,
    options: Mapping[str, Any],
) -> RecallResult:
    """Return the hits of several namespaces, the likeliest answers first; each hit's memory names its own."""
    checks.whole("limit", limit)
    results = [recall(query, namespace=path, limit=limit, **options) for path in namespaces]
    if not results:
        return RecallResult(())
    hits = sorted((hit for result in results for hit in result.hits), key=lambda hit: -hit.confidence)[:limit]
    shown = len(hits) if budget is None else within_budget([hit.memory.content for hit in hits], budget)
    best = max(results, key=lambda result: result.confidence)
    return replace(
        best,
        hits=tuple(hits[:shown]),
        omitted=len(hits) - shown,
        degraded=tuple(dict.fromkeys(note for result in results for note in result.degraded)),
        rejected=None if hits else best.rejected,
        milliseconds={"all": sum(sum(result.milliseconds.values()) for result in results)},
        id="",
    )
