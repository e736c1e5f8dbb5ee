"""No rule takes more than its share of a longer text: twice the text, about twice the processor time."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from itertools import count
from time import process_time

import pytest

import memorata
from memorata import dedupe, text
from memorata.dedupe.claims import claims
from memorata.dedupe.contradiction import related_words
from memorata.dedupe.wording import statement_key
from memorata.model import Entity
from memorata.service.conversation import category_of, message_text
from memorata.service.formats.record import markdown_blocks, paragraphs
from memorata.text.known_names import NameMatcher, may_mention
from memorata.text.queries import without_event_verbs, without_false_start
from memorata.text.relations import asked_relations
from memorata.text.secrets import redacted
from memorata.text.standing_sentences import standing
from memorata.text.tokens import count_contained, sentences

NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)
SIZE = 5_000
NOT_WORTH_IT = 0.02
"""A rule that reads twice so many characters in so many seconds is not measured further: even if its time
grew by the square, 100,000 would take no more than two."""
MAX_RATIO = 3.0
ATTEMPTS = 5

MARKS = (
    "\" [[ \\ a. a@ ( < 7 ` http:// , ' “ „ » ‘ 「 🍵 - -- / a/ _ a_ * | : a: . A. ? = ~ # ! … a aA ß "
    'İ e\u0301 的 我 の ア ก 는 \u200d 1. 1, 1- 1: {"a": (a) </ &amp; C:\\a api_key= PIN:123/ A- a--'
)
WORDS = (
    ' ¦\n¦\t¦7 ¦```\n¦http://a ¦, ¦. ¦"a" ¦<a ¦+1 ¦tea ¦Anna ¦ANNA ¦я ¦في ¦Mr. ¦2026-05-07 ¦May 7 ¦Monday ¦'
    "days ago ¦in ¦not ¦no, ¦why? ¦password ¦-----BEGIN ¦the tea of "
)
UNITS = (*MARKS.split(), *WORDS.split("¦"))
PLAIN = [(unit, "", "") for unit in UNITS]
ENDED = [
    ("a.", "", "@"),
    ("(", "", ")" * (SIZE // 2)),
    (" ", "a", "b"),
    ("\n", "a", "b"),
    (" ", "# a", "b"),
    ("#", "# a ", "b"),
    ("=", "curl -u ", ""),
    ("<system-reminder>", "", ""),
    ("+my", "", "🍵"),
]

FRESH = count()
MEMORY = memorata.open(":memory:", embedder="lexical", clock=lambda: NOW)
EXTRACTOR, CLASSIFIER = text.RuleExtractor(), text.RuleClassifier()
GAZETTEER = text.Gazetteer([Entity("Bank of England"), Entity("Anna"), Entity("李明")])
MATCHER = NameMatcher(["Will", "Anna Maria"])


def remembered(long: str) -> None:
    """Remember a text and what goes on from it, and ask for it."""
    path = f"n{next(FRESH)}"
    MEMORY.remember(long, namespace=path)
    MEMORY.remember(f"{long} no longer", namespace=path)
    MEMORY.recall(long, namespace=path)


def captured(long: str) -> None:
    """Read a message of a transcript."""
    category_of("user", message_text(long))


RULES: Mapping[str, Callable[[str], object]] = {
    "words": text.words,
    "sentences": sentences,
    "detect": text.detect,
    **{f"analyser {name}": text.analyser(name).tokens for name in text.ANALYSERS},
    "folded": text.folded,
    "count_contained": lambda long: count_contained(long, ["a", "tea", "a b"]),
    "mentions": EXTRACTOR.mentions,
    "mentions of known names": lambda long: EXTRACTOR.mentions(long, GAZETTEER),
    "NameMatcher": MATCHER.matches,
    "may_mention": lambda long: may_mention(long, ["Will", "Anna"]),
    "time_expressions": lambda long: text.time_expressions(long, NOW),
    "anchor": lambda long: text.RuleAnchors().anchor(long, NOW),
    "classify": CLASSIFIER.classify,
    "without_false_start": without_false_start,
    "without_event_verbs": without_event_verbs,
    "asked_relations": asked_relations,
    "standing": standing,
    "redacted": redacted,
    "fingerprint": dedupe.fingerprint,
    "statement_key": statement_key,
    "same_statement": lambda long: dedupe.same_statement(long, f"{long} x"),
    "extends": lambda long: dedupe.extends(f"{long} x", long),
    "contradiction": lambda long: dedupe.contradiction(long, f"no {long}"),
    "claims": claims,
    "related_words": related_words,
    "markdown": lambda long: list(markdown_blocks(long)),
    "captured": captured,
    "remember and recall": remembered,
    "paragraphs": lambda long: list(paragraphs(long, "paragraphs")),
}


def seconds(rule: Callable[[str], object], long: str) -> float:
    start = process_time()
    rule(long)
    return process_time() - start


def grows(rule: Callable[[str], object], unit: str, before: str, after: str) -> str:
    """Return by how much more time twice the text takes, if that is too much; empty if it is not."""

    def made(size: int) -> str:
        # What was read before may be kept.
        return f"{next(FRESH)} {before}{unit * (size // len(unit))}{after * (size // SIZE)}"

    if seconds(rule, made(2 * SIZE)) < NOT_WORTH_IT:
        return ""
    # Other processes and the collector make a measurement longer, never shorter.
    single = double = float("inf")
    for _ in range(ATTEMPTS):
        single = min(single, seconds(rule, made(SIZE)))
        double = min(double, seconds(rule, made(2 * SIZE)))
        if double <= MAX_RATIO * single:
            return ""
    return f"{double / single:.1f} times"


@pytest.mark.untraced
@pytest.mark.parametrize("name", RULES)
def test_twice_the_text_takes_about_twice_the_time(name: str) -> None:
    shapes = [*PLAIN, *ENDED]
    longer = {shape: grows(RULES[name], *shape) for shape in shapes}
    assert {shape: times for shape, times in longer.items() if times} == {}
