r"""Metrics of one ranking: recall three ways, precision, reciprocal rank, nDCG and average precision.

The definitions are those of ``trec_eval`` (Voorhees & Harman, *TREC*, 2005), and the tests compare with it.
Write :math:`R` for the items with a gain above 0, :math:`T_k` for the first :math:`k` items of the ranking,
and :math:`g_r` for the gain of the item at rank :math:`r`, which is 0 for an item that was not judged.
Relevance is looked up by item. Items judged 0 or less count as not relevant.

A question without a relevant item has no good ranking to compare with, so it is refused here; callers leave
such questions out and say how many there were.

Measures of abstention: how well a score tells answerable questions from others.

A memory that answers everything is wrong on every question that no memory answers. Two views: the
AUROC of the score, and the risk–coverage curve of answering only above a threshold (El-Yaniv & Wiener, *JMLR*
11, 2010; Geifman & El-Yaniv, *NeurIPS* 2017). Both depend on the order of the scores only, so scores of
different systems can be compared without being calibrated.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import fsum, log2
from typing import TypeAlias

import numpy as np

from memorata.extend import frozen
from memorata.extend.errors import InvalidArgument
from memorata.extend.model import Flags, Numbers, checks

Measure: TypeAlias = Callable[[Sequence[str], Mapping[str, float]], float]
"""What :func:`measure` returns: the value of one ranking, given the gains by item."""


def recall_any(ranking: Sequence[str], relevant: Mapping[str, float], k: int) -> float:
    r"""Return 1 if a relevant item is among the first `k`, else 0: :math:`[T_k \cap R \ne \emptyset]`.

    Also called success or hit rate at `k`.
    """
    gains, _ = _gains(ranking, relevant, k)
    return float(any(gains))


def recall_all(ranking: Sequence[str], relevant: Mapping[str, float], k: int) -> float:
    r"""Return 1 if every relevant item is among the first `k`, else 0: :math:`[R \subseteq T_k]`.

    The strict recall of LongMemEval (Wu et al., ICLR 2025): a question that needs three sessions is not
    answered from two.
    """
    gains, judged = _gains(ranking, relevant, k)
    return float(_count(gains) == len(judged))


def recall_fraction(ranking: Sequence[str], relevant: Mapping[str, float], k: int) -> float:
    r"""Return the share of the relevant items that is among the first `k`: :math:`|T_k \cap R| / |R|`."""
    gains, judged = _gains(ranking, relevant, k)
    return _count(gains) / len(judged)


def precision(ranking: Sequence[str], relevant: Mapping[str, float], k: int) -> float:
    r"""Return the share of the first `k` places that hold a relevant item: :math:`|T_k \cap R| / k`.

    A ranking shorter than `k` leaves its places empty; they count as not relevant.
    """
    gains, _ = _gains(ranking, relevant, k)
    return _count(gains) / k


def reciprocal_rank(ranking: Sequence[str], relevant: Mapping[str, float], k: int | None = None) -> float:
    r"""Return :math:`1 / r` for the rank of the first relevant item, 0 if none is among the first `k`.

    Its mean over questions is MRR (Voorhees, *TREC-8 Question Answering*, 1999).
    """
    gains, _ = _gains(ranking, relevant, k)
    return next((1 / rank for rank, gain in enumerate(gains, 1) if gain > 0), 0.0)


def ndcg(ranking: Sequence[str], relevant: Mapping[str, float], k: int) -> float:
    r"""Return the discounted cumulative gain of the first `k`, as a share of the best there could be.

    .. math::
        \mathrm{nDCG@}k = \frac{\sum_{r \le k} g_r / \log_2(1 + r)}{\sum_{r \le k} g^*_r / \log_2(1 + r)}

    where :math:`g^*` are the gains of all judged items in falling order, whether they were retrieved or not
    (Järvelin & Kekäläinen, *ACM TOIS* 20(4), 2002; gains are linear, as in ``trec_eval``).

    >>> round(ndcg(["a", "c"], {"c": 1}, 10), 4)  # 1 / log2(3), where 1 / log2(2) was possible
    0.6309
    """
    gains, judged = _gains(ranking, relevant, k)
    # The value is the same at every scale, and at this one no sum of gains overflows.
    largest = max(judged)
    ideal = sorted(judged, reverse=True)[:k]
    return _discounted(gains, largest) / _discounted(ideal, largest)


def average_precision(ranking: Sequence[str], relevant: Mapping[str, float], k: int | None = None) -> float:
    r"""Return the mean over the relevant items of the precision at the rank where each was found.

    .. math:: \mathrm{AP} = \frac{1}{|R|} \sum_{r \le k,\ g_r > 0} \frac{|T_r \cap R|}{r}

    An item that was not found adds 0. The mean of this over questions is MAP.
    """
    gains, judged = _gains(ranking, relevant, k)
    ranks = [rank for rank, gain in enumerate(gains, 1) if gain > 0]
    return fsum(count / rank for count, rank in enumerate(ranks, 1)) / len(judged)


_AT_K = {
    "any": recall_any,
    "all": recall_all,
    "recall": recall_fraction,
    "precision": precision,
    "ndcg": ndcg,
    "mrr": reciprocal_rank,
    "map": average_precision,
}
_WHOLE = {"mrr": reciprocal_rank, "map": average_precision}
"""Those that also have a meaning without a cut-off."""


def measure(name: str) -> Measure:
    """Return the metric called `name`, with a cut-off behind an at sign or, for mrr and map, without.

    >>> measure("any@5")(["a", "b"], {"b": 1})
    1.0
    >>> measure("mrr")(["a", "b"], {"b": 1})
    0.5
    >>> measure("ndgc@10")
    Traceback (most recent call last):
    ...
    memorata.model.errors.InvalidArgument: measure must be any, all, recall, precision, ndcg, mrr or map with
    a cut-off from 1, as 'ndcg@10', or 'mrr' or 'map' alone, got 'ndgc@10'
    """
    match = re.fullmatch(r"([a-z]+)(?:@([1-9][0-9]{0,8}))?", name) if isinstance(name, str) else None
    if match:
        word, cutoff = match.groups()
        if cutoff is None and word in _WHOLE:
            return _WHOLE[word]
        if cutoff is not None and word in _AT_K:
            return partial(_AT_K[word], k=int(cutoff))
    *names, last = _AT_K
    expected = f"{', '.join(names)} or {last} with a cut-off from 1, as 'ndcg@10', or 'mrr' or 'map' alone"
    raise InvalidArgument("measure", name, expected)


def _gains(
    ranking: Sequence[str], relevant: Mapping[str, float], k: int | None
) -> tuple[list[float], list[float]]:
    """Return the gains of the first `k` items, 0 for those not relevant, and those of all relevant items."""
    if k is not None:
        checks.whole("k", k, 1)
    # Naming each item for an error that hardly ever comes would take longer than all the rest.
    usual = isinstance(ranking, list | tuple) and set(map(type, ranking)) <= {str}
    ids = ranking if usual else checks.texts("ranking", ranking)
    if len(set(ids)) < len(ids):
        place = next(place for place, item in enumerate(ids) if item in ids[:place])
        raise InvalidArgument(f"ranking[{place}]", ids[place], "an item that was not ranked before")
    if not isinstance(relevant, Mapping):
        raise InvalidArgument("relevant", relevant, "a mapping of items to gains")
    judged = {item: checks.number(f"relevant[{item!r}]", gain) for item, gain in relevant.items()}
    positive = {item: gain for item, gain in judged.items() if gain > 0}
    if not positive:
        raise InvalidArgument("relevant", dict(relevant), "gains by item with at least one above 0")
    return [positive.get(item, 0.0) for item in ids[:k]], list(positive.values())


def _count(gains: Sequence[float]) -> int:
    return sum(gain > 0 for gain in gains)


def _discounted(gains: Sequence[float], largest: float) -> float:
    return fsum(gain / largest / log2(1 + rank) for rank, gain in enumerate(gains, 1) if gain > 0)


@frozen
class RiskCoverage:
    """What is risked by answering, for every threshold from the strictest to none at all."""

    coverage: tuple[float, ...]
    risk: tuple[float, ...]
    area: float


@frozen
class Roc:
    """What every threshold lets through, from the strictest, which lets nothing, to none at all."""

    false_alarms: tuple[float, ...]
    hits: tuple[float, ...]


def auroc(scores_answerable: Numbers, scores_unanswerable: Numbers) -> float:
    r"""Return how often an answerable question scores above an unanswerable one; a tie counts half.

    .. math:: \frac{1}{|A|\,|U|} \sum_{a \in A} \sum_{u \in U} \Bigl( [a > u] + \tfrac12 [a = u] \Bigr)

    which is the area under the ROC curve (Hanley & McNeil, *Radiology* 143, 1982): 1 for a perfect split, 0.5
    for a score that knows nothing. Each :math:`a` is looked up in the sorted :math:`U`, in :math:`O((|A| +
    |U|) \log |U|)`.
    """
    answerable = _nonempty("scores_answerable", scores_answerable)
    unanswerable = np.sort(_nonempty("scores_unanswerable", scores_unanswerable))
    below = np.searchsorted(unanswerable, answerable, side="left").sum()
    not_above = np.searchsorted(unanswerable, answerable, side="right").sum()
    return float(below + not_above) / (2 * len(answerable) * len(unanswerable))


def roc(scores_answerable: Numbers, scores_unanswerable: Numbers) -> Roc:
    r"""Return the ROC curve: for every threshold :math:`t` that occurs, what scores at least that much.

    .. math:: f(t) = |\{u \in U : u \ge t\}| / |U|, \quad h(t) = |\{a \in A : a \ge t\}| / |A|

    The area under the straight lines between its points is :func:`auroc` (Fawcett, *Pattern Recognition
    Letters* 27, 2006).
    """
    answerable = np.sort(_nonempty("scores_answerable", scores_answerable))
    unanswerable = np.sort(_nonempty("scores_unanswerable", scores_unanswerable))
    thresholds = np.unique(np.concatenate([answerable, unanswerable]))[::-1]
    hits, alarms = (
        (confidences.size - np.searchsorted(confidences, thresholds, side="left")) / confidences.size
        for confidences in (answerable, unanswerable)
    )
    return Roc((0.0, *alarms.tolist()), (0.0, *hits.tolist()))


def risk_coverage(confidences: Numbers, correct: Flags) -> RiskCoverage:
    r"""Return coverage and risk of answering only from a confidence on, for every confidence that occurs.

    With :math:`S_t` the questions whose confidence is at least :math:`t`, and :math:`e_i` 1 for a wrong
    answer, which any answer to a question that cannot be answered is:

    .. math:: c(t) = |S_t| / n, \quad r(t) = \frac{1}{|S_t|} \sum_{i \in S_t} e_i, \quad
        \mathrm{area} = \sum_j (c_j - c_{j-1}) \, r_j

    Questions of equal confidence are answered together, since no threshold could part them.
    """
    scores, right = _nonempty("confidences", confidences), checks.flags("correct", correct)
    count = checks.same_length(confidences=scores, correct=right)
    order = np.argsort(-scores, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(scores[order])) + 1, count)
    coverage = ends / count
    risk = np.cumsum(~right[order])[ends - 1] / ends
    area = float(np.diff(coverage, prepend=0.0) @ risk)
    return RiskCoverage(tuple(coverage.tolist()), tuple(risk.tolist()), area)


def _nonempty(argument: str, values: Numbers) -> checks.FloatArray:
    array = checks.numbers(argument, values)
    if not array.size:
        raise InvalidArgument(argument, values, "at least one number")
    return array
