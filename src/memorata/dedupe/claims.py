"""What a short text claims: of whom, which attribute, which value, and whether it says so or denies it.

The words are data (``words.toml``): closed classes of six languages, the attributes of which a person or a
thing has one value at a time, and kinds of things that one may do or not ("never eats meat").
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

from memorata._frozen import frozen
from memorata.dedupe.wording import Word, normalise_token, pieces, stem_of, word_set

MAX_LENGTH: Final = 240
"""Longer texts say more than one thing, and claim nothing that is compared."""
MAX_CLAUSES: Final = 3
_MAX_WORDS: Final = 16
"""Longer clauses tell a story."""
_DATA: Final[dict[str, dict[str, Any]]] = tomllib.loads(
    Path(__file__).with_name("claims.toml").read_text(encoding="utf-8")
)
_OPENINGS: Final = "|".join(map(str.strip, _DATA["openings"]["correction"].split("/")))
_CORRECTION: Final = re.compile(rf"\W{{0,3}}(?:{_OPENINGS})(?:[,:;.!-]+\s*|\s+)(?=\S)", re.IGNORECASE)
_CODE: Final = re.compile(r"[`{}<>\[\]=|\\]|https?:|\n")
_SENTENCE: Final = re.compile(
    r"[^.!?;。！？；]+(?:[.](?:(?=\w)|(?<=\b(?:Dr|Mr|Ms|St)\.)|(?<=\bMrs\.))[^.!?;。！？；]+)*[.!?;。！？；]*"
)
_COMMA: Final = re.compile(r"[，,]+(?=\s*\S)")
_HAN: Final = re.compile("[\u3400-\u9fff]+")
_HAN_PIECE: Final = re.compile(r"\d+|[\u3400-\u9fff]|[^\W\d]+")
_ELIDED: Final = re.compile(r"^(?P<clitic>l|d|j|n|s|c|m|t|qu)['’](?=\w)")
_INFLECTIONS: Final = ("s", "ed", "ing")
_ME: Final = "i"
_MAX_TOLD: Final = 4
"""How many words tell the value of "not Klaus but Karl"; more are another statement."""
_MAX_OPENING: Final = 8
"""How many words of a clause may lead to its subject."""


@frozen
class Sense:
    """The meaning of a word: attributes that it names, kinds of things that it denies or is of, flags."""

    attributes: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()
    heads: frozenset[str] = frozenset()
    lacks: frozenset[str] = frozenset()
    flags: frozenset[str] = frozenset()


PLAIN: Final = Sense()


def _lexicon() -> dict[str, set[tuple[str, str]]]:
    lexicon: dict[str, set[tuple[str, str]]] = {}
    for section in ("attributes", "lacks", "flags"):
        for name, words in _DATA[section].items():
            for word in words.split():
                lexicon.setdefault(word, set()).add((section, name))
    for name, words in _DATA["kinds"].items():
        heads, _, members = words.partition("|")
        for word in heads.split():
            lexicon.setdefault(word, set()).update({("kinds", name), ("heads", name)})
        for word in members.split():
            lexicon.setdefault(word, set()).add(("kinds", name))
    return lexicon


_LEXICON: Final = _lexicon()
_MAX_START: Final = max(len(word) for word in _LEXICON if word.endswith("*"))
_HAN_WORDS: Final = frozenset(word for word in _LEXICON if _HAN.match(word))
_MAX_HAN: Final = max(map(len, _HAN_WORDS))
OPPOSITES: Final[dict[str, frozenset[str]]] = {}
for _pair in _DATA["opposites"]["pairs"].strip().splitlines():
    _sides = [word_set(side) for side in _pair.split(" / ")]
    for _side, _against in (_sides, _sides[::-1]):
        for _word in _side:
            OPPOSITES[_word] = OPPOSITES.get(_word, frozenset()) | _against
"""For a word, the words that cannot be true of the same thing at the same time."""
_NUMBERS: Final = {
    word: str(value) for value, words in enumerate(_DATA["numbers"]["words"]) for word in words.split()
}


def flagged(flag: str) -> frozenset[str]:
    """Return the listed words of a flag."""
    return word_set(_DATA["flags"][flag])


@lru_cache(maxsize=256)
def listed_words(section: str, name: str) -> frozenset[str]:
    """Return the words that stand for an attribute or a kind of things, without their endings."""
    words = _DATA[section].get(name.split()[0], "").replace("|", " ").split()
    return frozenset(word.rstrip("*") for word in words)


COPULAS: Final = flagged("copula")
STATES: Final = COPULAS | flagged("state")
_VERBS: Final = STATES | flagged("was")
_ARTICLES: Final = flagged("article")
_TO: Final = flagged("to")
_MINE: Final = flagged("mine")
_POSSESSIVES: Final = _MINE - {"我", "我们"}
_HAS: Final = flagged("state") - COPULAS - _ARTICLES
_OF: Final = flagged("of")
_COMPANY: Final = flagged("company")
KIN: Final = frozenset({"pets", "partner"})
"""Kinds of those who are relatives themselves: having them is told by a verb of state."""
_PREDICATES: Final = frozenset({"residence", "work", "diet", "use"})
"""Attributes that the predicate itself tells."""
_PREPOSITIONS: Final = flagged("preposition")
_BEGINNINGS: Final = frozenset({"me", "pronoun", "first"})


@lru_cache(maxsize=16_384)
def sense(word: str) -> Sense:
    """Return the meaning of a normalised word."""
    senses = set(_LEXICON.get(word, ()))
    for end in range(3, min(len(word), _MAX_START) + 1):
        senses |= _LEXICON.get(word[:end] + "*", set())
    if not senses:
        return PLAIN
    names = {
        kind: frozenset(name for of, name in senses if of == kind)
        for kind in ("attributes", "kinds", "heads", "lacks", "flags")
    }
    return Sense(**names)


def number(word: str) -> str | None:
    """Return the value of a number, in digits or in words; None for any other word."""
    return word if word[:1].isdigit() else _NUMBERS.get(word)


@lru_cache(maxsize=8_192)
def root(word: str) -> str:
    """Return the part that the forms of a word have in common."""
    if word[:1].isdigit():
        return word
    for ending in _INFLECTIONS:
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            word = word[: -len(ending)]
    return stem_of(word)


class Token(NamedTuple):
    """A word of a clause and its meaning."""

    text: str
    name: bool
    sense: Sense

    def has(self, *flags: str) -> bool:
        """Return whether the word has one of some flags."""
        return not self.sense.flags.isdisjoint(flags)

    @property
    def is_content(self) -> bool:
        """Whether the word carries meaning by itself."""
        return not (
            self.has("light", "negative", "me", "copula")
            or (self.has("changed", "past") and not (self.sense.attributes or self.sense.kinds))
        )

    @property
    def kind(self) -> str:
        """What the word is as a value: a ``number``, a ``day``, a ``name``, a ``word``, or nothing."""
        if (
            not self.is_content
            or self.sense.attributes
            or self.has("changed", "ended", "good", "bad", "past")
        ):
            return ""
        if number(self.text) is not None:
            return "number"
        if _HAN.match(self.text):
            return "han"
        return "day" if self.has("week") else "name" if self.name or "@" in self.text else "word"


def tokens_in(text: str) -> list[Token]:
    """Return the words of a clause; Chinese is cut into the longest known words and single characters."""
    return [token for piece in pieces(text) for token in _tokens_of(piece)]


@lru_cache(maxsize=8_192)
def _tokens_of(piece: str) -> tuple[Token, ...]:
    words: list[Word] = []
    for word in normalise_token(piece):
        if _HAN.search(word.text):
            words += map(Word, _cut_han(word.text))
        elif (elided := _ELIDED.match(word.text)) is not None:
            words += [Word({"n": "ne", "j": "je"}[clitic]) for clitic in elided["clitic"] if clitic in "nj"]
            name = piece[elided.end() :][:1].isupper()
            if name and elided["clitic"] == "d":
                words.append(Word("d'"))
            words.append(Word(word.text[elided.end() :], name))
        else:
            words.append(word)
    return tuple([Token(word.text, word.name, sense(word.text)) for word in words])


def _cut_han(text: str) -> list[str]:
    cut, place = [], 0
    while place < len(text):
        size = next((size for size in range(_MAX_HAN, 1, -1) if text[place : place + size] in _HAN_WORDS), 0)
        if not size:
            match = _HAN_PIECE.match(text, place)
            size = 1 if match is None else match.end() - place
        cut.append(text[place : place + size])
        place += size
    return cut


@frozen
class Claim:
    """One clause of a text, read for comparison.

    - `words`: its words, in order.
    - `subject`: a name, a noun, "i" for the speaker, or nothing.
    - `relative`: the relatives or possessions of the subject that it is about, each after its owner: the
      sister in "Anna's sister".
    - `attributes`: attributes of one value that it names.
    - `names`: everything in it that is written as a name.
    - `value`: roots of words that may be a value, with their kinds.
    - `content`: roots of all words that carry meaning, but the subject.
    - `kinds`, `denied`: kinds of things that it mentions and denies.
    - `negative`, `sign`: whether it is negated; 1 for liking, -1 for disliking, 0 for neither.
    """

    words: tuple[str, ...]
    subject: str
    relative: tuple[str, ...]
    attributes: frozenset[str]
    names: frozenset[str]
    value: dict[str, str]
    content: frozenset[str]
    kinds: frozenset[str]
    denied: frozenset[str]
    negative: bool
    sign: int
    flags: frozenset[str]


@lru_cache(maxsize=1_024)
def claims(text: str, speaker: str = "") -> tuple[Claim, ...]:
    """Return the claims of a short text, none of a long one, of code, and of questions."""
    if len(text) > MAX_LENGTH or _CODE.search(text):
        return ()
    opening = _CORRECTION.match(text)
    parts = [part for match in _SENTENCE.finditer(text[opening.end() :] if opening else text)
             for part in _clauses(match.group())]  # fmt: skip
    asides = ("?", "？") if len(parts) == 1 else ("?", "？", "!", "！")
    parts = [part for part in parts if not part.rstrip().endswith(asides)]
    if len(parts) > MAX_CLAUSES:
        return ()
    me = next(iter(speaker.lower().split()), _ME)
    subject, found = "", []
    for part in parts:
        tokens = tokens_in(part)
        if 1 < len(tokens) <= _MAX_WORDS:
            told = _told(tokens)
            corrects = opening is not None or len(told) < len(tokens)
            claim = _claim(part, told, subject, me, corrects=corrects)
            subject = claim.subject or subject
            found.append(claim)
    return tuple(found)


def _clauses(sentence: str) -> list[str]:
    """Return the clauses of a sentence: at commas, outside of Chinese only before a subject."""
    parts: list[str] = []
    for part in _COMMA.split(sentence):
        words = part.split()
        begins = words and (words[0][:1].isupper() or sense(words[0].lower()).flags & _BEGINNINGS)
        if parts and not (_HAN.search(sentence) or (len(words) > 2 and begins)):
            parts[-1] += f", {part}"
        elif words:
            parts.append(part)
    return parts


def _told(tokens: list[Token]) -> list[Token]:
    """Return a clause without a value that it denies: "is called Karl" of "is not called Klaus but Karl"."""
    place = next((place for place, token in enumerate(tokens) if token.has("contrast")), 0)
    kinds = {token.kind for token in tokens[place + 1 :]} & {"name", "number", "day"}
    denial = next((at for at, token in enumerate(tokens[:place]) if token.has("negative")), None)
    start = place
    while start and tokens[start - 1].kind in kinds:
        start -= 1
    if denial is None or start == place or not denial < start or len(tokens) - place > _MAX_TOLD:
        return tokens
    if any(token.has("good", "bad", "endured") for token in tokens):
        return tokens
    kept = [token for token in tokens[:start] if not token.has("negative")]
    return kept + tokens[place + 1 :]


def _claim(text: str, tokens: Sequence[Token], subject: str, me: str, *, corrects: bool) -> Claim:
    names = frozenset(
        token.text
        for place, token in enumerate(tokens)
        if token.name
        and number(token.text) is None
        and not (place == 0 and token.sense is not PLAIN)
        and not token.has("me", "light", "negative", "week")
    )
    about = _subject(tokens, names, me) or subject
    content = {
        root(token.text): token for token in tokens if token.is_content and not _is_part(token.text, about)
    }
    content = {number(key) or key: token for key, token in content.items()}
    flags = frozenset[str]().union(*(token.sense.flags for token in tokens))
    negations = [place for place, token in enumerate(tokens) if token.has("negative")]
    negative = bool(negations)
    if any(one.text == "used" and after.text == "to" for one, after in pairwise(tokens)):
        flags |= {"past"}
    denying = negative and any(
        token.sense.heads and any(-1 <= place - denial <= 4 for denial in negations)
        for place, token in enumerate(tokens)
    )
    likings = [place for place, token in enumerate(tokens) if token.has("good", "bad", "endured")]
    sign = ("good" in flags) - ("bad" in flags) if likings else 0
    if negative and "endured" in flags:
        sign = 1
    if negative and likings:
        beside = any(-1 <= liking - denial <= 3 for denial in negations for liking in likings)
        if beside or len(tokens) - 1 in negations:
            sign = -sign
        else:
            flags |= {"lacking"}
    relative = _relative(tokens, names, possessive="'" in text or "’" in text)
    head = _head_place(tokens, about, relative)
    kinds = _kinds(tokens, head, owned=bool(relative))
    heads = frozenset[str]().union(*(token.sense.heads for token in tokens))
    lacks = frozenset[str]().union(*(token.sense.lacks for token in tokens))
    if corrects:
        flags |= {"corrected"}
    attributes = _attributes(tokens, head, content, about)
    own, other = (
        frozenset[str]().union(
            *(token.sense.attributes for token in tokens if is_own == (root(token.text) in relative))
        )
        for is_own in (True, False)
    )
    says = (
        "name" in attributes or flags & {"changed", "ended"} or any(token.text in COPULAS for token in tokens)
    )
    if attributes - own - {"name"} or not says:
        # "My boss lives in Rome" does not tell who the boss is.
        attributes -= own - other
    return Claim(
        tuple(token.text for token in tokens),
        about,
        relative,
        attributes,
        names,
        {key: token.kind for key, token in content.items() if token.kind},
        frozenset(content),
        frozenset() if negative or (likings and sign <= 0) else kinds,
        (frozenset() if likings else lacks) | (heads if denying or "ended" in flags else frozenset()),
        negative,
        sign,
        flags,
    )


def _is_part(text: str, about: str) -> bool:
    return text in about.split() or (text in about and _HAN.match(about) is not None)


def _head_place(tokens: Sequence[Token], about: str, relative: tuple[str, ...]) -> int:
    """Return the place of the predicate: the first verb of state, or word with meaning after the subject."""
    after_subject = not about
    for place, token in enumerate(tokens):
        if _is_part(token.text, about) or token.has("me"):
            after_subject = True
        elif token.has("person") and root(token.text) in relative:
            continue
        elif token.text in _VERBS or (after_subject and not token.name and _may_predicate(token)):
            return place
    return len(tokens) - 1


def _may_predicate(token: Token) -> bool:
    return token.is_content or token.has("changed", "ended", "first")


def _kinds(tokens: Sequence[Token], head: int, *, owned: bool) -> frozenset[str]:
    """Return the kinds of things of which the predicate tells; kin only as the predicate, or as owned."""
    has = tokens[head].text in _VERBS
    return frozenset(
        kind
        for place, token in enumerate(tokens[: head + 5])
        for kind in token.sense.kinds
        if kind not in KIN or has or place == head or (owned and place < head)
    )


def _attributes(tokens: Sequence[Token], head: int, content: dict[str, Token], about: str) -> frozenset[str]:
    """Return the attributes that a clause names before or in its predicate, or soon after.

    The noun after "favourite" belongs to the name.
    """
    named: set[str] = set()
    # Chinese tells where before it tells what is done.
    stative = (
        tokens[head].text in _VERBS
        or _HAN.match(tokens[-1].text) is not None
        or tokens[head].has("changed", "ended")
    )
    modal = head + 1 < len(tokens) and tokens[head + 1].text == "to" and tokens[head].text in STATES
    for place, token in enumerate(tokens[: head + (6 if stative else 4)]):
        following = tokens[place + 1].text if place + 1 < len(tokens) else ""
        before = tokens[place - 1].text if place else ""
        for name in token.sense.attributes:
            if (
                (token.text in ("moved", "moves", "moving") and following not in _TO)
                or (token.text == "due" and following == "to")
                or (token.text == "called" and before not in COPULAS)
                or (place > head and (modal or (name in _PREDICATES and not stative)))
                or (token.text == "work" and before in _PREPOSITIONS)
                or (place < head and name in _PREDICATES and token.text in about.split())
            ):
                continue
            if name == "favourite":
                near = [
                    later for later in tokens[place + 1 : place + 3] if later.is_content and not later.name
                ]
                nouns = (
                    near[:1]
                    if near and following not in COPULAS
                    else [t for t in tokens[:3] if t.is_content and not t.name]
                )
                named.add(f"favourite {root(nouns[0].text)}" if nouns else name)
            else:
                named.add(name)
    if named or len(content) > 3:
        return frozenset(named)
    if len(content) == 1 and number(next(iter(content))) is not None:
        return frozenset({"age"})
    copula = next((place for place, token in enumerate(tokens[:6]) if token.text in COPULAS), None)
    if copula is None:
        return frozenset()
    after = [token.text for token in tokens[copula + 1 : copula + 3]]
    if not _ARTICLES.isdisjoint(after):
        return frozenset({"kind"})
    return frozenset({"being"})


def _relative(tokens: Sequence[Token], names: frozenset[str], *, possessive: bool) -> tuple[str, ...]:
    """Return the roots of the relatives and possessions that a clause is about, each after its owner.

    "My boss's wife" and "the wife of my boss" are ("boss", "wife").
    """
    heads: list[str] = []
    for place, token in enumerate(tokens[:_MAX_OPENING]):
        following = tokens[place + 1] if place + 1 < len(tokens) else None
        if token.has("person"):
            after = [later.text for later in tokens[place + 1 : place + 3]]
            owners = {earlier.text for earlier in tokens[max(0, place - 2) : place]}
            owned = (
                not owners.isdisjoint(_POSSESSIVES | {"的"})
                or (place > 0 and tokens[place - 1].text in _MINE)
                or (place > 1 and tokens[place - 2].text in _MINE and tokens[place - 1].has("light"))
                or (possessive and not owners.isdisjoint(names))
            )
            # Company is no owner: "I live with my wife in Rome".
            beside = any(earlier.text in _COMPANY for earlier in tokens[max(0, place - 3) : place])
            if (owned and not beside) or (len(after) == 2 and after[0] in _OF and after[1] in names):
                return (*_chain(tokens[place:], names), *heads)
            if not owned and following is not None and (after[0] in _MINE or after[0] in _OF):
                heads.insert(0, root(token.text))
                continue
            had = any(earlier.text in _HAS for earlier in tokens[:place])
            told = any(later.sense.attributes for later in tokens[place + 1 :])
            return (root(token.text),) if had and told else ()
        if (
            place
            and tokens[place - 1].text in _POSSESSIVES
            and token.is_content
            and not token.has("changed")
            and not (following is not None and following.has("person"))
            and (not token.sense.attributes or _holds(tokens[place:]))
        ):
            return (*_chain(tokens[place:], names), *heads)
    return ()


def _chain(tokens: Sequence[Token], names: frozenset[str]) -> list[str]:
    """Return the root of the first word, and those of the persons that follow: "boss", "wife"."""
    chain = [root(tokens[0].text)]
    for token in tokens[1:]:
        if token.has("person"):
            chain.append(root(token.text))
        elif token.text not in names and token.text != "的":
            break
    return chain


def _holds(tokens: Sequence[Token]) -> bool:
    """Return whether the first word owns what the clause names: the car in "my car is called Herbie"."""
    held = tokens[0].sense.attributes
    for place, token in enumerate(tokens[1:4], 1):
        if token.text == "called" or (token.sense.attributes and held.isdisjoint(token.sense.attributes)):
            return True
        if token.has("me") or token.text in _PREPOSITIONS or (token.text in _VERBS and place > 1):
            return False
    return False


def _is_noun(token: Token) -> bool:
    return bool(token.sense.attributes) or token.has("person")


def _subject(tokens: Sequence[Token], names: frozenset[str], me: str) -> str:
    """Return the subject of a clause: the speaker or the first name near its beginning, or its first noun."""
    first = run = ""
    for place, token in enumerate(tokens[:_MAX_OPENING]):
        text = token.text
        following = tokens[place + 1].text if place + 1 < len(tokens) else ""
        if not first and (
            token.has("first") or (not place and token.name and token.has("ended") and text.isascii())
        ):
            return me
        if token.has("me"):
            owned = tokens[place + 1 : place + 3] if text in _POSSESSIVES else ()
            # In German every noun is written as a name.
            return next((one.text for one in owned if one.text in names and not _is_noun(one)), me)
        if text in names:
            return f"{text} {following}" if following[:1].isdigit() else text
        if token.has("pronoun") and not (first or run):
            return ""
        if _HAN.match(text):
            if token.sense is PLAIN and len(run) < 3:
                run += text
            elif text in flagged("particle"):
                return ""
            elif run or not token.has("light"):
                break
        elif first and (text in _VERBS or not following):
            return first
        elif number(text) is None and not token.has("light", "changed", "negative", "past"):
            if not first or any(later.text in _VERBS for later in tokens[place + 1 : 6]):
                first = f"{first} {text}".strip()
            if following[:1].isdigit() and first.endswith(text):
                return f"{first} {following}"
    return run or first
