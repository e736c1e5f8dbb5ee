"""What a text claims, read for comparison: clauses, and of each the subject, attributes, values, polarity."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from memorata._frozen import frozen
from memorata.dedupe.claim_words import HAN_WORDS, MAX_HAN, Sense, number, sense, word_set
from memorata.dedupe.wording import Word, root, words_in

MAX_CLAUSES: Final = 8
_MAX_WORDS: Final = 40
_CODE: Final = re.compile(r"```.*?(?:```|\Z)|`[^`]*`", re.DOTALL)
_SENTENCE: Final = re.compile(r"[^.!?;。！？；\n]+(?:[.](?=\w)[^.!?;。！？；\n]+)*[.!?;。！？；\n]*")
_COMMA: Final = re.compile(r"[，,]+(?=\s*\S)")
_LONG: Final = 12
"""Sentences of more words are cut at their commas as well."""
_DIGITS: Final = re.compile(r"\d+")
_HAN_RUN: Final = re.compile("[\u3400-\u9fff]+")
_ME: Final = "i"
_YOUR: Final = "you"
_YOU: Final = word_set("you your du dein deine tú tu usted vous votre 你 你们 您 ты вы")
_POSSESSIVE: Final = re.compile(r"\w['’]s?\b")
_MINE: Final = word_set(
    "my our mein meine meinen meiner unser unsere mi mis mon ma mes notre nos",
    "nuestro nuestra 我 我的 мой моя",
)
_OF: Final = frozenset({"of", "von", "de", "d"})
_COPULAS: Final = word_set("is am are 'm ist bin sind es soy está est suis sont 是")
_TO: Final = word_set("to back in into out from here there away closer nach")
_STATES: Final = _COPULAS | word_set(
    "has have 've needs costs weighs runs uses ist hat habe haben kostet wiegt",
    "tiene tengo cuesta a ai ont coûte 有 家有",
)
_ARTICLES: Final = word_set("a an ein eine un una une 一个 一名 个 名")
_EMPHATIC: Final = frozenset({("no", "other"), ("kein", "anderes"), ("not", "only"), ("no", "doubt")})
"""Negations that deny nothing that is said."""
_AGENTS: Final = (
    "er",
    "or",
    "ist",
    "ian",
    "ant",
    "nurse",
    "pilot",
    "ier",
    "eur",
    "euse",
    "ère",
    "in",
    "师",
    "生",
    "员",
)
"""How names of occupations end."""
_ELIDED: Final = re.compile(r"^(?:l|d|j|n|s|c|m|t|qu)['’](?=\w)")


@frozen
class Clause:
    """One clause of a text.

    Parameters
    ----------
    words
        Its words, folded, in order.
    subject
        Whom or what it is about; "i" for the speaker, empty if it does not say.
    relative
        Whom of the subject's it is about instead: the sister in "Anna's sister"; empty for itself.
    names
        Everything in it that is written as a name.
    attributes
        Attributes of one value that it names.
    value
        What it says of them: words that are neither light nor name an attribute, by their roots, and
        what each is: a ``number``, a ``day``, a ``name``, a ``word`` or a character (``han``).
    content
        All roots that carry meaning, but the subject.
    numbers
        The numbers in it, each with the roots of the words on either side.
    classes, denied
        The classes of things that it mentions, and those that it denies.
    negative, sign
        Whether a word negates it; +1 for liking, −1 for disliking, 0 for neither.
    flags
        Which kinds of words it holds: ``changed``, ``ended``, ``past``, ``planned``, ``several``, ``never``.
    before
        The light word before the value.
    state
        Whether it says how something is, and not what happened.
    """

    words: tuple[str, ...]
    subject: str
    relative: str
    names: frozenset[str]
    attributes: frozenset[str]
    value: dict[str, str]
    content: frozenset[str]
    numbers: tuple[tuple[str, frozenset[str]], ...]
    classes: frozenset[str]
    denied: frozenset[str]
    negative: bool
    sign: int
    flags: frozenset[str]
    before: str
    state: bool


@frozen
class Claims:
    """The clauses of a text that state something, and the names in all of it."""

    clauses: tuple[Clause, ...]
    names: frozenset[str]


@lru_cache(maxsize=2_048)
def claims(text: str, speaker: str = "") -> Claims:
    """Return what a text claims; "I" is `speaker`, if that is known."""
    text = _CODE.sub(" ", text[:4_000])
    parts: list[str] = []
    for match in _SENTENCE.finditer(text):
        parts += _cut(match.group())
    stated = [part for part in parts if not part.rstrip().endswith(("?", "？"))] or parts
    subject = ""
    clauses = []
    for part in stated[:MAX_CLAUSES]:
        clause = _clause(part, subject, speaker)
        if clause is not None:
            subject = clause.subject or subject
            clauses.append(clause)
    names = frozenset(name for clause in clauses for name in clause.names)
    return Claims(tuple(clauses), names)


def _cut(sentence: str) -> list[str]:
    """Return the clauses of a sentence; the end of a question asks, and what goes before it need not."""
    if _HAN_RUN.search(sentence) is None and len(sentence.split()) <= _LONG:
        return [sentence]
    return [part for part in _COMMA.split(sentence) if part.strip()]


def _tokens(text: str) -> list[Word]:
    tokens: list[Word] = []
    for word in words_in(text):
        if _HAN_RUN.search(word.text):
            tokens += _han(word.text)
            continue
        elided = _ELIDED.match(word.text)
        if elided:
            if word.text[0] == "n":
                tokens.append(Word("ne"))
            if word.text[0] == "j":
                tokens.append(Word("je"))
            tokens.append(Word(word.text[elided.end() :], word.name and word.text[0] not in "ldjnscmtq"))
        else:
            tokens.append(word)
    return tokens


def _han(text: str) -> list[Word]:
    """Cut Chinese into known words, the longest first, and single characters."""
    tokens: list[Word] = []
    place = 0
    while place < len(text):
        if (digits := _DIGITS.match(text, place)) is not None:
            tokens.append(Word(digits.group()))
            place = digits.end()
            continue
        for size in range(min(MAX_HAN, len(text) - place), 0, -1):
            if size == 1 or text[place : place + size] in HAN_WORDS:
                tokens.append(Word(text[place : place + size]))
                place += size
                break
    return tokens


def _clause(text: str, subject: str, speaker: str) -> Clause | None:
    tokens = _tokens(text)[:_MAX_WORDS]
    if not tokens:
        return None
    senses = [sense(word.text) for word in tokens]
    flags = frozenset(flag for each in senses for flag in each.flags)
    names = _names(tokens, senses)
    about = _subject(tokens, senses, names, speaker) or subject
    relative = _relative(tokens, senses, names, bool(_POSSESSIVE.search(text)))
    attributes = _attributes(tokens, senses)
    content: set[str] = set()
    value: dict[str, str] = {}
    before = ""
    for place, (word, each) in enumerate(zip(tokens, senses, strict=True)):
        if (
            word.text == about
            or (word.text in about and _HAN_RUN.match(about))
            or each.light
            or each.flags & {"negative", "me"}
        ):
            continue
        stem = number(word.text) or root(Word(word.text))
        if not each.flags & {"changed", "past", "planned", "never"} or each.classes or each.attributes:
            content.add(stem)
        if not each.attributes and not each.flags & {
            "changed",
            "ended",
            "past",
            "planned",
            "never",
            "good",
            "bad",
        }:
            if not value:
                before = tokens[place - 1].text if place else ""
            value[stem] = _kind(word, each)
    negative = "never" in flags or any(
        "negative" in each.flags and (word.text, following.text) not in _EMPHATIC
        for word, following, each in zip(tokens, [*tokens[1:], Word("")], senses, strict=True)
    )
    classes = frozenset(name for each in senses for name in each.classes)
    heads = frozenset(name for each in senses for name in each.heads)
    lacks = frozenset(name for each in senses for name in each.lacks)
    sign = ("good" in flags) - ("bad" in flags)
    # "Only an only child" and "no longer" are told by their words; a denied liking is a disliking.
    return Clause(
        tuple(word.text for word in tokens),
        about,
        relative,
        names,
        attributes | _plain(tokens, senses, content),
        value,
        frozenset(content),
        _numbers(tokens, senses),
        classes - (classes if negative else frozenset()),
        lacks | (heads if negative or "ended" in flags else frozenset()) | _only_child(tokens),
        negative,
        -sign if negative and sign else sign,
        flags,
        before,
        any(word.text in _STATES for word in tokens),
    )


def _attributes(tokens: list[Word], senses: list[Sense]) -> frozenset[str]:
    """Return the attributes that a clause names; what somebody's favourite is of belongs to the name."""
    named = set()
    for place, (word, each) in enumerate(zip(tokens, senses, strict=True)):
        following = tokens[place + 1].text if place + 1 < len(tokens) else ""
        if word.text in ("moved", "moves", "moving") and following not in _TO:
            continue
        for name in each.attributes:
            if name != "favourite":
                named.add(name)
                continue
            thing = next(
                (
                    root(Word(other.text))
                    for other, of in zip(tokens[place + 1 : place + 3], senses[place + 1 :], strict=False)
                    if not of.light and not other.name
                ),
                "",
            )
            named.add(f"favourite {thing}" if thing and following not in _COPULAS else "favourite")
    return frozenset(named)


def _kind(word: Word, read: Sense) -> str:
    if number(word.text) is not None:
        return "number"
    if "week" in read.flags:
        return "day"
    return "han" if _HAN_RUN.match(word.text) else "name" if word.name else "word"


def _relative(tokens: list[Word], senses: list[Sense], names: frozenset[str], possessive: bool) -> str:
    """Return the root of a word such as "sister" if a clause begins with somebody's."""
    for place, (word, each) in enumerate(zip(tokens[:6], senses, strict=False)):
        if (
            place
            and tokens[place - 1].text in _MINE - {"我"}
            and not (each.attributes or each.flags & {"changed", "me"})
        ):
            return root(Word(word.text))
        if "person" not in each.flags:
            if (
                "me" not in each.flags
                and word.text not in names
                and not each.light
                and not _HAN_RUN.match(word.text)
            ):
                return ""
            continue
        ahead = tokens[place - 1] if place else None
        behind = [later.text for later in tokens[place + 1 : place + 3]]
        whose = (
            ahead is not None
            and (ahead.text in _MINE or ahead.text == "的" or (possessive and ahead.text in names))
        ) or (len(behind) == 2 and behind[0] in _OF and behind[1] in names)
        return root(Word(word.text)) if whose else ""
    return ""


def _plain(tokens: list[Word], senses: list[Sense], content: set[str]) -> frozenset[str]:
    """Return attributes that no word names: what somebody is, and how old."""
    if len(content) == 1 and number(next(iter(content))) is not None:
        return frozenset({"age"})
    texts = [word.text for word in tokens[:5]]
    is_ = next((place for place, text in enumerate(texts) if text in _COPULAS), None)
    if is_ is None or len(content) > 3:
        return frozenset()
    following = [word.text for word in tokens[is_ + 1 : is_ + 3]]
    if any(text in _ARTICLES for text in following):
        last = tokens[-1].text
        return frozenset({"kind", "work"} if last.endswith(_AGENTS) else {"kind"})
    return frozenset({"kind"}) if tokens[-1].text == "的" else frozenset({"being"})


def _only_child(tokens: list[Word]) -> frozenset[str]:
    texts = [word.text for word in tokens]
    for only, child in (("only", "child"), ("独生子", ""), ("einzelkind", "")):
        if only in texts and (not child or child in texts[texts.index(only) :][:2]):
            return frozenset({"siblings"})
    return frozenset()


def _names(tokens: list[Word], senses: list[Sense]) -> frozenset[str]:
    names = set()
    for place, (word, each) in enumerate(zip(tokens, senses, strict=True)):
        ordinary = each.light or each.flags or each.attributes or each.classes or each.lacks
        if (
            word.name
            and not word.number
            and not (place == 0 and ordinary)
            and not each.flags & {"me", "light", "negative"}
        ):
            names.add(word.text)
    return frozenset(names)


def _subject(tokens: list[Word], senses: list[Sense], names: frozenset[str], speaker: str) -> str:
    """Return whom a clause is about: the speaker or the first name near its beginning, or its first noun."""
    first = ""
    run = ""
    for place, (word, each) in enumerate(zip(tokens[:8], senses, strict=False)):
        if "me" in each.flags:
            near = tokens[place + 1 : place + 3] if word.text in _MINE else []
            nearest = next((later.text for later in near if later.text in names), "")
            return nearest or (speaker.split()[0].lower() if speaker else _ME)
        if word.text in names:
            numbered = place + 1 < len(tokens) and tokens[place + 1].number
            return f"{word.text} {tokens[place + 1].text}" if numbered else word.text
        if word.text in _YOU and not names:
            return _YOUR
        if _HAN_RUN.match(word.text):
            if (
                not (each.light or each.flags or each.attributes or each.classes or each.lacks)
                and len(run) < 3
            ):
                run += word.text
                continue
            if run or not each.light:
                break
        elif first and (word.text in _STATES or place == len(tokens) - 1):
            return first
        elif not each.light and not each.flags & {"changed", "negative", "past", "planned"}:
            if not first or any(later.text in _STATES for later in tokens[place + 1 : 6]):
                first = f"{first} {word.text}".strip()
            if not first.isnumeric() and place + 1 < len(tokens) and tokens[place + 1].number:
                return f"{first} {tokens[place + 1].text}"
    return run or first


def _numbers(tokens: list[Word], senses: list[Sense]) -> tuple[tuple[str, frozenset[str]], ...]:
    numbers = []
    for place, word in enumerate(tokens):
        value = number(word.text)
        if value is None:
            continue
        near = [
            root(Word(tokens[other].text))
            for other in (place - 2, place - 1, place + 1, place + 2)
            if 0 <= other < len(tokens) and not senses[other].light and number(tokens[other].text) is None
        ]
        numbers.append((value, frozenset(near)))
    return tuple(numbers)
