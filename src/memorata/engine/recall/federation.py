"""Federated recall: several namespaces are searched, and their hits merged by confidence.

Scores are relative to a query and a namespace; the confidence of a hit is calibrated, so it is what hits of
different namespaces are compared by. Each namespace is searched by its own statistics, and logged by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from memorata.engine.recall.result import RecallResult, within_budget
from memorata.model import checks
from memorata.model.checks import namespace as checked_namespace
from memorata.model.errors import InvalidArgument
from memorata.model.memory import PRIVATE
from memorata.model.query import Query

if TYPE_CHECKING:
    from memorata.engine.namespaces import Link

MAX_NAMESPACES: Final = 100
"""Namespaces that one recall may touch."""
_SUBTREE: Final = "/*"


Condition: TypeAlias = Mapping[str, Any] | None
_NOT_PRIVATE: Final[Condition] = {"tags": {"none": [PRIVATE]}}
"""The filter on a namespace that is searched because another inherits from it."""


def expanded(
    names: Iterable[str],
    existing: Callable[[], Iterable[str]],
    *,
    inherit: bool = False,
    links: Callable[[str], Iterable[Link]] = lambda path: (),
) -> dict[str, Condition]:
    """Return the namespaces that names stand for, each once, in their order, and the filter on each.

    ``acme/*`` stands for acme and every namespace below it that was ever written to. With `inherit`, the
    namespaces above each one and those that they are linked to are added, without memories tagged `private`.
    `existing` is called only for names that end in ``/*``.

    Examples
    --------
    >>> list(expanded(["acme/*"], lambda: ["acme", "acme/api", "acmeus"]))
    ['acme', 'acme/api']
    >>> list(expanded(["acme/phoenix/api"], list, inherit=True))
    ['acme/phoenix/api', 'acme/phoenix', 'acme']
    """
    if isinstance(names, str) or not checks.iterable(names):
        raise InvalidArgument("namespaces", names, "a list of namespaces")
    named: dict[str, Condition] = {}
    for text in checks.texts("namespaces", names):
        if text.endswith(_SUBTREE):
            above = checked_namespace("namespaces", text.removesuffix(_SUBTREE))
            below = sorted(path for path in existing() if path == above or path.startswith(f"{above}/"))
            named.update(dict.fromkeys(below))
        else:
            named[checked_namespace("namespaces", text)] = None
    if inherit:
        inherited = _inherited(named, links)
        named |= {path: condition for path, condition in inherited.items() if path not in named}
    if len(named) > MAX_NAMESPACES:
        raise InvalidArgument("namespaces", len(named), f"at most {MAX_NAMESPACES} namespaces at once")
    return named


def _inherited(named: Iterable[str], links: Callable[[str], Iterable[Link]]) -> dict[str, Condition]:
    """Return the namespaces above the named ones, and all that are linked to either; the nearest first."""
    inherited: dict[str, Condition] = {}
    for path in named:
        lineage = [path]
        while "/" in lineage[-1]:
            lineage.append(lineage[-1].rpartition("/")[0])
        inherited |= dict.fromkeys(lineage[1:], _NOT_PRIVATE)
        for ancestor in lineage:
            for link in links(ancestor):
                both = _NOT_PRIVATE if link.filter is None else {"and": [link.filter, _NOT_PRIVATE]}
                inherited.setdefault(link.namespace, both)
    return inherited


def recall_across(
    recall: Callable[..., RecallResult],
    query: str | Query,
    namespaces: Mapping[str, Condition],
    allows: Callable[[str], bool] | None,
    *,
    limit: int,
    budget: int | None,
    options: Mapping[str, Any],
) -> RecallResult:
    """Return the hits of several namespaces by descending confidence; a hit's memory names its namespace."""
    checks.whole("limit", limit)
    shared = {name: value for name, value in options.items() if name != "filter"}
    readable = {path: condition for path, condition in namespaces.items() if allows is None or allows(path)}
    left_out = len(namespaces) - len(readable)
    note = f"{left_out} of {len(namespaces)} namespaces are left out, for they may not be read"
    notes = (note,) if left_out else ()
    results = [
        recall(query, namespace=path, limit=limit, filter=_both(options.get("filter"), condition), **shared)
        for path, condition in readable.items()
    ]
    if not results:
        return RecallResult((), degraded=notes)
    hits = sorted((hit for result in results for hit in result.hits), key=lambda hit: -hit.confidence)[:limit]
    shown = len(hits) if budget is None else within_budget([hit.memory.content for hit in hits], budget)
    refused = sorted((hit for result in results for hit in result.refused), key=lambda hit: -hit.confidence)[
        :limit
    ]
    best = max(results, key=lambda result: (bool(result.hits), result.confidence))
    return replace(
        best,
        hits=tuple(hits[:shown]),
        omitted=len(hits) - shown,
        degraded=(*dict.fromkeys(note for result in results for note in result.degraded), *notes),
        rejected=None if hits else best.rejected,
        refused=tuple(refused),
        milliseconds={
            step: sum(result.milliseconds.get(step, 0.0) for result in results) for step in best.milliseconds
        },
        id="",
    )


def _both(first: Condition, second: Condition) -> Condition:
    return {"and": [first, second]} if first and second else first or second
