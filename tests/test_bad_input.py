"""Bad input, everywhere: a typed error naming argument and value, or the documented edge result.

`TABLE` holds one good call of every public function of the pure core and, argument by argument, values that
must be refused. A public function that is not in it fails the first test. The good calls are also where the
fuzzing at the end starts from: with any floats at all, the answer is finite or an `InvalidArgument`.
"""

import inspect
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, datetime, timedelta
from operator import attrgetter
from pkgutil import resolve_name
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import memorata
from memorata import dedupe, rank, text
from memorata.model import Entity, InvalidArgument, Period
from memorata.model.errors import shown
from memorata.model.memory import Memory
from memorata.rank import Combination

NAN, INF, HUGE = math.nan, math.inf, 10**400
DAY, NAIVE = datetime(2026, 5, 7, tzinfo=UTC), datetime(2026, 5, 7)

RESULTS = {
    *("rank.Fused", "rank.Weights", "dedupe.Decision"),
    *(
        "dedupe.Hint",
        "dedupe.Resolution",
        "dedupe.Superseded",
        "dedupe.Survivor",
        "text.AnchorReading",
        "text.Extraction",
    ),
}
"""Records that functions hand out for reading; nobody is asked to make one."""
INTERNAL = {f"dedupe.{module}" for module in ("decisions", "verification")}
"""Modules of which some functions are tested here though their package does not export them."""
CHOICES = {"dedupe.Cue", "dedupe.Verdict"}
PROTOCOLS = {
    *("rank.Statistics", "text.AnchorExtractor", "text.FallibleAnchors", "text.QueryClassifier"),
    "text.EntityExtractor",
    *("dedupe.Claim", "dedupe.Strategy"),
}

# What no argument of its kind may be. Lists have two items, as those of the good calls have.
NUMBER = (NAN, INF, -INF, "1", None, True, HUGE)
POSITIVE, COUNT, SHARE, COSINE = ((*NUMBER, *more) for more in ((0, -1.0), (-0.5,), (-0.1, 1.1), (-1.1, 1.1)))
WHOLE = (-1, 1.0, NAN, "1", None, True, HUGE)
FROM_1 = (*WHOLE, 0)
LIMIT = (-1, 2.5, NAN, "3", True, HUGE)
FLAG = (1, "yes", None)
TEXT = (5, None, b"text")
LAT, LON = ((*NUMBER, *more) for more in ((91, -90.1), (181, -180.1)))
TIME = (NAIVE, "today", None, 0)
NUMBERS = ([0.5, NAN], [INF, -INF], ["a", "b"], [True, False], [[0.5, 0.5]], [[1], [1, 2]], 0.5, [None, None])
COUNTS, COSINES = (*NUMBERS, [0.5, -0.1]), (*NUMBERS, [-1.1, 0.5], [0.5, 1.1])
SHARES = (*COUNTS, [0.5, 1.1])
SHORT = ([0.5],)
LATS, LONS = (*NUMBERS, [0.5, 91]), (*NUMBERS, *SHORT, [-181, 0.5])
ROWS = ([[NAN, 1], [1, 1]], [[1, INF], [1, 1]], [[1], [1, 1]], [0.5, 0.5], [["a"], ["b"]], None)
TEXTS = ("ab", ["a", 5], [None], 5, None)
IDS = ([["a", "a"], []], [[["unhashable"]], []], ["ab", "c"], [5, 6], [None], {"a": 1.0}, "ab", None)
SCORED = (*IDS, [{"a": NAN}, {}], [{"a": INF}, {}], [{"a": "high"}, {}])
WEIGHTS = ([1.0], [1.0, 2.0, 3.0], [0.0, 0.0], [1.0, -1.0], [1.7e308, 1.7e308], *NUMBERS)
LANGUAGE = ("klingon", None, 5, ["english"])
TIERS = ("working", ["working", "eternal"], [5, 5], None)


def claim(**changes: Any) -> Any:
    values = {"content": "tea", "category": "fact", "confidence": 0.9, "created_at": DAY, "mentions": 1}
    return SimpleNamespace(**values | changes)


def memory() -> Memory:
    return Memory(id="m", content="tea", created_at=DAY)


CLAIM = ("tea", None, claim(confidence=1.5), claim(created_at=NAIVE), claim(mentions=-1), claim(content=None))
CLAIMS: tuple[Any, ...] = ([claim()], [], "tea", None, [claim(), "tea"], [claim(), claim(confidence=NAN)])
TEAS = SimpleNamespace(document_count=2, average_length=2.0, document_frequency=lambda term: 1)
KNOWN, MERGED = text.Gazetteer([Entity("Anna")]), text.Redirects({"Bob": "Robert"})
PERIOD = Period.around(DAY, timedelta(days=2))
SUM = Combination.of("sum", ["a", "b"], np.array([[0.5, 0.1], [0.2, 0.3]]))


@dataclass(frozen=True)
class Row:
    """A good call, and for its arguments the values that must be refused."""

    name: str
    function: Callable[..., Any]
    good: Mapping[str, Any]
    bad: Mapping[str, tuple[Any, ...]]

    def __call__(self, **changes: Any) -> Any:
        return self.function(**{**self.good, **changes})


def row(name: str, good: Mapping[str, Any], /, *, on: Any = None, **bad: tuple[Any, ...]) -> Row:
    """Return the row of a public function, or of the method of an instance that it is called `on`."""
    return Row(name, _named(name) if on is None else getattr(on, name.rpartition(".")[2]), good, bad)


def _named(name: str) -> Callable[..., Any]:
    try:
        function: Callable[..., Any] = attrgetter(name)(memorata)
    except AttributeError:
        # It is in a module that nobody has loaded yet.
        function = resolve_name(f"memorata.{name}")
    return function


ORDERED: dict[str, Any] = {"legs": [["a", "b"], ["b", "c"]], "weights": [0.6, 0.4], "limit": 2}
BY_SCORE: dict[str, Any] = ORDERED | {"legs": [{"a": 0.9, "b": 0.1}, {"b": 0.5, "c": 0.4}]}
FUSED: dict[str, tuple[Any, ...]] = {"weights": WEIGHTS, "limit": LIMIT}
RRF = {"k": 60.0, "rank_base": 1}
FUSED_BY_RRF = {**FUSED, "legs": IDS, "k": COUNT, "rank_base": (*WHOLE, 2)}
DECAYING = {"distance": [0.0, 9.0], "importance": [1.0, 5.0], "hits": [0.0, 3.0]}
DECAYED = {"distance": COUNTS, "importance": (*NUMBERS, [0.9, 1.0], [5.0, 5.1]), "hits": (*COUNTS, *SHORT)}
TYPED = {"query_type": "factual", "confidence": 0.9, "least": 0.6}
COMPOSITE = {"relevance": [2.0, 1.0], "quality": [0.5, 1.0], "relevance_weight": 0.8, "quality_weight": 0.2}
COMPOSED = {
    "relevance": COUNTS,
    "quality": (*SHARES, *SHORT),
    "relevance_weight": COUNT,
    "quality_weight": COUNT,
}

# fmt: off
TABLE = [
    # Similarity, order, normalisation
    row("rank.cosine", {"a": [3.0, 4.0], "b": [4.0, 3.0]}, a=NUMBERS, b=(*NUMBERS, [], *SHORT)),
    row("rank.cosines", {"vectors": [[0.6, 0.8], [1.0, 0.0]], "query": [0.6, 0.8], "normalised": True},
        vectors=ROWS, query=(*NUMBERS, [], *SHORT), normalised=FLAG),
    row("rank.max_similarity", {"candidate": [0.6, 0.8], "selected": [[0.6, 0.8], [1.0, 0.0]]},
        candidate=(*NUMBERS, [], *SHORT), selected=ROWS),
    row("rank.unit_rows", {"vectors": [[3.0, 4.0], [1.0, 0.0]]}, vectors=ROWS),
    row("rank.best_first", {"scores": [0.1, 0.9], "limit": 1}, scores=NUMBERS, limit=LIMIT),
    row("rank.min_max", {"scores": [0.1, 0.9]}, scores=NUMBERS),
    row("rank.z_score", {"scores": [0.1, 0.9]}, scores=NUMBERS),
    row("rank.max_scaled", {"scores": [0.1, 0.9]}, scores=(*NUMBERS, [-1.7e308, -1e308])),
    row("rank.rank_based", {"scores": [0.1, 0.9]}, scores=NUMBERS),
    row("rank.Combination.of", {"operation": "sum", "names": ["a", "b"], "parts": [[0.5, 0.1], [0.2, 0.3]]},
        operation=("max", None), names=("ab", ["a"], ["a", 5], None), parts=ROWS),
    row("rank.Combination.explain", {"item": 1, "label": "score"}, on=SUM, item=(*WHOLE, 2), label=TEXT),
    # Fusion
    row("rank.Leg", {"ids": ["a", "b"], "scores": [0.9, 0.1], "name": "vector"},
        ids=("ab", 5, None, {"a"}), scores=(*NUMBERS, *SHORT), name=TEXT),
    row("rank.align", {"legs": ORDERED["legs"]}, legs=SCORED),
    row("rank.fusion", {"name": "new"}, name=TEXT),
    row("rank.rrf", ORDERED | RRF, **FUSED_BY_RRF),
    row("rank.zscored_rrf", ORDERED | RRF, **FUSED_BY_RRF),
    row("rank.borda", ORDERED, legs=IDS, **FUSED),
    row("rank.isr", ORDERED, legs=IDS, **FUSED),
    row("rank.relative_score_fusion", BY_SCORE, legs=SCORED, **FUSED),
    row("rank.comb_sum", BY_SCORE | {"normaliser": "z_score"},
        legs=SCORED, normaliser=("sum", None), **FUSED),
    row("rank.comb_mnz", BY_SCORE | {"normaliser": "none"}, legs=SCORED, normaliser=("sum", None), **FUSED),
    row("rank.aligned_fusion", BY_SCORE | {"coverage": "leg", "single_leg_factor": 0.8, "full_leg": 5},
        legs=SCORED, coverage=("all", None), single_leg_factor=SHARE, full_leg=FROM_1, **FUSED),
    row("rank.alpha_blend", BY_SCORE | {"base": {"a": 1.0}, "alpha": 0.7, "budget": 15.0, "threshold": 0.5},
        legs=(*SCORED, [{"a": 1.1}, {}], [{}, {"a": -1.0}]), base=({"a": NAN}, {"a": "high"}, [1.0], 5),
        alpha=SHARE, budget=COUNT, threshold=(*COSINE, 1), **FUSED),
    row("rank.BlendSettings", {"alpha": 0.7, "budget": 15.0}, alpha=SHARE, budget=COUNT),
    row("rank.migrated", {"vector_weight": 0.0, "keyword_weight": 4.0},
        vector_weight=(NAN, INF, "1", -1), keyword_weight=(NAN, INF, "1", -1, 0)),
    # Words
    row("rank.inverse_document_frequency", {"document_frequency": 2, "document_count": 30},
        document_frequency=(*WHOLE, 31), document_count=WHOLE),
    row("rank.BM25", {"k1": 1.5, "b": 0.75}, k1=COUNT, b=SHARE),
    row("rank.entity_base", {"entity_weight": 3.4}, entity_weight=(*COUNT, 1.7e308)),
    row("rank.repeats", {"document_frequency": 2, "document_count": 30, "base": 17},
        document_frequency=(*WHOLE, 31), document_count=WHOLE, base=WHOLE),
    row("rank.boosted_query", {"tokens": ["tea", "anna"], "entities": ["anna"],
        "statistics": TEAS, "entity_weight": 3.4}, tokens=TEXTS, entities=TEXTS,
        statistics=(None, 5), entity_weight=COUNT, corpus_base=FROM_1, unknown_base=FROM_1),
    row("rank.phrase_bonus", {"phrases_found": 2, "document_count": 30, "strength": 1.0},
        phrases_found=WHOLE, document_count=WHOLE, strength=(*COUNT, 1.7e308)),
    # A memory's score
    row("rank.multiplicative", {"relevance": [0.9, 0.1], "confidence": [0.5, 1.0]},
        relevance=NUMBERS, confidence=(*SHARES, *SHORT)),
    row("rank.additive", {"relevance": [0.9, 0.1], "confidence": [0.5, 1.0], "alpha": 0.65, "beta": 0.35},
        relevance=NUMBERS, confidence=(*SHARES, *SHORT), alpha=SHARE, beta=(*SHARE, 0.3, 0.36)),
    row("rank.preset", {"name": "balanced"}, name=("unbalanced", None)),
    row("rank.for_category", {"category": "decision"}, category=TEXT),
    row("rank.for_query", TYPED, query_type=("funny", None), confidence=SHARE, least=SHARE),
    row("rank.legs_for_query", TYPED, query_type=("funny", None), confidence=SHARE, least=SHARE),
    row("rank.salience", {"tiers": ["working", "semantic"], "importance": [0.5, 1.0]},
        tiers=TIERS, importance=(*SHARES, *SHORT)),
    row("rank.usage", {"accesses": [0.0, 3.0]}, accesses=COUNTS),
    row("rank.quality", {"tiers": ["working", "semantic"], "importance": [0.5, 1.0], "confidence": [0.5, 1.0],
        "accesses": [0.0, 3.0], "age_days": [1.0, 2.0]}, tiers=TIERS, importance=(*SHARES, *SHORT),
        confidence=(*SHARES, *SHORT), accesses=(*COUNTS, *SHORT), age_days=(*COUNTS, *SHORT)),
    row("rank.composite_additive", COMPOSITE | {"recency": [0.1, 0.2], "importance": [1.0, 0.0],
        "recency_weight": 0.2, "importance_weight": 0.1}, **COMPOSED, recency=(*SHARES, *SHORT),
        importance=(*SHARES, *SHORT), recency_weight=COUNT, importance_weight=COUNT),
    row("rank.composite_multiplicative", COMPOSITE, **COMPOSED),
    row("rank.relative_to_best", {"relevance": [2.0, 1.0]}, relevance=COUNTS),
    row("rank.importance_decay", DECAYING | {"transient": [True, False], "rate": 0.05, "floor": 1.0},
        **DECAYED,
        transient=([1, 0], [True], "yes", [[True], [True, False]]), rate=COUNT,
        transient_factor=(*NUMBER, 0.9), floor=(*NUMBER, -0.1, 5.1)),
    row("rank.half_life_decay", DECAYING | {"half_life": 168.0}, **DECAYED, half_life=POSITIVE),
    row("rank.linear_decay", DECAYING | {"horizon": 720.0}, **DECAYED, horizon=POSITIVE),
    row("rank.corroborated", {"confidence": 0.6, "last_support": DAY, "now": DAY + timedelta(2), "gain": 0.1},
        confidence=SHARE, last_support=TIME, now=TIME, gain=SHARE),
    row("rank.decayed", {"confidence": [0.6, 0.5], "days": [9.0, 20.0], "weekly_loss": 0.05, "floor": 0.05},
        confidence=SHARES, days=(*NUMBERS, *SHORT), weekly_loss=SHARE, floor=SHARE),
    row("rank.proximity", {"times": [1.0, 1.8e9], "period": PERIOD},
        times=NUMBERS, period=(None, DAY, "May")),
    row("rank.boosted_additive", {"composite": [0.5, 1.0], "near": [0.0, 1.0], "boost": 0.4},
        composite=NUMBERS, near=(*SHARES, *SHORT), boost=NUMBER),
    row("rank.boosted_multiplicative", {"composite": [0.5, 1.0], "near": [0.0, 1.0], "boost": 0.4},
        composite=NUMBERS, near=(*SHARES, *SHORT), boost=NUMBER),
    # What is shown
    row("rank.mmr", {"relevance": [0.9, 0.1], "vectors": [[1.0, 0.0], [0.6, 0.8]], "trade": 0.7, "limit": 2},
        relevance=NUMBERS, vectors=(*ROWS, [[1.0]]), trade=SHARE, limit=(*LIMIT, None)),
    row("rank.adaptive_mmr", {"relevance": [0.9, 0.1], "vectors": [[1.0, 0.0], [0.6, 0.8]], "limit": 2},
        relevance=NUMBERS, vectors=(*ROWS, [[1.0]]), limit=(*LIMIT, None)),
    row("rank.adaptive_trade", {"relevance": [0.9, 0.1]}, relevance=NUMBERS),
    row("rank.group_coverage", {"groups": ["s1", "s1", "s2"], "per_group": 1, "within": 2},
        groups=("s1", 5, None, [["unhashable"]], {"s1": 1}), per_group=FROM_1, within=FROM_1),
    # How words are read
    row("text.words", {"text": "Green tea", "underscores": True}, text=TEXT, underscores=FLAG),
    row("text.stop_words", {"language": "english"}, language=LANGUAGE),
    row("text.negations", {"language": "english"}, language=LANGUAGE),
    row("text.detect", {"text": "green tea", "default": "english"},
        text=(5, None, b"tea", ["tea", 5]), default=LANGUAGE),
    row("text.analyser", {"name": "snowball", "min_length": 3, "language": "english"},
        name=("fancy", None, ["plain"]), min_length=WHOLE, language=LANGUAGE, stop=FLAG),
    row("text.Analyser", {"name": "mine", "min_length": 3}, name=TEXT, min_length=WHOLE, keep_digits=FLAG,
        stop=FLAG, stemming=FLAG, language=LANGUAGE, underscores=FLAG),
    row("text.Analyser.tokens", {"text": "green tea"}, on=text.analyser("plain"), text=TEXT),
    row("text.Classification", {"type": "factual", "confidence": 0.5},
        type=("funny", None), confidence=SHARE),
    row("text.RuleClassifier", {"default": "german"}, default=LANGUAGE),
    row("text.TimeExpression", {"start": 0, "end": 5, "phrase": "today", "period": PERIOD}, start=WHOLE,
        end=FROM_1, phrase=TEXT, period=("today", None)),
    row("text.time_expressions", {"text": "in May", "now": DAY, "language": "english", "nearest": True},
        text=TEXT, now=TIME, language=("klingon", 5, ["english"]), nearest=FLAG),
    row("text.RuleAnchors.anchor", {"text": "in May", "now": DAY}, on=text.RuleAnchors(),
        text=TEXT, now=TIME),
    row("text.RuleAnchors", {"language": "german"}, language=("klingon", 5, ["english"])),
    row("text.RuleAnchors.anchor", {"text": "in May", "now": DAY}, on=text.RuleAnchors(),
        text=TEXT, now=TIME),
    row("text.date_terms", {"period": PERIOD, "zone": UTC}, period=("today", None), zone=("UTC", None, 0)),
    row("text.RuleClassifier.classify", {"query": "Which tea?"}, on=text.RuleClassifier(), query=TEXT),
    row("text.folded", {"name": "Zoë"}, name=TEXT),
    row("text.Mention", {"text": "Anna", "kind": "name", "start": 0, "end": 4},
        text=(*TEXT, " "), kind=("lady", None), start=WHOLE, end=(*WHOLE, 5)),
    row("text.Gazetteer", {"entities": [Entity("Anna")]}, entities=("Anna", None, 5, ["Anna"])),
    row("text.RuleExtractor", {"default": "german"}, default=LANGUAGE),
    row("text.RuleExtractor.mentions", {"text": "Anna", "gazetteer": KNOWN}, on=text.RuleExtractor(),
        text=TEXT, gazetteer=("Anna", ["Anna"])),
    row("text.RuleExtractor.extract", {"texts": ["Anna"], "gazetteer": KNOWN}, on=text.RuleExtractor(),
        texts=TEXTS, gazetteer=("Anna", ["Anna"])),
    row("text.Redirects", {"entries": {"Bob": "Robert"}},
        entries=(["Bob"], None, {"Bob": 5}, {"Bob": " "}, {"a": "b", "b": "a"})),
    row("text.Redirects.follow", {"name": "Bob"}, on=MERGED, name=(*TEXT, " ")),
    row("text.Redirects.merged_into", {"name": "Robert"}, on=MERGED, name=(*TEXT, " ")),
    # Where it was
    row("rank.haversines", {"lat": 52.5, "lon": 13.4, "lats": [48.9, 0.0], "lons": [2.4, 180.0]},
        lat=LAT, lon=LON, lats=LATS, lons=LONS),
    row("rank.nearness", {"metres": [0.0, 5e3], "scale": 1e3}, metres=COUNTS, scale=POSITIVE),
    # Whether it was heard before
    row("dedupe.decide", {"cosine": 0.95, "a": claim(), "b": claim(), "threshold": 0.92},
        cosine=COSINE, a=CLAIM, b=CLAIM, threshold=COSINE, confidence_gap=SHARE),
    row("dedupe.fingerprint", {"content": "tea"}, content=TEXT),
    row("dedupe.normalised", {"content": "tea"}, content=TEXT),
    row("dedupe.decisions.joined_once", {"contents": ["tea", "milk"]},
        contents=("tea", [], None, ["tea", 5])),
    row("dedupe.contradiction", {"older": "It is on", "newer": "It is not on"}, older=TEXT, newer=TEXT),
    row("dedupe.same_statement", {"a": "It is on", "b": "It is off"}, a=TEXT, b=TEXT),
    row("dedupe.extends", {"longer": "It is on now", "shorter": "It is on"}, longer=TEXT, shorter=TEXT),
    row("dedupe.verification.resemblance", {"a": "tea", "b": "milk"}, a=TEXT, b=TEXT),
    row("dedupe.verification.is_turn", {"memory": memory()}, memory=("tea", None, 5)),
    row("dedupe.judge", {"a": memory(), "b": memory(), "cosine": 0.95, "threshold": 0.92,
                             "paraphrases": False},
        a=("tea", None), b=("tea", None), cosine=(NAN, INF, "1", True, 1.1, -1.1), threshold=COSINE,
        paraphrases=FLAG),
    row("dedupe.resolve", {"claims": [claim(), claim()], "strategy": "merge"},
        claims=CLAIMS, strategy=("toss", None)),
    *(Row(f"dedupe.{name}", lambda claims, act=act: act(claims), {"claims": [claim()] * 2},
          {"claims": CLAIMS}) for name, act in dedupe.STRATEGIES.items()),
]
# fmt: on


def public(package: ModuleType) -> Iterator[str]:
    """Yield every public function and class of a package, as ``rank.rrf``."""
    for name in package.__all__:
        value = getattr(package, name)
        if inspect.isclass(value) or inspect.isroutine(value) or hasattr(value, "__wrapped__"):
            yield f"{package.__name__.partition('.')[2]}.{name}"


def test_every_public_function_is_in_the_table() -> None:
    tested = {".".join(each.name.split(".")[:2]) for each in TABLE} - INTERNAL
    untested = RESULTS | CHOICES | PROTOCOLS
    assert {name for package in (rank, text, dedupe) for name in public(package)} == tested | untested
    assert not tested & untested


@pytest.mark.parametrize("call", TABLE, ids=lambda each: each.name)
def test_the_good_call_is_good(call: Row) -> None:
    assert finite(call())


@pytest.mark.parametrize("call", TABLE, ids=lambda each: each.name)
def test_bad_input_is_refused_by_name_and_value(call: Row) -> None:
    for argument, values in call.bad.items():
        for value in values:
            refused(call, argument, value)


def refused(call: Row, argument: str, value: Any) -> None:
    case = f"{argument}={shown(value)}"
    try:
        pytest.fail(f"{case} was not refused, and gave {shown(call(**{argument: value}))}")
    except InvalidArgument as caught:
        error = caught
    assert error.argument.startswith(argument), case
    assert str(error).startswith(f"{error.argument} must be "), case
    assert str(error).endswith(f", got {shown(error.value)}"), case
    # What is shown is the value, a part of it, or its length.
    part, whole = repr(error.value), repr(value)
    assert part in whole or tokens(part) & tokens(whole) or re.match(r"\d+ items|dimension", part), case


def tokens(shown_value: str) -> set[object]:
    """Return the words and numbers of a value's repr, 0 and 0.0 alike."""
    found = set(re.findall(r"[\w.+-]+", shown_value))
    return {float(word) if re.fullmatch(r"-?[\d.]+", word) else word for word in found}


EDGES: list[tuple[Callable[[], Any], Any]] = [
    # Nothing
    (lambda: rank.cosine([], []), 0.0),
    (lambda: rank.cosines([], [0.5]), []),
    (lambda: rank.max_similarity([0.5], []), 0.0),
    (lambda: rank.best_first([]), []),
    (lambda: rank.min_max([]), []),
    (lambda: rank.z_score([]), []),
    (lambda: rank.max_scaled([]), []),
    (lambda: rank.rank_based([]), []),
    *((lambda fuse=fuse: fuse([]).ids, []) for fuse in rank.FUSIONS.values()),
    *((lambda fuse=fuse: fuse([{}, {}]).ids, []) for fuse in rank.FUSIONS.values()),
    (lambda: rank.multiplicative([], []).scores, []),
    (lambda: rank.additive([], []).scores, []),
    (lambda: rank.composite_additive([], []).scores, []),
    (lambda: rank.composite_multiplicative([], []).scores, []),
    (lambda: rank.boosted_additive([], []).scores, []),
    (lambda: rank.quality([], [], [], [], []), []),
    *((lambda curve=curve: curve([], [], []), []) for curve in rank.CURVES.values()),
    (lambda: rank.proximity([], PERIOD), []),
    (lambda: rank.mmr([], []), []),
    (lambda: rank.adaptive_trade([]), 0.5),
    (lambda: rank.group_coverage([]), []),
    (lambda: rank.inverse_document_frequency(0, 0), 0.0),
    (lambda: rank.phrase_bonus(3, 0), 0.0),
    (lambda: rank.boosted_query([], [], TEAS), {}),
    (lambda: text.words(""), []),
    (lambda: text.detect("", default="dutch"), "dutch"),
    # One
    (lambda: rank.min_max([7.0]), [1.0]),
    (lambda: rank.z_score([7.0]), [0.0]),
    (lambda: rank.rank_based([7.0]), [1.0]),
    (lambda: rank.mmr([7.0], [[1.0]]), [0]),
    (lambda: rank.aligned_fusion([{"a": 7.0}, {}]).scores, [1.0]),
    (lambda: rank.quality(["semantic"], [0.1], [0.2], [0], [9]), [1.0]),
    # All equal
    (lambda: rank.min_max([7.0, 7.0]), [1.0, 1.0]),
    (lambda: rank.z_score([0.1, 0.1, 0.1]), [0.0, 0.0, 0.0]),
    (lambda: rank.max_scaled([0.0, 0.0]), [0.0, 0.0]),
    (lambda: rank.best_first([7.0, 7.0]), [0, 1]),
    (lambda: rank.mmr([7.0, 7.0], [[0.0], [0.0]]), [0, 1]),
    (lambda: rank.relative_to_best([0.0, 0.0]), [0.0, 0.0]),
    (lambda: rank.quality(["semantic"] * 2, [0, 0], [0, 0], [0, 0], [0, 0]), [0.0, 0.0]),
    (lambda: rank.zscored_rrf([["a"], ["a"]]).scores, [0.0]),
    # Nothing asked for
    (lambda: rank.best_first([7.0], limit=0), []),
    (lambda: rank.rrf([["a"]], limit=0).ids, []),
    (lambda: rank.mmr([7.0], [[1.0]], limit=0), []),
    (lambda: rank.boosted_additive([0.5], [1.0], boost=-1).scores, [0.5]),
]


@pytest.mark.parametrize(("call", "expected"), EDGES)
def test_edges_have_the_documented_result(call: Callable[[], Any], expected: Any) -> None:
    result = call()
    assert (result.tolist() if isinstance(result, np.ndarray) else result) == expected


FLOATS = st.floats() | st.sampled_from([0.0, -0.0, 0.5, 1.0, 5e-324, 1e-308, 1.7e308, -1.7e308])


def anything_like(value: Any) -> st.SearchStrategy[Any]:
    """Return values of the shape of `value`, with any floats and small whole numbers in place of its own."""
    if isinstance(value, bool):
        return st.booleans()
    if isinstance(value, int):
        return st.integers(-2, 60)
    if isinstance(value, float):
        return FLOATS
    if isinstance(value, list):
        return st.tuples(*map(anything_like, value)).map(list)
    if isinstance(value, dict):
        return st.fixed_dictionaries({key: anything_like(item) for key, item in value.items()})
    return st.just(value)


def finite(result: Any) -> bool:
    """Return whether every number in a result is finite."""
    if isinstance(result, float | np.ndarray):
        return bool(np.isfinite(result).all())
    if isinstance(result, Mapping):
        return all(map(finite, result.values()))
    if isinstance(result, list | tuple):
        return all(map(finite, result))
    if is_dataclass(result):
        return all(finite(getattr(result, field.name)) for field in fields(result))
    return True


def changes(call: Row) -> st.SearchStrategy[dict[str, Any]]:
    """Return other values for some arguments of a call, and for at least one."""
    others = {argument: anything_like(value) for argument, value in call.good.items()}
    return st.fixed_dictionaries({}, optional=others).filter(bool)


@pytest.mark.parametrize(
    ("call", "changed"), [pytest.param(each, changes(each), id=each.name) for each in TABLE]
)
@given(data=st.data())
def test_any_floats_give_a_finite_result_or_a_named_error(
    call: Row, changed: st.SearchStrategy[dict[str, Any]], data: st.DataObject
) -> None:
    try:
        result = call(**data.draw(changed))
    except InvalidArgument:
        return
    assert finite(result)
