"""Entity extraction: the names in a text, the results, and the port of extractors.

The rules work offline, fast and in any script. Three of them look at a text, and where they overlap the
longest mention stays: names that the namespace knows (:mod:`memorata.text.known_names`), names that machines
gave (:func:`machine_names`: addresses, paths, code, handles, tags and numbers), and capitalised names
(:mod:`memorata.text.capitalised_names`). Dates are read elsewhere (:mod:`memorata.text.dates`). The rules are
measured on a labelled list in the tests; a tagger or a language model can take their place behind the same
port, :class:`EntityExtractor`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from ipaddress import ip_address, ip_network
from typing import Final, Protocol, runtime_checkable

from memorata._frozen import frozen
from memorata.model import checks
from memorata.model.entity import Relation
from memorata.model.errors import InvalidArgument
from memorata.text.known_names import Gazetteer
from memorata.text.language import detect
from memorata.text.word_lists import shared

MENTION_KINDS: Final = (
    *("known", "name", "handle", "tag", "email", "url", "host", "ip", "path", "code", "id"),
    *("person", "organisation", "location", "event", "work", "product", "other"),
)
"""What a mention can be of: the first line by its form alone, the second as models tell them apart."""

_EMBEDDED = re.compile(r"(?:data:[\w/+.-]*;)?base64,[A-Za-z0-9+/=]+")
"""A file inside the text: no name, and long."""
_SIGNS_OF_NAMES = frozenset('@#_/\\`(.:"-ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789')
_NO_SIGNS = bytes(code for code in range(256) if chr(code) not in _SIGNS_OF_NAMES)
"""What an ASCII text without a capital, a digit or one of a few marks consists of."""


@frozen
class Mention:
    """A name in a text, ``source[start:end] == text``, of one of :data:`MENTION_KINDS`."""

    text: str
    kind: str
    start: int
    end: int

    def __post_init__(self) -> None:
        if not checks.text("text", self.text).strip():
            raise InvalidArgument("text", self.text, "a name that is not blank")
        checks.one_of("kind", self.kind, MENTION_KINDS)
        checks.whole("start", self.start)
        if checks.whole("end", self.end) - self.start != len(self.text):
            raise InvalidArgument("end", self.end, f"start + the length of the text ({len(self.text)})")


@frozen
class Extraction:
    """What was read in one text."""

    mentions: tuple[Mention, ...] = ()
    """In the order of the text, never overlapping."""
    relations: tuple[Relation, ...] = ()
    """Between names of the text; only a model reads these."""
    failure: str = ""
    """Why nothing could be read, for a person; empty when all went well."""


@runtime_checkable
class EntityExtractor(Protocol):
    """Reads texts for names. It never raises over a text, or a service that does not answer."""

    @property
    def name(self) -> str:
        """Identity of the reader, recorded with what it read."""
        ...

    def extract(self, texts: Sequence[str], gazetteer: Gazetteer | None = None) -> list[Extraction]:
        """Return what is read in each text, given the names the namespace already knows."""
        ...


_NOTHING: Final = Extraction()


class RuleExtractor:
    """Reads names by rules; `default` is the language of a text too short to tell.

    >>> reader = RuleExtractor()
    >>> [(m.text, m.kind) for m in reader.mentions("Yesterday Anna pinged @ben about UAV-001.")]
    [('Anna', 'name'), ('@ben', 'handle'), ('UAV-001', 'id')]
    """

    def __init__(self, default: str = "english") -> None:
        detect("", default)
        self._default = default

    @property
    def name(self) -> str:
        """Identity of the rules; the number changes when they do."""
        return "rules-1"

    def extract(self, texts: Sequence[str], gazetteer: Gazetteer | None = None) -> list[Extraction]:
        """Return the mentions of each text; rules read no relations, and never fail."""
        contents = checks.texts("texts", texts)
        if gazetteer is not None and not isinstance(gazetteer, Gazetteer):
            raise InvalidArgument("gazetteer", gazetteer, "a Gazetteer")
        names = gazetteer or None
        mentions = (
            () if names is None and _has_no_sign(text) else self._read(text, names) for text in contents
        )
        return [Extraction(several) if several else _NOTHING for several in mentions]

    def mentions(self, text: str, gazetteer: Gazetteer | None = None) -> tuple[Mention, ...]:
        """Return the mentions of one text, in order."""
        return self.extract([checks.text("text", text)], gazetteer)[0].mentions

    def _read(self, text: str, gazetteer: Gazetteer | None) -> tuple[Mention, ...]:
        """Return the mentions of a text that may have some; `gazetteer` is None where it is empty."""
        readable = _EMBEDDED.sub(lambda data: "\0" * len(data.group()), text) if "base64," in text else text
        spans = [(*span, "known") for span in gazetteer.spans(readable)] if gazetteer is not None else []
        by_form = list(machine_names(readable))
        spans += by_form
        running = _without(readable, by_form) if by_form else readable
        if any(map(str.isalpha, running)):
            spans += [(*span, "name") for span in self._names(running)]
        return non_overlapping(text, spans) if spans else ()

    def _names(self, text: str) -> Iterator[tuple[int, int]]:
        # Loaded with the first text that may have a name: a recall needs none of these rules.
        from memorata.text.capitalised_names import capitalised_names, quoted_titles

        # Without a capital, a name can only stand in quotation marks, in whatever language.
        if text.islower():
            return quoted_titles(text)
        return capitalised_names(text, detect(text, self._default))


def _has_no_sign(text: str) -> bool:
    """Return whether a text surely has no name that rules could read, checked cheaply."""
    return text.isascii() and not text.encode().translate(None, _NO_SIGNS) and "localhost" not in text


def _without(text: str, spans: list[tuple[int, int, str]]) -> str:
    """Return `text` with what is already read struck out, so that positions stay the same."""
    pieces, at = [], 0
    for start, end, _ in spans:
        pieces += [text[at:start], "\0" * (end - start)]
        at = end
    return "".join([*pieces, text[at:]])


def non_overlapping(text: str, spans: Iterable[tuple[int, int, str]]) -> tuple[Mention, ...]:
    """Return what several readers found as mentions: the longest, of equals the first, where they overlap."""
    candidates = list(spans)
    if len(candidates) == 1:
        ((start, end, kind),) = candidates
        return (Mention(text[start:end], kind, start, end),)
    candidates.sort(key=lambda span: span[0] - span[1])
    covered = bytearray(len(text))
    chosen = []
    for start, end, kind in candidates:
        if not any(covered[start:end]):
            covered[start:end] = b"\1" * (end - start)
            chosen.append(Mention(text[start:end], kind, start, end))
    return tuple(sorted(chosen, key=lambda mention: mention.start))


_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
_FILE_ENDINGS = (
    "bash|bat|bib|cfg|conf|cpp|csv|css|db|docx?|env|exe|gif|go|gz|hpp|html?|ini|ipynb|java|jpe?g|js|jsonl?|"
    "kt|lock|log|md|mp[34]|parquet|pdf|php|png|pptx?|py|rb|rs|rst|sh|sql|sqlite3?|svg|swift|tar|tex|toml|tsv|"
    "tsx?|txt|wav|xlsx?|xml|ya?ml|zip"
)
_TOP_DOMAINS, _WORDLIKE_DOMAINS = (shared("hosts", name) for name in ("top_domains", "wordlike_domains"))

_FORMS = rf"""
      (?P<url>   (?:https?|ftps?|wss?|ssh|git|file|postgres(?:ql)?|redis|s3)://[^\s<>"'`«»“”]+
               | www\.[^\s<>"'`«»“”]+ )
    | (?P<email> (?<![\w.+-])[\w.+-]+@{_LABEL}(?:\.{_LABEL})+ )
    | (?P<ip>    (?<![\w:.])(?:[0-9A-Fa-f]{{0,4}}:){{2,7}}(?:[0-9A-Fa-f]{{1,4}}|:)?(?:/[0-9]{{1,3}})?(?![\w:])
               | (?<![\w.])(?:[0-9]{{1,3}}\.){{3}}[0-9]{{1,3}}(?:/[0-9]{{1,2}})?(?![\w]|\.[0-9]) )
    | (?P<uuid>  (?<![\w-])[0-9A-Fa-f]{{8}}(?:-[0-9A-Fa-f]{{4}}){{3}}-[0-9A-Fa-f]{{12}}(?![\w-]) )
    | (?P<quoted>`[^`\s]{{1,80}}` )
    | (?P<path>  (?<![\w./~\\-])(?:~|\.{{1,2}})?/[\w.@+-]*[^\W\d][\w.@+-]*(?:/[\w.@+-]+)*/?
               | (?<![\w./\\@+-])[\w.@+-]+(?:/[\w.@+-]+)+\.[A-Za-z]\w{{0,5}}(?!\w)
               | (?<![\w])[A-Za-z]:\\[\w.\\-]+
               | (?<![\w./@-])[\w-]+(?:\.[\w-]+)*\.(?:{_FILE_ENDINGS})(?![\w]|\.\w) )
    | (?P<call>  (?<![\w.])[^\W\d]\w*(?:(?:\.|::)[^\W\d]\w*)*\(\) )
    | (?P<host>  (?<![\w.@-])(?:{_LABEL}\.)+[A-Za-z]{{2,}}(?::[0-9]{{2,5}})?(?![\w@-])
               | (?<![\w.-])localhost(?::[0-9]+)?(?![\w-]) )
    | (?P<handle>(?<![\w@/.+-])@[^\W\d](?:[\w.-]*\w)? )
    | (?P<tag>   (?<![\w&\#/])\#[^\W_][\w-]* )
    | (?P<dotted>(?<![\w.])[^\W\d]\w*(?:(?:\.|::)[^\W\d]\w*)+ )
    | (?P<code>  (?<![\w-])(?:_*[^\W_]+(?:_+[^\W_]+)+_* | __[^\W_]+__)(?![\w])
               | (?<![\w-])[a-z]{{2}}[a-z0-9]*(?:[A-Z][a-z0-9]+)+(?![\w])
               | (?<![\w-])--[a-z][a-z0-9]*(?:-[a-z0-9]+)* )
    | (?P<id>    (?<![\w-])[A-Z][A-Z0-9]{{0,9}}(?:-[A-Z0-9]+)*-[0-9][A-Za-z0-9]*(?:-[A-Z0-9]+)*(?![\w])
               | (?<![\w-])[a-z]+(?:-[a-z]+)*-0[0-9]+(?![\w-])
               | (?<![\w-])(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{{7,40}}(?![\w-]) )
    """
_HINT = re.compile(
    r"[@#_/\\`(.:A-Z0-9-](?:(?<=[@#_/\\`(])|(?<=[\w:][.:])[\w:]|(?<=[A-Z0-9]-)[A-Z0-9]|(?<=[a-z]-)0|(?<=-)-\w"
    r"|(?<=[a-z]{2}[A-Z]))"
)
_DIGIT = re.compile(r"[0-9]")
_HASH = re.compile(r"[0-9a-f]{7}")
"""Such hints are in every text that has such a name; most texts have none, and are not read further. All of
the first begin with one set of characters, which lets the search pass over the letters between."""
_TRAILING = ".,;:!?'\"’”»…"
_PAIRS = {")": "(", "]": "[", "}": "{"}
_HEX_COLOUR = re.compile(r"#(?=.*\d)(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})")
_VERSION_BEFORE = re.compile(r"(?:\bv|version|release)\s*$", re.IGNORECASE)
_KINDS = {"uuid": "id", "quoted": "code", "call": "code", "dotted": "code"}


def machine_names(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the start, end and kind of each name of this sort, in order."""
    if not (_HINT.search(text) or "localhost" in text or (_DIGIT.search(text) and _HASH.search(text))):
        return
    at = 0
    while (match := _pattern().search(text, at)) is not None:
        start, end = match.span()
        kind = str(match.lastgroup)
        if kind in ("url", "path"):
            end = _trimmed(text, start, end)
        elif kind == "quoted":
            start, end = start + 1, end - 1
        if kind == "host" and not _is_valid(kind, text[start:end], "") and ":" not in text[start:end]:
            kind = "dotted"
        if _is_valid(kind, text[start:end], text[max(0, start - 10) : start]):
            yield start, end, _KINDS.get(kind, kind)
            at = max(match.start() + 1, end + (kind == "quoted"))
        else:
            # What is no host may still hold a name that begins further on.
            at = _next_word(text, match.start())


@cache
def _pattern() -> re.Pattern[str]:
    """Return the pattern of all kinds, compiled when the first text needs it: that takes milliseconds."""
    return re.compile(_FORMS, re.VERBOSE)


def _is_valid(kind: str, name: str, before: str) -> bool:
    """Return whether what has the form of a name is one."""
    if kind == "ip":
        return _is_address(name) and not ("." in name and _VERSION_BEFORE.search(before))
    if kind == "host":
        labels = name.partition(":")[0].split(".")
        return name.startswith("localhost") or (
            labels[-1].lower() in _TOP_DOMAINS or (labels[-1] in _WORDLIKE_DOMAINS and len(labels) > 2)
        )
    if kind == "tag":
        return _HEX_COLOUR.fullmatch(name) is None and any(map(str.isalpha, name))
    if kind == "dotted":
        # One dot is more often a blank that is missing than an attribute.
        return "::" in name or "_" in name or (name.count(".") > 1 and max(map(len, name.split("."))) > 1)
    if kind == "quoted":
        return any(map(str.isalpha, name))
    if kind == "path":
        return len(name) > 1 and any(map(str.isalpha, name))
    return True


def _is_address(name: str) -> bool:
    if not any(character.isdigit() for character in name):
        return False
    # Loaded with the first: a recall has no use for it.
    try:
        ip_network(name, strict=False) if "/" in name else ip_address(name)
    except ValueError:
        return False
    return True


def _trimmed(text: str, start: int, end: int) -> int:
    """Return the end without the punctuation of the sentence round it; a bracket goes if it is not paired."""
    while end > start + 1:
        last = text[end - 1]
        unpaired = last in _PAIRS and text.count(_PAIRS[last], start, end) < text.count(last, start, end)
        if last not in _TRAILING and not unpaired:
            break
        end -= 1
    return end


def _next_word(text: str, at: int) -> int:
    """Return where to go on reading after something at `at` that is no name."""
    at += 1
    while at < len(text) and (text[at].isalnum() or text[at] == "_"):
        at += 1
    return at
