"""Scores of a run, with intervals, and its comparison with another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, TypeVar

import numpy as np

from memorata.extend import frozen
from memorata.extend.errors import InvalidArgument
from memorata.extend.model import checks
from memorata_lab.evaluate.dataset import Question, gains_of
from memorata_lab.evaluate.metrics import RiskCoverage, Roc, auroc, measure, recall_any, risk_coverage, roc
from memorata_lab.evaluate.run_file import Answer, Run, RunHeader
from memorata_lab.evaluate.significance import (
    SAMPLES,
    Difference,
    DrawnMeans,
    Interval,
    draw_means,
    macro_means,
)


@frozen
class Counts:
    """How many questions there were, and what became of them: measured, unanswerable or unlabelled.

    The run has no line for the `missing`; the measured ones of them count as empty rankings. `unknown` lines
    are about questions that the data set does not have.
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
    """How well the best score tells answerable questions from others; no hit is below every score.

    An answer is right if a relevant item is among the first 5, and to an unanswerable question never. The
    engine's own abstentions are counted beside it: wrongly from answerable questions, rightly from the
    others.
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
    """What a run is worth: means with intervals, and for each measure the value of each measured question.

    `latency` is None if the run does not say how long anything took, `abstention` if all questions can be
    answered.
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
        return data | (
            {"values": {name: dict(by_question) for name, by_question in self.values.items()}}
            if values
            else {}
        )


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


T = TypeVar("T")

RIGHT_AT = 5
"""An answer is called right, for risk and coverage, if a relevant item is among so many."""


def score(
    run: Run,
    questions: Iterable[Question],
    measures: Sequence[str],
    granularity: str,
    *,
    samples: int = SAMPLES,
    seed: int = 0,
    level: float = 0.95,
) -> Scores:
    """Return what `run` is worth on labelled questions, of which at least one must be in it."""
    if run.header.granularity != granularity:
        raise InvalidArgument("granularity", granularity, f"that of the run ({run.header.granularity!r})")
    measure_functions = {name: measure(name) for name in checks.texts("measures", measures)}
    if not measure_functions:
        raise InvalidArgument("measures", measures, "at least one measure")
    by_id = _by_id(questions)
    if not any(question in run.answers for question in by_id):
        raise InvalidArgument(
            "run", run.header.dataset, "one with an answer to at least one of the questions"
        )
    relevant = {name: gains_of(question, granularity) for name, question in by_id.items()}
    unanswerable = [name for name, question in by_id.items() if not question.answerable]
    labelled = {name for name, gains in relevant.items() if any(gain > 0 for gain in gains.values())}
    measured = [name for name, question in by_id.items() if question.answerable and name in labelled]
    if not measured:
        raise InvalidArgument("questions", len(by_id), f"at least one with a relevant {granularity}")
    rankings = {name: run.answers[name].items if name in run.answers else () for name in measured}
    values = {
        name: {question: value(rankings[question], relevant[question]) for question in measured}
        for name, value in measure_functions.items()
    }
    kind_of = {name: by_id[name].kind for name in measured}
    micro, macro, kinds = _draws(values, kind_of, samples, seed)
    by_kind = {kind: drawn.intervals(level) for kind, drawn in kinds.items()}
    means = _by_measure(list(values), micro.intervals(level), macro.intervals(level), by_kind)
    answers = [run.answers[name] for name in by_id if name in run.answers]
    return Scores(
        header=run.header,
        counts=Counts(
            questions=len(by_id),
            measured=len(measured),
            unanswerable=len(unanswerable),
            unlabelled=len(by_id) - len(measured) - len(unanswerable),
            missing=len(by_id) - len(answers),
            unknown=len(run.answers) - len(answers),
            abstained=sum(answered.abstained for answered in answers),
        ),
        kind_of=kind_of,
        values=values,
        measures={name: MeasureScore(*parts) for name, parts in means.items()},
        latency=_latency(answers),
        abstention=_abstention(run.answers, relevant, measured, unanswerable),
    )


def compare(
    ours: Scores, baseline: Scores, *, samples: int = SAMPLES, seed: int = 0, level: float = 0.95
) -> Comparison:
    """Return how much better `ours` is than `baseline` in every measure that both have.

    Both must be of the same data (by its hash), granularity and questions. The p values are of each measure
    by itself; of many, a few are low by chance.
    """
    for name in ("sha256", "granularity"):
        theirs, mine = getattr(baseline.header, name), getattr(ours.header, name)
        if theirs != mine:
            raise InvalidArgument("baseline", theirs, f"a run with the {name} of ours ({mine!r})")
    if baseline.kind_of.keys() != ours.kind_of.keys():
        odd = min(baseline.kind_of.keys() ^ ours.kind_of.keys())
        raise InvalidArgument("baseline", odd, "measured on the same questions as ours, but one has another")
    common = [name for name in ours.values if name in baseline.values]
    if not common:
        expected = f"scored by one of our measures, {', '.join(ours.values)}"
        raise InvalidArgument("baseline", list(baseline.values), expected)
    values = {
        name: {
            question: value - baseline.values[name][question] for question, value in ours.values[name].items()
        }
        for name in common
    }
    micro, macro, kinds = _draws(values, ours.kind_of, samples, seed)
    by_kind = {kind: drawn.differences(level) for kind, drawn in kinds.items()}
    by_measure = _by_measure(list(values), micro.differences(level), macro.differences(level), by_kind)
    differences = {name: MeasureDifference(*parts) for name, parts in by_measure.items()}
    return Comparison(ours.header, baseline.header, len(ours.kind_of), differences)


def _by_id(questions: Iterable[Question]) -> dict[str, Question]:
    by_id: dict[str, Question] = {}
    for question in questions:
        if question.id in by_id:
            raise InvalidArgument("questions", question.id, "questions with an id of their own each")
        by_id[question.id] = question
    return by_id


def _draws(
    values: Mapping[str, Mapping[str, float]], kind_of: Mapping[str, str], samples: int, seed: int
) -> tuple[DrawnMeans, DrawnMeans, dict[str, DrawnMeans]]:
    """Return the means of all measures at once: over questions, over kinds, and in each kind by its name."""
    table = np.array([list(value.values()) for value in values.values()]).T
    # Each kind has a seed of its own; with one for all, kinds of equal size would be drawn alike.
    by_kind = {
        kind: draw_means(table[[k == kind for k in kind_of.values()]], samples=samples, seed=seed + place)
        for place, kind in enumerate(sorted(set(kind_of.values())), 1)
    }
    micro = draw_means(table, samples=samples, seed=seed)
    return micro, macro_means(list(by_kind.values())), by_kind


def _by_measure(
    names: Sequence[str], micro: Sequence[T], macro: Sequence[T], kinds: Mapping[str, Sequence[T]]
) -> dict[str, tuple[T, T, dict[str, T]]]:
    """Return for each measure its own of what was computed for all of them, column by column."""
    return {
        name: (micro[place], macro[place], {kind: column[place] for kind, column in kinds.items()})
        for place, name in enumerate(names)
    }


def _latency(answers: Sequence[Answer]) -> Latency | None:
    times = [answered.milliseconds for answered in answers if answered.milliseconds is not None]
    if not times:
        return None
    p50, p95, p99 = np.percentile(times, [50, 95, 99]).tolist()
    return Latency(len(times), float(np.mean(times)), p50, p95, p99)


def _abstention(
    answers: Mapping[str, Answer],
    relevant: Mapping[str, Mapping[str, float]],
    measured: Sequence[str],
    unanswerable: Sequence[str],
) -> Abstention | None:
    # A question that the run lacks was not abstained from, so it has no say here.
    good, bad = ([answers[name] for name in names if name in answers] for names in (measured, unanswerable))
    if not (good and bad):
        return None
    # Only the order counts, and it gives a place to having found nothing: below every score.
    tops = sorted({answered.top for answered in (*good, *bad) if answered.top is not None})
    places = {None: -1.0} | {top: float(place) for place, top in enumerate(tops)}
    confident, doubtful = ([places[answered.top] for answered in group] for group in (good, bad))
    right = [recall_any(hit.items, relevant[hit.question], RIGHT_AT) > 0 for hit in good]
    return Abstention(
        answerable=len(good),
        unanswerable=len(bad),
        abstained_answerable=sum(answered.abstained for answered in good),
        abstained_unanswerable=sum(answered.abstained for answered in bad),
        auroc=auroc(confident, doubtful),
        risk_coverage=risk_coverage(confident + doubtful, right + [False] * len(bad)),
        roc=roc(confident, doubtful),
    )
