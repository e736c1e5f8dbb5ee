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
from memorata._legacy_names import TOKEN_PREFIX
from memorata.model import checks
from memorata.text.word_lists import listed


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
    # Our own keys. Keys that begin with sk-, and of payments; GitHub, GitLab, Bitbucket, Slack, Discord; npm,
    # PyPI, RubyGems, NuGet, Docker Hub, Hugging Face; Google, AWS, DigitalOcean, Heroku, Netlify, Supabase.
    rf"(?:mem|{TOKEN_PREFIX[:-1]})_[0-9a-f]{{16}}_[A-Za-z0-9_-]{{43}}",
    r"sk-(?:proj-|ant-|svcacct-|or-)?[A-Za-z0-9_-]{20,}",
    r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{24,}",
    r"sq0(?:atp|csp|idp)-[A-Za-z0-9_-]{22,}|access_token\$production\$[a-z0-9]{16}\$[0-9a-f]{32}",
    r"gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{40,}|gl(?:pat|dt|rt|ptt|soat)-[A-Za-z0-9_-]{20,}",
    r"AT(?:ATT3|BB|CTT3)[A-Za-z0-9_=-]{24,}|xox[abeprs]-[A-Za-z0-9-]{10,}|xapp-\d-[A-Za-z0-9-]{20,}",
    r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}",
    r"npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{50,}|rubygems_[0-9a-f]{48}|oy2[a-z0-9]{43}",
    r"dckr_pat_[A-Za-z0-9_-]{27}|hf_[A-Za-z0-9]{30,}",
    r"AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{28}",
    r"(?:AKIA|ASIA|AROA|AIDA)[A-Z2-7]{16}",
    r"do[opr]_v1_[a-f0-9]{64}|HRKU-[A-Za-z0-9_-]{30,}|nfp_[A-Za-z0-9]{36,}|sbp_[a-f0-9]{40}",
    # SendGrid, Telegram, Twilio, Mailgun, Mailchimp; Shopify, Databricks; Linear, Notion, Airtable, Figma.
    r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|\d{8,10}:AA[A-Za-z0-9_-]{33}",
    r"SK[0-9a-f]{32}|key-[0-9a-f]{32}|[0-9a-f]{32}-us\d{1,2}",
    r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}|dapi[a-f0-9]{32}",
    r"lin_api_[A-Za-z0-9]{32,}|ntn_[A-Za-z0-9]{32,}|pat[A-Za-z0-9]{14}\.[0-9a-f]{64}|figd_[A-Za-z0-9_-]{36,}",
    # Vault, Terraform, Grafana, New Relic, Sentry, Postman, Pulumi, Doppler, PlanetScale, age.
    r"hv[sbr]\.[A-Za-z0-9_-]{24,}|[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{60,}",
    r"gl(?:c|sa)_[A-Za-z0-9_=+/-]{32,}|NRAK-[A-Z0-9]{27}|sntry[su]_[A-Za-z0-9_=+/-]{40,}",
    r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}|pul-[0-9a-f]{40}|dp\.(?:pt|st|ct)\.[A-Za-z0-9_-]{40,}",
    r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{32,}|AGE-SECRET-KEY-1[0-9A-Z]{58}",
    # Groq, Replicate, Perplexity, xAI, Tavily, LangSmith, Pinecone.
    r"gsk_[A-Za-z0-9]{40,}|r8_[A-Za-z0-9]{37}|pplx-[A-Za-z0-9]{40,}|xai-[A-Za-z0-9]{60,}",
    r"tvly-[A-Za-z0-9-]{28,}|lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}|pcsk_[A-Za-z0-9_]{50,}",
)
_PASSWORDS: Final = (
    r"pass(?:word|wd|phrase|code)|pwd|passwort|kennwort|mot de passe|contraseña|senha|wachtwoord|hasło"
    r"|lösenord|пароль|パスワード|密码"
)
_KEYS: Final = (
    r"api[ _-]?key|api[ _-]?token|access[ _-]?(?:key|token)|auth[ _-]?token|secret[ _-]?(?:access[ _-]?)?key"
    r"|client[ _-]?secret|account[ _-]?key|refresh[ _-]?token|private[ _-]?key|secret"
)
_VALUE: Final = r"""(?:"(?P<double>[^"\n]{4,})"|'(?P<single>[^'\n]{4,})'|(?P<bare>[^\s"'<>\[\]{},;]{4,}))"""

_KEY_BLOCK: Final = re.compile(
    r"-----BEGIN (?P<what>(?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?)-----.*?(?:-----END (?P=what)-----|\Z)",
    re.DOTALL,
)
_JWT: Final = re.compile(r"(?<![\w.-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*(?![\w-])")
_TOKEN: Final = re.compile(rf"(?<![\w-])(?:{'|'.join(_TOKENS)})(?![\w-])")
_BEARER: Final = re.compile(r"(?i:\bbearer)\s+(?P<bare>[A-Za-z0-9._~+/-]{20,}=*)")
_BASIC: Final = re.compile(r"(?i:\bauthorization:\s*basic)\s+(?P<bare>[A-Za-z0-9+/_-]{8,}=*)")
_USER_OPTION: Final = re.compile(
    r"\bcurl\b[^\n|;]{0,200}?\s(?:-u|--user)[\s=]+[\"']?[^\s:\"']+:(?P<bare>[^\s\"']+)"
)
_NETRC: Final = re.compile(r"\bmachine\s+\S+\s+login\s+\S+\s+password\s+(?P<bare>\S+)")
_WEBHOOK: Final = re.compile(
    r"https://(?:hooks\.slack\.com/services|discord(?:app)?\.com/api/webhooks)/(?P<bare>[A-Za-z0-9/_-]{20,})"
)
_SEED: Final = re.compile(
    r"(?i)(?<!redacted: )\b(?:seed|recovery|mnemonic)(?:[ -]phrase|[ -]words)?\W{1,3}(?:is\W)?"
    r"(?P<bare>[a-z]{3,8}(?: [a-z]{3,8}){11,23})\b"
)
_ADDRESS: Final = re.compile(r"\b[a-z][a-z0-9+.-]{0,20}://[^\s:/@]*:(?P<bare>[^\s:/@]+)@")
_CARD: Final = re.compile(
    r"(?<![\w.+-])(?:\d{13,19}|\d{4}([ -])\d{4}\1\d{4}\1\d{1,7}|\d{4}([ -])\d{6}\2\d{4,5})(?![\w-]|\.\d)"
)
_NAMED_CARD: Final = re.compile(
    # Digits in any groups, where a card is named before them.
    r"(?i)(?<!redacted: )\b(?:card|credit|debit|visa|master ?card|amex|american express|kreditkarte"
    r"|karte|carte)\b\D{0,40}?"
    r"(?P<bare>(?<![\w.+-])\d(?:[\s.\-\u2010-\u2015\u00a0\u2000-\u200a\u202f_/]{0,3}\d){12,18})(?![\w-])"
)
_CODE: Final = re.compile(
    # Short numbers are secrets only by the words before them.
    r"(?i)(?:\b(?:(?-i:PIN|Pin)|(?<=my )pin|(?<=card )pin|geheimzahl)(?:[ -]?(?:code|number|nummer))?"
    r"(?:[^\S\n]+(?:for|of|to|von|für)[^\n\d.,;:]{1,40}?)?"
    r"|\b(?:cvv2?|cvc2?|cvn)(?:[ -]?code|[ -]?number)?"
    r"|\b(?:security|verification|one[- ]time|two[- ]factor|2fa|mfa|otp|unlock|door|gate|alarm|safe|vault)"
    r"[ -](?:code|pin|combination)"
    r"(?:[^\S\n]+(?:for|of|to)[^\n\d.,;:]{1,40}?)?|\b(?-i:OTP|TAN))"
    r"[^\S\n]*(?:is|was|ist|war|lautet|[:=])?[^\S\n]*(?P<bare>\d{3,8}(?:[ -]\d{3,4})?)"
    r"(?![\w.,:/%-]*\d|[^\S\n]*(?:mm|cm|pins?|of)\b)"
)
_LABELLED: Final = re.compile(
    rf"(?i)(?<![^\W_])(?:(?P<password>{_PASSWORDS})|(?P<key>{_KEYS}))"
    rf"[\"']?[^\S\n]*(?:is[^\S\n]*)?[:=：][^\S\n]*{_VALUE}"
)
_SPOKEN: Final = re.compile(
    # "My password for the bank is …": a secret in a sentence, not a sentence about passwords.
    rf"(?i)(?<![^\W_])(?:{_PASSWORDS}|login|pw)\b"
    r"(?:[^\S\n]+(?:for|to|of|on|at|für|von|du|de|del|para)\b[^\n.,;:=?!]{1,40}?)?"
    r"[^\S\n]+(?:is|was|are|ist|war|lautet|est|es|é|jest|является|reads|changed to|set to|now)[^\S\n]+"
    rf"(?:now|still|jetzt)?[^\S\n]*{_VALUE}(?=(?P<after>[^\n]{{0,24}}))"
)
_BESIDE: Final = re.compile(
    # "user anna password hunter2": nothing between, so that only what looks random counts.
    rf"(?i)(?<![^\W_])(?:{_PASSWORDS}|pw)[^\S\n]+(?P<bare>[^\s\"'<>\[\]{{}},;:=]{{6,}})"
)

_Test = Callable[[str], bool]
_RULES: Final[tuple[tuple[str, re.Pattern[str], _Test], ...]] = (
    ("private key", _KEY_BLOCK, lambda value: True),
    ("token", _JWT, lambda value: True),
    ("API key", _TOKEN, _is_mixed),
    ("token", _BEARER, _is_mixed),
    ("token", _BASIC, lambda value: True),
    ("token", _WEBHOOK, _is_mixed),
    ("password", _ADDRESS, lambda value: not _is_placeholder(value)),
    ("password", _USER_OPTION, lambda value: True),
    ("password", _NETRC, lambda value: True),
    ("password", _BESIDE, lambda value: _is_password(value)),
    ("recovery phrase", _SEED, lambda value: True),
    ("code", _CODE, lambda value: True),
    ("card number", _NAMED_CARD, _is_card),
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


_TEMPLATE: Final = re.compile(
    r"(?i)\$\{?[a-z_]|%\(?[a-z_]|<|\{\{|your[_-]|xxx|\*\*|\$\(|[a-z_.]+\(|os\.|env\.|process\.|getenv|settings\.|config\."
)
"""How a place for a secret begins: a variable, a template, "your-key-here"."""
_PLACEHOLDERS: Final = listed("passwords", "placeholders")
_SAID_OF_PASSWORDS: Final = listed("passwords", "remarks")
