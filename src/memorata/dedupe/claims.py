"""What a text claims, read for comparison: clauses, and of each the subject, attributes, values, polarity."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import Final

from memorata._frozen import frozen
from memorata.dedupe.claim_tokens import HAN_RUN, Token, claim_root, tokens_in
from memorata.dedupe.claim_words import PLAIN, Sense, number
from memorata.dedupe.cue_words import uncorrected, word_set

MAX_CLAUSES: Final = 8
_MAX_CLAUSE_WORDS: Final = 40
_CODE: Final = re.compile(r"```.*?(?:```|\Z)|`[^`]*`", re.DOTALL)
_SENTENCE: Final = re.compile(
    r"[^.!?;。！？；\n]+(?:[.](?:(?=\w)|(?<=\b(?:Dr|Mr|Ms|St)\.)|(?<=\bMrs\.))[^.!?;。！？；\n]+)*[.!?;。！？；\n]*"
)
_COMMA: Final = re.compile(r"[，,]+(?=\s*\S)")
_MAX_SENTENCE_WORDS: Final = 12
"""Sentences of more words are cut at their commas as well."""
_ME: Final = "i"
_YOUR: Final = "you"
_YOU: Final = word_set("you your du dein deine tú tu usted vous votre 你 你们 您 ты вы")
_AFTER_VERBS: Final = word_set("了 过 着 得 啊 吧 呀 呢 吗 嘛 啦")
_PRONOUNS: Final = word_set("he she they er él ella il elle ils elles 他 她 они он она")
_POSSESSIVE: Final = re.compile(r"\w['’]s?\b")
_MINE: Final = word_set(
    "my our mein meine meinen meiner unser unsere mi mis mon ma mes notre nos",
    "nuestro nuestra 我 我的 мой моя",
)
_OF: Final = frozenset({"of", "von", "de", "d"})
COPULAS: Final = word_set("is am are 'm ist bin sind es soy está est suis sont 是")
_TO: Final = word_set("to back in into out from here there away closer nach")
STATES: Final = COPULAS | word_set(
    "has have having 've needs costs weighs runs uses ist hat habe haben kostet wiegt",
    "tiene tengo cuesta a ai ont coûte 有 家有",
)
GOES_ON: Final = "了"
"""What ends a clause of Chinese that says how much it is by now."""
_VERBS: Final = STATES | word_set("was were got wurde wurden fue será era était")
"""Words that end the subject of a clause."""
_ARTICLES: Final = word_set("a an ein eine un una une 一个 一名 个 名")
_VISITED: Final = word_set("to in there")
_RELATIVES: Final = word_set("that which who whose")
"""Words after which a negation is of what is named, and not of what is said of it: "hotels that aren't"."""
_EMPHATIC: Final = frozenset({("no", "other"), ("kein", "anderes"), ("not", "only"), ("no", "doubt")})
"""Negations that deny nothing of their clause."""
AGENTS: Final = (
    *("er", "or", "ist", "ian", "ant", "nurse", "pilot", "ier", "eur", "euse", "ère", "in"),
    *("师", "生", "员"),
)
"""How names of occupations end."""
MAX_PLAIN: Final = 3
"""How many words of content a clause may have that only says what its subject is."""
ONLY_CHILD: Final = {"only": "child", "独生子": "", "einzelkind": ""}
"""Words that deny siblings, and the word that has to follow."""
LIKING: Final = frozenset({"good", "bad", "endured"})
"""Flags of words that tell what somebody likes or dislikes."""
_DENIALS: Final = frozenset({"negative", "never"})
_MAX_DENIAL_WORDS: Final = 3
"""How far before a word of liking a negation of it stands at most: "do not really like"."""
_EMPTY_FLAGS: Final = frozenset({"light", "me", "first", "negative"})
_NOTHING: Final[frozenset[str]] = frozenset()


@frozen
class Clause:
    """One clause of a text.

    Parameters
    ----------
    words
        Its words, folded, in order.
    subject
        What it is about; "i" for the speaker, empty if it does not say.
    relative
        The relative of the subject that it is about instead: the sister in "Anna's sister"; empty for itself.
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
        Which kinds of words it holds: ``changed``, ``ended``, ``past``, ``planned``, ``several``, ``never``,
        ``corrected`` if the text says that it corrects another;
        ``lacking`` if what is liked or avoided is said to lack something.
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
    statement = uncorrected(text)
    corrected = frozenset({"corrected"}) if statement != text else _NOTHING
    parts = clause_texts(statement)
    stated = [part for part in parts if not part.rstrip().endswith(("?", "？"))] or parts
    subject = ""
    me = next(iter(speaker.lower().split()), _ME)
    clauses = []
    for part in stated:
        tokens = tokens_in(part)[:_MAX_CLAUSE_WORDS]
        clause = _clause(part, tokens, subject, me) if tokens else None
        if clause is None or not (clause.content or clause.attributes or clause.flags - _EMPTY_FLAGS):
            continue
        subject = clause.subject or subject
        clauses.append(replace(clause, flags=clause.flags | corrected) if corrected else clause)
        if len(clauses) == MAX_CLAUSES:
            break
    names = frozenset(name for clause in clauses for name in clause.names)
    return Claims(tuple(clauses), names)


def clause_texts(text: str) -> list[str]:
    """Return the clauses of a text as they are written, questions among them."""
    parts: list[str] = []
    for match in _SENTENCE.finditer(_CODE.sub(" ", text[:4_000])):
        parts += _cut(match.group())
    return parts


def _cut(sentence: str) -> list[str]:
    """Return the clauses of a sentence; the end of a question asks, and what goes before it need not."""
    if HAN_RUN.search(sentence) is None and len(sentence.split()) <= _MAX_SENTENCE_WORDS:
        return [sentence]
    return [part for part in _COMMA.split(sentence) if part.strip()]


def _clause(text: str, tokens: Sequence[Token], subject: str, me: str) -> Clause:
    """Return what a clause of one word or more says; `me` is the speaker."""
    senses = [token.sense for token in tokens]
    texts = tuple([token.text for token in tokens])
    flags = _union([meaning.flags for meaning in senses])
    if "been" in texts and not _been_to(tokens):
        flags -= {"several"}
    if "used" in texts and ("used", "to") in pairwise(texts):
        flags |= {"past"}
    names = names_of(tokens)
    about = subject_of(tokens, names, me) or subject
    content = {token.stem for token in content_words(tokens, about)}
    value: dict[str, str] = {}
    before = ""
    for place, token in enumerate(tokens):
        if token.value and not _is_part(token.text, about):
            if not value:
                before = tokens[place - 1].text if place else ""
            value[token.stem] = token.value
    negative = "never" in flags or (
        "negative" in flags
        and any(
            "negative" in token.sense.flags
            and (token.text, following.text if following else "") not in _EMPHATIC
            and _RELATIVES.isdisjoint(texts[max(0, place - 2) : place])
            for place, (token, following) in enumerate(zip(tokens, [*tokens[1:], None], strict=True))
        )
    )
    classes = _union([meaning.classes for meaning in senses])
    heads = _union([meaning.heads for meaning in senses])
    lacks = _union([meaning.lacks for meaning in senses])
    attributes = _attributes(tokens) | _plain(tokens, content)
    if "work" in attributes and tokens[-1].sense is PLAIN and tokens[-1].text.endswith(AGENTS):
        # Who is a painter by trade works.
        classes |= {"work"}
    sign = ("good" in flags) - ("bad" in flags)
    if negative and "endured" in flags:
        # Who cannot stand something dislikes it; that one can, nobody says.
        sign = 1
    opinion = not flags.isdisjoint(LIKING)
    if negative and opinion:
        # "Hotels that have no gym" are avoided or liked all the same.
        if _is_denied(tokens):
            sign = -sign
        else:
            flags |= {"lacking"}
    # "Only an only child" and "no longer" are recognised by their words; a denied liking is a disliking.
    return Clause(
        texts,
        about,
        _relative(tokens, names, bool(_POSSESSIVE.search(text))),
        names,
        attributes,
        value,
        frozenset(content),
        _numbers(tokens),
        # Who avoids meat tells of none, and who prefers vegetarian food may eat some.
        classes - (classes if negative or (opinion and sign <= 0) else _NOTHING),
        (_NOTHING if opinion else lacks)
        | (heads if negative or "ended" in flags else _NOTHING)
        | _only_child(tokens),
        negative,
        sign,
        flags,
        before,
        not STATES.isdisjoint(texts) or _goes_on(tokens),
    )


def _is_denied(tokens: Sequence[Token]) -> bool:
    """Return whether a negation is of a liking: up to three words before it, just after it, or at the end."""
    denials = [place for place, token in enumerate(tokens) if token.sense.flags & _DENIALS]
    likings = [place for place, token in enumerate(tokens) if token.sense.flags & LIKING]
    return len(tokens) - 1 in denials or any(
        -1 <= liking - denial <= _MAX_DENIAL_WORDS for denial in denials for liking in likings
    )


def _been_to(tokens: Sequence[Token]) -> bool:
    """Return whether a clause with "been" tells of several things all the same: of a visit, or a liking.

    "Has been sticking to it" tells of one.
    """
    return any(
        "several" in token.sense.flags and (token.text != "been" or after.text in _VISITED)
        for token, after in zip(tokens, [*tokens[1:], tokens[0]], strict=True)
    )


def _goes_on(tokens: Sequence[Token]) -> bool:
    """Return whether a clause of Chinese says how much it is by now: 写了两年了."""
    return len(tokens) > 2 and tokens[-1].text == GOES_ON and number(tokens[-3].text) is not None


def content_words(tokens: Sequence[Token], about: str) -> list[Token]:
    """Return the words of a clause that carry meaning, but its subject."""
    return [token for token in tokens if token.stem and not _is_part(token.text, about)]


def _is_part(text: str, about: str) -> bool:
    """Return whether a word is the subject, or a character of one in Chinese."""
    return text == about or (text in about and HAN_RUN.match(about) is not None)


def _union(sets: Sequence[frozenset[str]]) -> frozenset[str]:
    return _NOTHING.union(*filter(None, sets))


def _attributes(tokens: Sequence[Token]) -> frozenset[str]:
    """Return the attributes that a clause names; the noun after "favourite" belongs to the name."""
    attributes = set()
    for place, token in enumerate(tokens):
        if not token.sense.attributes:
            continue
        following = tokens[place + 1].text if place + 1 < len(tokens) else ""
        if token.text in ("moved", "moves", "moving") and following not in _TO:
            continue
        if token.text == "due" and following == "to":
            # A reason, and no deadline.
            continue
        for name in token.sense.attributes:
            if name != "favourite":
                attributes.add(name)
                continue
            near = tokens[place + 1 : place + 3]
            noun = next(
                (claim_root(later.text) for later in near if not later.sense.light and not later.name), ""
            )
            attributes.add(f"favourite {noun}" if noun and following not in COPULAS else "favourite")
    return frozenset(attributes)


def _relative(tokens: Sequence[Token], names: frozenset[str], possessive: bool) -> str:
    """Return the root of a word such as "sister" if a clause begins with a possessive and it."""
    for place, token in enumerate(tokens[:6]):
        meaning = token.sense
        if (
            place
            and tokens[place - 1].text in _MINE - {"我"}
            and not (meaning.attributes or meaning.flags & {"changed", "me"})
        ):
            return claim_root(token.text)
        if "person" not in meaning.flags:
            if (
                "me" not in meaning.flags
                and token.text not in names
                and not meaning.light
                and not HAN_RUN.match(token.text)
                and not (possessive and meaning is PLAIN and _is_person(tokens[place + 1 : place + 2]))
            ):
                return ""
            continue
        ahead = tokens[place - 1] if place else None
        if ahead is not None and place > 1 and possessive and ahead.sense is PLAIN and not ahead.name:
            # "Anna's younger sister".
            ahead = tokens[place - 2]
        behind = [later.text for later in tokens[place + 1 : place + 3]]
        whose = (
            ahead is not None
            and (ahead.text in _MINE or ahead.text == "的" or (possessive and ahead.text in names))
        ) or (len(behind) == 2 and behind[0] in _OF and behind[1] in names)
        return claim_root(token.text) if whose else ""
    return ""


def _is_person(tokens: Sequence[Token]) -> bool:
    return any("person" in token.sense.flags for token in tokens)


def _plain(tokens: Sequence[Token], content: set[str]) -> frozenset[str]:
    """Return attributes that no word names: what the subject is, and its age."""
    if len(content) == 1 and number(next(iter(content))) is not None:
        return frozenset({"age"})
    if len(content) == 1 and all(
        "place" in token.sense.flags or (token.sense.light and not token.sense.attributes) for token in tokens
    ):
        return frozenset({"origin"})
    is_ = next((place for place, token in enumerate(tokens[:5]) if token.text in COPULAS), None)
    if is_ is None or len(content) > MAX_PLAIN:
        return _NOTHING
    last = tokens[-1].text
    if any("place" in token.sense.flags for token in tokens[is_ + 1 : is_ + 3]):
        return frozenset({"origin"})
    if any(token.text in _ARTICLES for token in tokens[is_ + 1 : is_ + 3]):
        return frozenset({"kind", "work"} if last.endswith(AGENTS) else {"kind"})
    return frozenset({"kind"}) if last == "的" else frozenset({"being"})


def _only_child(tokens: Sequence[Token]) -> frozenset[str]:
    texts = [token.text for token in tokens]
    for only, child in ONLY_CHILD.items():
        if only in texts and (not child or child in texts[texts.index(only) :][:2]):
            return frozenset({"siblings"})
    return _NOTHING


def names_of(tokens: Sequence[Token]) -> frozenset[str]:
    """Return everything in a clause that is written as a name."""
    return frozenset(
        [
            token.text
            for place, token in enumerate(tokens)
            if token.name
            and not token.number
            and not (place == 0 and _is_ordinary(token.sense))
            and not token.sense.flags & {"me", "light", "negative"}
        ]
    )


def _is_ordinary(meaning: Sense) -> bool:
    return bool(meaning.light or meaning.flags or meaning.attributes or meaning.classes or meaning.lacks)


def subject_of(tokens: Sequence[Token], names: frozenset[str], me: str = _ME) -> str:
    """Return the subject of a clause: the speaker or the first name near its beginning, or its first noun."""
    first = ""
    run = ""
    for place, token in enumerate(tokens[:8]):
        text, flags = token.text, token.sense.flags
        if not place and token.name and "ended" in flags and text.isascii():
            # "Sold the car": as people note what they did.
            return me
        if "first" in flags and not first:
            return me
        if "me" in flags:
            near = tokens[place + 1 : place + 3] if text in _MINE else []
            nearest = next((later.text for later in near if later.text in names), "")
            return nearest or me
        if text in names and "week" not in flags:
            numbered = place + 1 < len(tokens) and tokens[place + 1].number
            return f"{text} {tokens[place + 1].text}" if numbered else text
        if text in _YOU and not names:
            return _YOUR
        if text in _PRONOUNS and not (first or run):
            # "She" is whom the clause before is about.
            return ""
        if HAN_RUN.match(text):
            if not _is_ordinary(token.sense) and len(run) < 3:
                run += text
                continue
            if text in _AFTER_VERBS:
                # What goes before is what is done, and nobody who does it.
                return ""
            if run or not token.sense.light:
                break
        elif first and (text in _VERBS or place == len(tokens) - 1):
            return first
        elif not (token.sense.light or token.number or flags & {"changed", "negative", "past", "planned"}):
            if not first or any(later.text in _VERBS for later in tokens[place + 1 : 6]):
                first = f"{first} {text}".strip()
            if not first.isnumeric() and place + 1 < len(tokens) and tokens[place + 1].number:
                return f"{first} {tokens[place + 1].text}"
    return run or first


def _numbers(tokens: Sequence[Token]) -> tuple[tuple[str, frozenset[str]], ...]:
    numbers = []
    for place, token in enumerate(tokens):
        value = number(token.text)
        if value is None:
            continue
        near = [
            claim_root(tokens[position].text)
            for position in (place - 2, place - 1, place + 1, place + 2)
            if 0 <= position < len(tokens)
            and not tokens[position].sense.light
            and number(tokens[position].text) is None
        ]
        numbers.append((value, frozenset(near)))
    return tuple(numbers)
