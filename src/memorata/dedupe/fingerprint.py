"""The fingerprint of a text: equal for two texts that differ only in their dress.

The dress is what Unicode calls compatibility and case (Unicode Standard Annex #15, normalisation form KC, and
case folding as in section 3.13 of the standard), white space, and the punctuation at the end. The hash is
BLAKE2b (RFC 7693) of 128 bits: for a billion texts, the chance that any two differing ones collide is below
1e-20.
"""

from __future__ import annotations

import hashlib
import unicodedata

from memorata.model import checks

_SIGNS = frozenset("#%&*@/\\_-‰‱′‵")
"""Characters that Unicode counts as punctuation, but which say something at the end of a text: C#, 5%, O-."""
_DIGEST_BYTES = 16


def normalised(content: str) -> str:
    r"""Return `content` without the differences that do not make it another statement.

    Unicode compatibility forms and case are folded (NFKC and full case folding), runs of white space become
    one space and vanish at both ends, and punctuation at the end is dropped, except signs that carry meaning
    there (``# % & * @ / \ _ -`` and their like). A text of nothing but punctuation keeps all of it. The
    normal form is its own normal form. NFKC also flattens superscripts ("x²" is "x2"): the price of reading
    "ﬁ" and "fi" alike.

    >>> normalised("  Alice\tlikes   TEA!? ")
    'alice likes tea'
    >>> normalised("Ｓｔｒａße…"), normalised("I write C#."), normalised("?!")
    ('strasse', 'i write c#', '?!')
    """
    words = " ".join(folded(content).split())
    # Most texts end with a letter or with one mark.
    if words[-1:].isalnum():
        return words
    end = len(words)
    while end and (words[end - 1] == " " or is_closing_punctuation(words[end - 1])):
        end -= 1
    return words[:end] or words


def fingerprint(content: str) -> str:
    """Return the hash of the normal form of `content`, as 32 hexadecimal digits, the same on every machine.

    ``BLAKE2b-128(UTF-8(normalised(content)))``, with lone surrogates written as UTF-8 would write them if it
    allowed them.

    >>> fingerprint("Alice likes tea.") == fingerprint("alice  likes tea")
    True
    >>> fingerprint("Alice likes tea.") == fingerprint("Alice likes coffee.")
    False
    >>> fingerprint("")
    'cae66941d9efbd404e4d88758ea67670'
    """
    encoded = normalised(content).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(encoded, digest_size=_DIGEST_BYTES).hexdigest()


def folded(content: str) -> str:
    """Return `content` with compatibility forms and case folded; folding the result again changes nothing."""
    if checks.text("content", content).isascii():
        return content.lower()
    # The second NFKC puts back in order what case folding takes apart, such as the two accents of "ΐ".
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", content).casefold())


def is_closing_punctuation(character: str) -> bool:
    """Return whether one character is punctuation that a text or a word can lose without saying less."""
    return character not in _SIGNS and unicodedata.category(character).startswith("P")
