"""What a run is worth, and how it compares with another: what scoring hands out, ready for JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from memorata._frozen import frozen
from memorata.evaluate.abstention import RiskCoverage, Roc
from memorata.evaluate.run_file import RunHeader
from memorata.evaluate.significance import Difference, Interval


@frozen
class Counts:
    """How many questions there were, and what became of them.

    Parameters
    ----------
    questions
        All of the data set's.
    measured
        Those the ranking metrics are over; with the next two, they make up `questions`.
    unanswerable, unlabelled
        Those left out: their answer is nowhere, or no relevant item is known at this granularity.
    missing
        Those of the data set that the run has no line for; the measured ones of them count as empty rankings.
    unknown
        Lines of the run about questions that the data set does not have.
    abstained
        Questions the engine would rather not have answered.
    """

    questions: int
    measured: int
    unanswerable: int
    unlabelled: int
    missing: int
    unknown: int
    abstained: int


@frozen
class MeasureScore:
    """One measure: its mean over questions, over kinds, and in each kind."""

    micro: Interval
    macro: Interval
    kinds: Mapping[str, Interval]


@frozen
class Latency:
    """How long the questions took, in milliseconds: how many say so, their mean, and percentiles."""

    count: int
    mean: float
    p50: float
    p95: float
    p99: float


@frozen
class Abstention:
    """How well the best score tells answerable questions from others.

    Parameters
    ----------
    answerable, unanswerable
        How many of each the run has: of the former those that are measured.
    abstained_answerable, abstained_unanswerable
        From how many of them the engine itself would have abstained: wrongly, and rightly.
    auroc
        See :func:`~memorata.evaluate.abstention.auroc`; having found nothing is below every score.
    risk_coverage
        Of answering from a score on. An answer is right if a relevant item is among the first 5, and to an
        unanswerable question never.
    roc
        The curve that `auroc` is the area under.
    """

    answerable: int
    unanswerable: int
    abstained_answerable: int
    abstained_unanswerable: int
    auroc: float
    risk_coverage: RiskCoverage
    roc: Roc


@frozen
class Scores:
    """What a run is worth.

    Parameters
    ----------
    header
        What was run on what.
    counts
        What became of the questions.
    kind_of
        The kind of each measured question, in the order of the data set.
    values
        For each measure, the value of each measured question.
    measures
        For each measure, its means with intervals.
    latency
        None if the run does not say how long anything took.
    abstention
        None if all questions can be answered.
    """

    header: RunHeader
    counts: Counts
    kind_of: Mapping[str, str]
    values: Mapping[str, Mapping[str, float]]
    measures: Mapping[str, MeasureScore]
    latency: Latency | None
    abstention: Abstention | None

    @property
    def kinds(self) -> dict[str, int]:
        """How many measured questions there are of each kind, by its name."""
        return dict(sorted(Counter(self.kind_of.values()).items()))

    def as_dict(self, *, values: bool = False) -> dict[str, Any]:
        """Return everything by name, ready for JSON; the questions' own values only if asked for."""
        data = {
            "run": self.header.as_dict(),
            "counts": asdict(self.counts),
            "kinds": self.kinds,
            "measures": {name: asdict(score) for name, score in self.measures.items()},
            "latency": None if self.latency is None else asdict(self.latency),
            "abstention": None if self.abstention is None else asdict(self.abstention),
        }
        return data | ({"values": {name: dict(each) for name, each in self.values.items()}} if values else {})


@frozen
class MeasureDifference:
    """How much higher one measure is than the baseline's: over questions, over kinds, and in each kind."""

    micro: Difference
    macro: Difference
    kinds: Mapping[str, Difference]


@frozen
class Comparison:
    """Two runs on the same questions."""

    ours: RunHeader
    baseline: RunHeader
    questions: int
    measures: Mapping[str, MeasureDifference]

    def as_dict(self) -> dict[str, Any]:
        """Return everything by name, ready for JSON."""
        return {
            "ours": self.ours.as_dict(),
            "baseline": self.baseline.as_dict(),
            "questions": self.questions,
            "measures": {name: asdict(difference) for name, difference in self.measures.items()},
        }
