"""Standing sentences: instructions, preferences and personal facts, which hold beyond a conversation.

Rules, so that nothing but the text is needed when it is written: an adverb that makes a request general
("always", "from now on") at the head of a sentence, or a first person who likes, is called, lives or works.
Precision comes first: a sentence that is missed can be given its category by the caller, one that is taken by
mistake is shown at the start of every session.
"""

from __future__ import annotations

import re
from typing import Final, Literal, TypeAlias

Standing: TypeAlias = Literal["instruction", "preference", "profile"]

# By language: what opens a sentence that instructs, and what says a preference of the speaker.
_INSTRUCTIONS: Final = {
    "en": r"(?:please[ ,]+)?(?:always|never(?! mind| been| had| seen| knew| thought| heard| got| was)"
    r"|from now on|going forward|in (?:the )?future,|whenever you|you (?:must|should) (?:always|never))\b",
    "de": r"(?:bitte )?(?:immer|niemals|nie wieder|ab jetzt|ab sofort|in zukunft|künftig)\b",
    "fr": r"(?:désormais|dorénavant|à partir de maintenant|toujours)\b",
    "es": r"(?:por favor,? )?(?:siempre|nunca|a partir de ahora|de ahora en adelante)\b",
    "it": r"(?:per favore,? )?(?:sempre|mai|d'ora in poi|da ora in poi)\b",
    "pt": r"(?:por favor,? )?(?:sempre|nunca|a partir de agora|de agora em diante)\b",
    "nl": r"(?:alsjeblieft )?(?:altijd|nooit|vanaf nu|voortaan)\b",
    "ru": r"(?:пожалуйста,? )?(?:всегда|никогда|впредь|отныне|с этого момента)\b",
    "zh": r"(?:请)?(?:以后都?请?|从现在(?:起|开始)|请?始终|务必|永远不要|一律)",
    "ja": r"(?:これからは|今後は|常に|必ず|絶対に)",
    "ko": r"(?:앞으로는?|항상|절대로?|반드시) ",
}  # fmt: skip
_PREFERENCES: Final = {
    "en": r"\b(?:i|(?:the )?user)(?: really| much| strongly| absolutely| always| usually| also)?"
    r" (?:prefers?|likes?(?! to (?:book|order|know|ask))|loves?|enjoys?|hates?|dislikes?|avoids?|favou?rs?"
    r"|(?:do(?:es)?n't|do(?:es)? not|never|can't|cannot) (?:like|eat|drink|stand))\b"
    r"|\bi(?:'d| would) rather\b|\bmy favou?rite\b"
    r"|\bi(?:'m| am) (?:allergic to|(?:a )?(?:vegetarian|vegan))\b",
    "de": r"\bich (?:mag|liebe|hasse|bevorzuge|esse kein|trinke kein)\w*|\bam liebsten\b|\bmeine? lieblings",
    "fr": r"\bje (?:préfère|déteste|n'aime)\b|\bj'(?:aime|adore|évite)\b|\bm(?:on|a|es) \w+ préféré",
    "es": r"\b(?:prefiero|odio|detesto|(?:no )?me (?:gusta|encanta)n?)\b|\bmi \w+ favorit",
    "it": r"\b(?:preferisco|odio|(?:non )?mi piac(?:e|ciono)|adoro)\b|\bi?l? ?mi[oa] \w+ preferit",
    "pt": r"\b(?:prefiro|odeio|(?:não )?gosto de|adoro)\b|\b(?:meu|minha) \w+ favorit",
    "nl": r"\bik (?:hou van|haat|verkies|eet geen|drink geen)\b|\bmijn favoriete\b|\bik \w+ liever\b",
    "ru": r"\bя (?:предпочитаю|люблю|ненавижу|не (?:люблю|ем|пью))\b|\bмне (?:не )?нравится\b|\bмо[йя] любим",
    "zh": r"我(?:更|最|很|不)?(?:喜欢|偏好|讨厌|爱吃|爱喝)|我不(?:吃|喝)",
    "ja": r"(?:私|僕|俺)は.{1,20}(?:好き|嫌い|苦手)|(?:が|は)(?:大)?好きです",
    "ko": r"(?:나는|저는).{1,20}(?:좋아|싫어)",
}  # fmt: skip
_PROFILE: Final = re.compile(
    r"\bmy name(?:'s| is)\b|\bi(?:'m| am) (?:from|based in|married to)\b"
    r"|\bi (?:live|grew up|was born) in\b|\bi work (?:at|for|as)\b"
    r"|\bmy (?:wife|husband|partner|son|daughter|mother|father|brother|sister|boss|birthday|job)"
    r"(?:'s name)? is\b"
    r"|\bich (?:heiße|wohne in|lebe in|komme aus|arbeite (?:bei|als|für))\b|\bmein name ist\b"
    r"|\bmeine? (?:frau|mann|sohn|tochter|mutter|vater|bruder|schwester|chef|chefin) heißt\b"
    r"|\bje m'appelle\b|\bj'habite\b|\bje travaille (?:chez|comme|pour)\b"
    r"|\bme llamo\b|\bmi nombre es\b|\bvivo en\b|\btrabajo (?:en|como|para)\b"
    r"|\bmi chiamo\b|\babito a\b|\blavoro (?:per|come)\b"
    r"|\b(?:me chamo|meu nome é|moro em|trabalho (?:na|no|como|para))\b"
    r"|\bik (?:heet|woon in|werk (?:bij|als|voor)|kom uit)\b|\bmijn naam is\b"
    r"|\bменя зовут\b|\bя (?:живу в|работаю|родился|родилась)\b"
    r"|我叫|我住在|我来自|我的名字|(?:私|僕|俺)の名前は|に住んでい?ます|(?:제|내) 이름은|에 살고 있",
    re.IGNORECASE,
)
"""What a first person says about themselves."""
_SENTENCE_START: Final = r"(?:^|[.!?;:。！？\n]\s*|[-*•]\s+)"
_INSTRUCTION: Final = re.compile(_SENTENCE_START + f"(?:{'|'.join(_INSTRUCTIONS.values())})", re.IGNORECASE)
_PREFERENCE: Final = re.compile("|".join(_PREFERENCES.values()), re.IGNORECASE)
_UNFINISHED: Final = re.compile(
    r"\b(?:to-?do|(?:i|we) (?:still )?(?:need|have) to|remind me|don't forget|next steps?|still open"
    r"|is pending|unfinished|noch (?:zu tun|offen)|ich muss noch|il faut encore|reste à|falta|pendiente"
    r"|ещё нужно|не забыть)\b|待办|还要|别忘|まだ.{0,10}ない|忘れず",
    re.IGNORECASE,
)
# Without one of these neither pattern above matches. Every text that is written is read for them, and to look
# for them takes a tenth of the time of the patterns (6 instead of 55 microseconds for 86 characters).
_CUES: Final = (
    "always", "never", "from now on", "going forward", "future,", "whenever", " prefer", " like", " love",
    " enjoy", " hate", " dislike", " avoid", " favo", " eat", " drink", " stand", " rather", " allergic",
    " vegetarian", " vegan",
    "immer", "niemals", "nie wieder", "ab jetzt", "ab sofort", "zukunft", "künftig", "ich mag", " lieb",
    " hasse", " bevorzuge", "ich esse", "ich trinke",
    "désormais", "dorénavant", "maintenant", "toujours", "préf", "déteste", "aime", "adore", "évite",
    "siempre", "nunca", "ahora", "prefiero", "odio", "detesto", "gusta", "encanta",
    "sempre", "mai", "ora in poi", "preferi", "piac", "adoro", "agora", "prefiro", "odeio", "gosto",
    "altijd", "nooit", "vanaf nu", "voortaan", "hou van", "haat", "verkies", "geen", "liever",
    "всегда", "никогда", "впредь", "отныне", "с этого момента", "предпочитаю", "люблю", "ненавижу", "не ем",
    "не пью", "нравится", "любим",
    "以后", "从现在", "始终", "务必", "永远不要", "一律", "喜欢", "偏好", "讨厌", "爱吃", "爱喝", "我不",
    "これからは", "今後は", "常に", "必ず", "絶対に", "好き", "嫌い", "苦手",
    "앞으로", "항상", "절대", "반드시", "좋아", "싫어",
    "my name", "i'm from", "i am from", "i'm based", "i am based", "i'm married", "i am married", "i live",
    "i grew", "i was born", "i work", "my wife", "my husband", "my partner", "my son", "my daughter",
    "my mother", "my father", "my brother", "my sister", "my boss", "my birthday", "my job", "ich hei",
    "ich wohne", "ich lebe", "ich komme", "ich arbeite", "mein name", "heisst", "je m'app", "j'habite",
    "je travaille", "me llamo", "mi nombre", "vivo", "trabajo", "mi chiamo", "abito", "lavoro", "me chamo",
    "meu nome", "moro em", "trabalho", "ik heet", "ik woon", "ik werk", "ik kom", "mijn naam",
    "меня зовут", "я живу", "я работаю", "я род", "我叫", "我住", "我来自", "我的名字", "の名前は", "住んで",
    "이름은", "살고",
)  # fmt: skip
_ASCII_CUES: Final = tuple(cue for cue in _CUES if cue.isascii())
_MAX_CHARACTERS: Final = 2_000
"""Longer texts are documents or answers; a standing sentence in them is a quotation."""


def standing(text: str) -> Standing | None:
    """Return whether a text holds beyond its conversation, and as what: None if it does not.

    A question asks, and does not instruct. In one text an instruction wins over a preference, and that over
    a personal fact.

    >>> standing("From now on use tabs."), standing("I prefer tea to coffee.")
    ('instruction', 'preference')
    >>> standing("Ab jetzt bitte auf Deutsch."), standing("我不吃香菜")
    ('instruction', 'preference')
    >>> standing("My name is Ines and I work as a nurse."), standing("Ich wohne in Rom.")
    ('profile', 'profile')
    >>> standing("Never mind."), standing("Do I prefer tea?"), standing("Anna moved to Rome.")
    (None, None, None)
    """
    if len(text) > _MAX_CHARACTERS or text.rstrip().endswith(("?", "？")):
        return None
    folded = text.casefold()
    if not any(map(folded.__contains__, _ASCII_CUES if folded.isascii() else _CUES)):
        return None
    if _INSTRUCTION.search(text):
        return "instruction"
    if _PREFERENCE.search(text):
        return "preference"
    return "profile" if _PROFILE.search(text) else None


def is_unfinished(text: str) -> bool:
    """Return whether a text names something that is still to be done.

    >>> is_unfinished("I still need to renew my passport."), is_unfinished("I renewed my passport.")
    (True, False)
    """
    return len(text) <= _MAX_CHARACTERS and _UNFINISHED.search(text) is not None
