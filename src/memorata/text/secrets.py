"""Secrets in a text, and the text without them.

Recognised by shapes that hardly anything else has (``secrets.toml``): tokens that carry their maker's prefix,
private key blocks, JSON Web Tokens (RFC 7519), payment card numbers whose last digit checks (Luhn, US patent
2950048, 1960), and what follows a word such as ``password:``. A shape that other things share (a UUID, a
hash, a telephone or order number) is left alone: a memory with holes where there was no secret is worth less
than one without this step. What is taken out leaves a marker that says what it was.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from memorata._frozen import frozen
from memorata.model import checks
from memorata.text.word_lists import shared


@frozen
class Secret:
    """Where a secret stands in a text, from `start` up to `end`, and what it is."""

    start: int
    end: int
    kind: str


def secrets(text: str) -> tuple[Secret, ...]:
    """Return the secrets in a text, in their order; of two that overlap, the one that begins first."""
    candidates = sorted(
        _candidates(checks.text("text", text)), key=lambda secret: (secret.start, -secret.end)
    )
    chosen: list[Secret] = []
    for secret in candidates:
        if not chosen or secret.start >= chosen[-1].end:
            chosen.append(secret)
    return tuple(chosen)


def redacted(text: str) -> str:
    """Return the text with a marker in the place of each secret.

    Once more where there was any: without it, the words before a secret may stand before another.
    """
    for _ in range(_MAX_PASSES):
        parts, after = [], 0
        for secret in secrets(text):
            parts += [text[after : secret.start], f"[redacted: {secret.kind}]"]
            after = secret.end
        if not parts:
            break
        text = "".join((*parts, text[after:]))
    return text


_MAX_PASSES: Final = 8
"""More than any text needs: each pass leaves fewer words that a secret may follow."""


_LUHN_DIGITS: Final = range(13, 20)
_LUHN_DOUBLED: Final = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)


def _has_luhn_digit(digits: str) -> bool:
    """Return whether the Luhn sum of the digits ends in 0, and they are not one digit over and over."""
    total = sum(int(digit) for digit in digits[-1::-2]) + sum(
        _LUHN_DOUBLED[int(digit)] for digit in digits[-2::-2]
    )
    return total % 10 == 0 and len(set(digits)) > 1


def _is_card(text: str) -> bool:
    digits = re.sub(r"\D", "", text)
    return len(digits) in _LUHN_DIGITS and _has_luhn_digit(digits) and bool(_ISSUED.fullmatch(digits))


def _is_mixed(text: str) -> bool:
    """Return whether a long token has letters and digits, as random ones have and words do not."""
    return any(character.isdigit() for character in text) and any(character.isalpha() for character in text)


_TRAILING: Final = ".,)…"
"""What may follow a secret at the end of a sentence, and is hardly ever a part of one."""


def _candidates(text: str) -> Iterator[Secret]:
    for kind, pattern, is_one in _RULES:
        group = "bare" if "bare" in pattern.groupindex else 0
        for match in pattern.finditer(text):
            if is_one(match[group]):
                yield Secret(*match.span(group), kind)
    for match in _LABELLED.finditer(text):
        start, value = _value(match)
        # People write of keys and secrets in words; only what looks random is one.
        if match["password"] and not _is_placeholder(value):
            yield Secret(start, start + len(value), "password")
        elif match["key"] and _is_mixed(value) and not _is_placeholder(value):
            yield Secret(
                start, start + len(value), "secret" if "secret" in match["key"].lower() else "API key"
            )
    for match in _SPOKEN.finditer(text):
        start, value = _value(match)
        if _is_said(match, value):
            yield Secret(start, start + len(value), "password")


def _value(match: re.Match[str]) -> tuple[int, str]:
    """Return where a value begins, and the value without the end of its sentence."""
    value = match["double"] or match["single"] or match["bare"].rstrip(_TRAILING)
    return max(match.start(group) for group in ("double", "single", "bare")), value


def _is_password(value: str) -> bool:
    """Return whether a word looks like a password by itself: letters with digits or signs among them."""
    value = value.rstrip(_TRAILING + "?!")
    signs = any(not character.isalnum() and character not in "-'’_/." for character in value)
    letters = any(character.isalpha() for character in value)
    return len(value) >= 6 and letters and (signs or any(character.isdigit() for character in value))


def _is_said(match: re.Match[str], value: str) -> bool:
    """Return whether what follows "password is" is a password, and not a remark about one."""
    if _is_placeholder(value):
        return False
    if match["bare"] is None or _is_password(value):
        return True
    if len(value) >= 4 and (value.isdigit() or (value != value.capitalize() and value != value.lower())):
        return True
    # A plain word is a password only where the sentence ends with it, and where it says nothing of one.
    ends = not match["after"].strip() or bool(re.match(r"[.,;!?)]|\s+(?:and|but|und|y|et)\b", match["after"]))
    ends = ends or match["bare"][-1] in ".!?)"
    return ends and len(value) >= 5 and value.lower() not in _SAID_OF_PASSWORDS


def _is_placeholder(value: str) -> bool:
    """Return whether a value only stands for one: stars, dots, or a word in the place of a password."""
    same = len(set(value.lower())) <= 1
    stands = value.lower() in _PLACEHOLDERS or bool(_TEMPLATE.match(value))
    return same or not any(character.isalnum() for character in value) or stands


_PLACEHOLDERS: Final = shared("passwords", "placeholders")
_SAID_OF_PASSWORDS: Final = shared("passwords", "remarks")
_SHAPES: Final[Mapping[str, Any]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)
_PARTS: Final = {
    **{name: "|".join(several) for name, several in _SHAPES["alternatives"].items()},
    "value": _SHAPES["value"],
}


def _compiled(lines: Sequence[str]) -> re.Pattern[str]:
    """Return the expression of some lines, with what stands for its parts."""
    expression = "".join(lines)
    for name, part in _PARTS.items():
        expression = expression.replace(f"{{{name}}}", part)
    return re.compile(expression)


_ISSUED: Final = _compiled("{issued}")
_LABELLED, _SPOKEN, _TEMPLATE = (_compiled(_SHAPES[name]) for name in ("labelled", "spoken", "template"))
_TESTS: Final[Mapping[str, Callable[[str], bool]]] = {
    "": lambda value: True,
    "mixed": _is_mixed,
    "card": _is_card,
    "password": _is_password,
    "no placeholder": lambda value: not _is_placeholder(value),
}
_RULES: Final = tuple(
    (rule["kind"], _compiled(rule["pattern"]), _TESTS[rule.get("only", "")]) for rule in _SHAPES["rules"]
)
