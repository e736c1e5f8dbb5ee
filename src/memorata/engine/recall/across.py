"""One recall over several namespaces: asked in each, merged by how likely a hit answers.

Scores are relative to a query and a namespace; the confidence of a hit is calibrated, so it is what hits of
different namespaces are compared by. Each namespace is searched by its own statistics, and logged by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final, TypeAlias

from memorata.engine.namespaces import Link
from memorata.engine.recall.result import RecallResult, within_budget
from memorata.model import checks
from memorata.model.errors import InvalidArgument
from memorata.model.identifiers import namespace as checked_namespace
from memorata.model.memory import PRIVATE

MAX_NAMESPACES: Final = 100
"""Namespaces that one recall may touch."""
_BELOW: Final = "/*"


Condition: TypeAlias = Mapping[str, Any] | None
_NOT_PRIVATE: Final[Condition] = {"tags": {"none": [PRIVATE]}}
"""What of a namespace is seen from those that inherit from it."""


def expanded(
    names: Iterable[str],
    existing: Callable[[], Iterable[str]],
    *,
    inherit: bool = False,
    links: Callable[[str], Iterable[Link]] = lambda path: (),
) -> dict[str, Condition]:
    """Return the namespaces that names stand for, each once, in their order, and what of each is seen.

    ``acme/*`` is everything below acme that was ever written to, and acme itself; with `inherit`, a namespace
    also sees what is above it, and what these are linked to, but what is tagged `private` there. What there
    is, is looked up only for names that end so.

    Examples
    --------
    >>> list(expanded(["acme/*"], lambda: ["acme", "acme/api", "acmeus"]))
    ['acme', 'acme/api']
    >>> list(expanded(["acme/phoenix/api"], list, inherit=True))
    ['acme/phoenix/api', 'acme/phoenix', 'acme']
    """
    if isinstance(names, str):
        raise InvalidArgument("namespaces", names, "a list of namespaces")
    named: dict[str, Condition] = {}
    for name in names:
        text = checks.text("namespaces", name)
        if text.endswith(_BELOW):
            above = checked_namespace("namespaces", text.removesuffix(_BELOW))
            below = sorted(path for path in existing() if path == above or path.startswith(f"{above}/"))
            named.update(dict.fromkeys(below))
        else:
            named[checked_namespace("namespaces", text)] = None
    if inherit:
        named |= {path: seen for path, seen in _inherited(named, links).items() if path not in named}
    if len(named) > MAX_NAMESPACES:
        raise InvalidArgument("namespaces", len(named), f"at most {MAX_NAMESPACES} namespaces at once")
    return named


def _inherited(named: Iterable[str], links: Callable[[str], Iterable[Link]]) -> dict[str, Condition]:
    """Return the namespaces above some, and what they and these are linked to; the nearest first."""
    found: dict[str, Condition] = {}
    for path in named:
        line = [path]
        while "/" in line[-1]:
            line.append(line[-1].rpartition("/")[0])
        found |= dict.fromkeys(line[1:], _NOT_PRIVATE)
        for each in line:
            for link in links(each):
                both = _NOT_PRIVATE if link.filter is None else {"and": [link.filter, _NOT_PRIVATE]}
                found.setdefault(link.namespace, both)
    return found


def recall_across(
    recall: Callable[..., RecallResult],
    query: str,
    namespaces: Mapping[str, Condition],
    allows: Callable[[str], bool] | None,
    *,
    limit: int,
    budget: int | None,
    options: Mapping[str, Any],
) -> RecallResult:
    """Return the hits of several namespaces, the likeliest answers first; each hit's memory names its own."""
    checks.whole("limit", limit)
    given = {name: value for name, value in options.items() if name != "filter"}
    readable = {path: seen for path, seen in namespaces.items() if allows is None or allows(path)}
    left_out = len(namespaces) - len(readable)
    note = f"{left_out} of {len(namespaces)} namespaces are left out, for they may not be read"
    notes = (note,) if left_out else ()
    results = [
        recall(query, namespace=path, limit=limit, filter=_both(options.get("filter"), seen), **given)
        for path, seen in readable.items()
    ]
    if not results:
        return RecallResult((), degraded=notes)
    hits = sorted((hit for result in results for hit in result.hits), key=lambda hit: -hit.confidence)[:limit]
    shown = len(hits) if budget is None else within_budget([hit.memory.content for hit in hits], budget)
    best = max(results, key=lambda result: result.confidence)
    return replace(
        best,
        hits=tuple(hits[:shown]),
        omitted=len(hits) - shown,
        degraded=(*dict.fromkeys(note for result in results for note in result.degraded), *notes),
        rejected=None if hits else best.rejected,
        standing=tuple({each.id: each for result in results for each in result.standing}.values()),
        milliseconds={
            step: sum(result.milliseconds.get(step, 0.0) for result in results) for step in best.milliseconds
        },
        id="",
    )


def _both(given: Condition, seen: Condition) -> Condition:
    return {"and": [given, seen]} if given and seen else given or seen
