r"""Measures of abstention: how well a score tells answerable questions from others.

A memory that answers everything is wrong on every question about things it was never told. Two views: the
AUROC of the score, and the risk–coverage curve of answering only above a threshold (El-Yaniv & Wiener, *JMLR*
11, 2010; Geifman & El-Yaniv, *NeurIPS* 2017). Both depend on the order of the scores only, so scores of
different systems can be compared without being calibrated.
"""

from __future__ import annotations

import numpy as np

from memorata._frozen import frozen
from memorata.model import InvalidArgument, checks
from memorata.model.checks import Flags, Numbers


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
    answerable = _some("scores_answerable", scores_answerable)
    unanswerable = np.sort(_some("scores_unanswerable", scores_unanswerable))
    below = np.searchsorted(unanswerable, answerable, side="left").sum()
    not_above = np.searchsorted(unanswerable, answerable, side="right").sum()
    return float(below + not_above) / (2 * len(answerable) * len(unanswerable))


def roc(scores_answerable: Numbers, scores_unanswerable: Numbers) -> Roc:
    r"""Return the ROC curve: for every threshold :math:`t` that occurs, what scores at least that much.

    .. math:: f(t) = |\{u \in U : u \ge t\}| / |U|, \quad h(t) = |\{a \in A : a \ge t\}| / |A|

    The area under the straight lines between its points is :func:`auroc` (Fawcett, *Pattern Recognition
    Letters* 27, 2006).
    """
    answerable = np.sort(_some("scores_answerable", scores_answerable))
    unanswerable = np.sort(_some("scores_unanswerable", scores_unanswerable))
    thresholds = np.unique(np.concatenate([answerable, unanswerable]))[::-1]
    hits, alarms = (
        (some.size - np.searchsorted(some, thresholds, side="left")) / some.size
        for some in (answerable, unanswerable)
    )
    return Roc((0.0, *alarms.tolist()), (0.0, *hits.tolist()))


def risk_coverage(confidences: Numbers, correct: Flags) -> RiskCoverage:
    r"""Return coverage and risk of answering only from a confidence on, for every confidence that occurs.

    With :math:`S_t` the questions whose confidence is at least :math:`t`, and :math:`e_i` 1 for a wrong
    answer:

    .. math:: c(t) = |S_t| / n, \quad r(t) = \frac{1}{|S_t|} \sum_{i \in S_t} e_i, \quad
        \mathrm{area} = \sum_j (c_j - c_{j-1}) \, r_j

    Questions of equal confidence are answered together, since no threshold could part them; a score that is
    the same for all therefore has one point, at the overall risk.

    - `confidences`: one for each question; at least one.
    - `correct`: whether the answer would be right. For a question that cannot be answered it never is.
    """
    scores, right = _some("confidences", confidences), checks.flags("correct", correct)
    count = checks.same_length(confidences=scores, correct=right)
    order = np.argsort(-scores, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(scores[order])) + 1, count)
    coverage = ends / count
    risk = np.cumsum(~right[order])[ends - 1] / ends
    area = float(np.diff(coverage, prepend=0.0) @ risk)
    return RiskCoverage(tuple(coverage.tolist()), tuple(risk.tolist()), area)


def _some(argument: str, values: Numbers) -> checks.FloatArray:
    array = checks.numbers(argument, values)
    if not array.size:
        raise InvalidArgument(argument, values, "at least one number")
    return array
