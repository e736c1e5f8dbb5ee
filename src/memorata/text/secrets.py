"""Secrets in a text, and the text without them.

Recognised by shapes that hardly anything else has: tokens that carry their maker's prefix, private key
blocks, JSON Web Tokens (RFC 7519), payment card numbers whose last digit checks (Luhn, US patent 2950048,
1960), and what follows a word such as ``password:``. A shape that other things share (a UUID, a hash, a
telephone or order number) is left alone: a memory with holes where there was no secret is worth less than one
without this step. What is taken out leaves a marker that says what it was.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from memorata._frozen import frozen
from memorata.model import checks


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
    kept: list[Secret] = []
    for secret in candidates:
        if not kept or secret.start >= kept[-1].end:
            kept.append(secret)
    return tuple(kept)


def redacted(text: str) -> str:
    """Return the text with a marker in the place of each secret."""
    parts, after = [], 0
    for secret in secrets(text):
        parts += [text[after : secret.start], f"[redacted: {secret.kind}]"]
        after = secret.end
    return "".join((*parts, text[after:]))


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
    return any(each.isdigit() for each in text) and any(each.isalpha() for each in text)


# The first digits and lengths that card networks have given out: Visa, Mastercard, American Express,
# Discover, Diners Club, JCB, UnionPay, Maestro, Mir. Without them every tenth long number would check out.
_ISSUED: Final = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})"
    r"|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}"
    r"|3[47]\d{13}"
    r"|6(?:011|5\d\d|4[4-9]\d)\d{12}"
    r"|3(?:0[0-5]|[689]\d)\d{11}"
    r"|35(?:2[89]|[3-8]\d)\d{12}"
    r"|62\d{14,17}"
    r"|(?:50|5[6-9]|6[37])\d{11,17}"
    r"|220[0-4]\d{12}"
)

_TOKENS: Final = (
    # Those who write sk-, and payment services; GitHub, GitLab, Slack; npm, PyPI, Hugging Face; Google, AWS;
    # SendGrid, Telegram; DigitalOcean, Shopify, Databricks; Linear, Notion, Groq, Replicate.
    r"sk-(?:proj-|ant-|svcacct-|or-)?[A-Za-z0-9_-]{20,}",
    r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}",
    r"whsec_[A-Za-z0-9+/=]{24,}",
    r"gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{40,}",
    r"glpat-[A-Za-z0-9_-]{20,}",
    r"xox[abeprs]-[A-Za-z0-9-]{10,}|xapp-\d-[A-Za-z0-9-]{20,}",
    r"npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{50,}|hf_[A-Za-z0-9]{30,}",
    r"AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{28}",
    r"(?:AKIA|ASIA|AROA|AIDA)[A-Z2-7]{16}",
    r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
    r"\d{8,10}:AA[A-Za-z0-9_-]{33}",
    r"do[opr]_v1_[a-f0-9]{64}|shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}|dapi[a-f0-9]{32}",
    r"lin_api_[A-Za-z0-9]{32,}|ntn_[A-Za-z0-9]{32,}|gsk_[A-Za-z0-9]{40,}|r8_[A-Za-z0-9]{37}",
)
_PASSWORDS: Final = r"pass(?:word|wd|phrase|code)|pwd|passwort|kennwort|mot de passe|contraseña|пароль"
_KEYS: Final = (
    r"api[ _-]?key|api[ _-]?token|access[ _-]?(?:key|token)|auth[ _-]?token|secret[ _-]?(?:access[ _-]?)?key"
    r"|client[ _-]?secret|secret"
)
_VALUE: Final = r"""(?:"(?P<double>[^"\n]{4,})"|'(?P<single>[^'\n]{4,})'|(?P<bare>[^\s"'<>\[\]{},;]{4,}))"""

_KEY_BLOCK: Final = re.compile(
    r"-----BEGIN (?P<what>(?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?)-----.*?(?:-----END (?P=what)-----|\Z)",
    re.DOTALL,
)
_JWT: Final = re.compile(r"(?<![\w.-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*(?![\w-])")
_TOKEN: Final = re.compile(rf"(?<![\w-])(?:{'|'.join(_TOKENS)})(?![\w-])")
_BEARER: Final = re.compile(r"(?i:\bbearer)\s+(?P<bare>[A-Za-z0-9._~+/-]{20,}=*)")
_ADDRESS: Final = re.compile(r"\b[a-z][a-z0-9+.-]{0,20}://[^\s:/@]*:(?P<bare>[^\s:/@]+)@")
_CARD: Final = re.compile(
    r"(?<![\w.+-])(?:\d{13,19}|\d{4}([ -])\d{4}\1\d{4}\1\d{1,7}|\d{4}([ -])\d{6}\2\d{4,5})(?![\w-]|\.\d)"
)
_LABELLED: Final = re.compile(
    rf"(?i)(?<![^\W_])(?:(?P<password>{_PASSWORDS})|(?P<key>{_KEYS}))"
    rf"[\"']?[^\S\n]*(?:is[^\S\n]*)?[:=][^\S\n]*{_VALUE}"
)

_Test = Callable[[str], bool]
_RULES: Final[tuple[tuple[str, re.Pattern[str], _Test], ...]] = (
    ("private key", _KEY_BLOCK, lambda found: True),
    ("token", _JWT, lambda found: True),
    ("API key", _TOKEN, _is_mixed),
    ("token", _BEARER, _is_mixed),
    ("password", _ADDRESS, lambda found: True),
    ("card number", _CARD, _is_card),
)
_TRAILING: Final = ".,)…"
"""What may follow a secret at the end of a sentence, and is hardly ever a part of one."""


def _candidates(text: str) -> Iterator[Secret]:
    for kind, pattern, is_one in _RULES:
        group = "bare" if "bare" in pattern.groupindex else 0
        for match in pattern.finditer(text):
            if is_one(match[group]):
                yield Secret(*match.span(group), kind)
    for match in _LABELLED.finditer(text):
        value = match["double"] or match["single"] or match["bare"].rstrip(_TRAILING)
        start = max(match.start(group) for group in ("double", "single", "bare"))
        # People write of keys and secrets in words; only what looks random is one.
        if match["password"] and not _is_placeholder(value):
            yield Secret(start, start + len(value), "password")
        elif match["key"] and _is_mixed(value):
            yield Secret(
                start, start + len(value), "secret" if "secret" in match["key"].lower() else "API key"
            )


def _is_placeholder(value: str) -> bool:
    """Return whether a value only stands for one: stars, dots, or a word in the place of a password."""
    same = len(set(value.lower())) <= 1
    return same or not any(each.isalnum() for each in value) or value.lower() in _PLACEHOLDERS


_PLACEHOLDERS: Final = frozenset(
    {"none", "null", "true", "false", "required", "optional", "string", "changed", "forgotten", "unknown"}
)
