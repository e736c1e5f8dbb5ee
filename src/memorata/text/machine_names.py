"""Names that machines gave: addresses, paths, code, handles, tags and numbers, known by their form alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from ipaddress import ip_address, ip_network

from memorata.text.common_words import word_set

_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
_FILE_ENDINGS = (
    "bash|bat|bib|cfg|conf|cpp|csv|css|db|docx?|env|exe|gif|go|gz|hpp|html?|ini|ipynb|java|jpe?g|js|jsonl?|"
    "kt|lock|log|md|mp[34]|parquet|pdf|php|png|pptx?|py|rb|rs|rst|sh|sql|sqlite3?|svg|swift|tar|tex|toml|tsv|"
    "tsx?|txt|wav|xlsx?|xml|ya?ml|zip"
)
_TOP_DOMAINS = word_set(
    """
    com org net edu gov mil int info biz io dev ai app cloud tech online site xyz local localdomain internal
    lan corp home example test invalid eu uk de fr es pt nl pl cz ch ru ua jp cn kr br ca au nz se dk fi hu
    ro gr tr il za mx ar cl
    """
)
_WORDLIKE_DOMAINS = word_set("at be in is it me no so to us my am tv co ie id")
"""Top domains that are words: "done.it" is a missing blank, "www.comune.roma.it" is a host."""

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
