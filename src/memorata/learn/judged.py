r"""Logged recalls with what people said of their hits, packed so that many weightings are scored quickly.

All candidates of all questions lie in one table; a weighting is one product with it and one sort, and nDCG is
summed by question (Järvelin & Kekäläinen, *ACM TOIS* 20(4), 2002; the definition, and the tests' oracle, is
:func:`memorata.evaluate.metrics.ndcg`). The best there could be comes from every judged item of a question,
whether it is among the candidates or not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from memorata._frozen import frozen
from memorata.learn.features import Features, scaled_columns, weight_vector
from memorata.model import checks
from memorata.model.checks import FloatArray, IntArray
from memorata.model.errors import InvalidArgument


@frozen(eq=False)
class Judged:
    """The questions that can be learnt from: those with at least one relevant item.

    Attributes
    ----------
    questions, groups
        The id and the group of each.
    names
        The columns.
    values
        A row per candidate, scaled within its question.
    gains
        The gain of each candidate.
    bounds
        Where each question starts, and where the last one ends.
    ideals
        A row for each question: the gains of all its relevant items in falling order, then 0.
    left_out
        How many recalls had no relevant item and are not here.
    """

    questions: tuple[str, ...]
    groups: tuple[str, ...]
    names: tuple[str, ...]
    values: FloatArray
    gains: FloatArray
    bounds: IntArray
    ideals: FloatArray
    left_out: int

    @classmethod
    def of(
        cls,
        logged: Sequence[Features],
        gains: Mapping[str, Mapping[str, float]],
        *,
        scale: str = "min_max",
    ) -> Judged:
        """Pack logged recalls with the gains of their items, by recall and item.

        Parameters
        ----------
        logged
            Recalls whose columns have the same names, in any order.
        gains
            By recall id and item, how relevant it is; what is not named, or at most 0, is not relevant.
        scale
            One of :data:`~memorata.learn.features.SCALES`.

        Examples
        --------
        >>> logged = Features("r1", ["a", "b"], {"meaning": [0.9, 0.5], "words": [0.0, 7.0]})
        >>> judged = Judged.of([logged], {"r1": {"b": 1}})
        >>> judged.ndcg({"meaning": 1.0}).round(4), judged.ndcg({"words": 1.0})
        (array([0.6309]), array([1.]))
        """
        if not isinstance(gains, Mapping):
            raise InvalidArgument("gains", gains, "a mapping of recalls to the gains of their items")
        known: set[str] = set()
        names = logged[0].names if logged else ()
        kept: list[Features] = []
        ideals: list[list[float]] = []
        parts: list[FloatArray] = []
        for place, each in enumerate(logged):
            if set(each.names) != set(names):
                raise InvalidArgument(f"logged[{place}]", each.names, f"a recall with the columns {names}")
            if each.recall_id in known:
                raise InvalidArgument(
                    f"logged[{place}]", each.recall_id, "a recall that did not occur before"
                )
            known.add(each.recall_id)
            said = _positive(each.recall_id, gains.get(each.recall_id, {}))
            if said:
                kept.append(each)
                ideals.append(sorted(said.values(), reverse=True))
                parts.append(np.array([said.get(item, 0.0) for item in each.ids], np.float64))
        bounds = np.r_[0, np.cumsum([len(each.ids) for each in kept], dtype=np.intp)].astype(np.intp)
        columns = [np.stack([each.columns[name] for name in names], axis=1) for each in kept]
        table = np.concatenate(columns) if columns else np.zeros((0, len(names)))
        return cls(
            questions=tuple(each.recall_id for each in kept),
            groups=tuple(each.group for each in kept),
            names=names,
            values=scaled_columns(table, bounds, scale),
            gains=np.concatenate(parts) if parts else np.zeros(0),
            bounds=bounds,
            ideals=_padded(ideals),
            left_out=len(logged) - len(kept),
        )

    def ndcg(self, weights: Mapping[str, float], *, k: int = 10) -> FloatArray:
        """Return nDCG at `k` of each question under these weights; equal scores keep the logged order.

        Parameters
        ----------
        weights
            As for :func:`~memorata.learn.features.rescored`.
        k
            How many results count.
        """
        with checks.finite_arithmetic("weights", dict(weights)):
            scores = self.values @ weight_vector(weights, self.names)
        return self.ndcg_of(scores, k=k)

    def ndcg_of(self, scores: FloatArray, *, k: int = 10) -> FloatArray:
        """Return nDCG at `k` of each question, given a score for each candidate."""
        depth = checks.whole("k", k, 1)
        given = checks.numbers("scores", scores)
        checks.same_length(gains=self.gains, scores=given)
        sizes = np.diff(self.bounds)
        question = np.repeat(np.arange(sizes.size), sizes)
        # By question first; within it best first, and lexsort keeps the order of what is equal.
        order = np.lexsort((-given, question))
        rank = np.arange(order.size) - self.bounds[:-1][question]
        worth = np.where(rank < depth, self.gains[order] / np.log2(2.0 + rank), 0.0)
        found = np.bincount(question, weights=worth, minlength=sizes.size)
        ideal = self.ideals[:, :depth]
        best = (ideal / np.log2(2.0 + np.arange(ideal.shape[1]))).sum(axis=1)
        result: FloatArray = found / best
        return result


def _padded(rows: Sequence[Sequence[float]]) -> FloatArray:
    table = np.zeros((len(rows), max(map(len, rows), default=0)))
    for place, row in enumerate(rows):
        table[place, : len(row)] = row
    return table


def _positive(recall_id: str, given: Mapping[str, float]) -> dict[str, float]:
    if not isinstance(given, Mapping):
        raise InvalidArgument(f"gains[{recall_id!r}]", given, "a mapping of items to gains")
    checked = {
        checks.text("gains", item): checks.number(f"gains[{recall_id!r}][{item!r}]", gain)
        for item, gain in given.items()
    }
    return {item: gain for item, gain in checked.items() if gain > 0}
