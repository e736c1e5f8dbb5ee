"""The names in a text, by rules: offline, fast, in any script, with no vocabulary to speak of.

Three readers look at a text, and where they overlap the longest find wins: what the namespace knows
(:mod:`memorata.text.known_names`), what machines name (:mod:`memorata.text.entity_patterns`), and what
stands there with a capital (:mod:`memorata.text.names`). Dates are left to those who read time. The rules
are measured on a labelled list in the tests; a tagger or a language model can take their place behind the
same port (:class:`~memorata.text.mentions.EntityExtractor`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from memorata.model import checks
from memorata.model.errors import InvalidArgument
from memorata.text.known_names import KnownNames
from memorata.text.language import detect
from memorata.text.mentions import Extraction, Mention, apart

_EMBEDDED = re.compile(r"(?:data:[\w/+.-]*;)?base64,[A-Za-z0-9+/=]+")
"""A file inside the text: nobody's name, and long."""
_SIGNS_OF_NAMES = frozenset('@#_/\\`(.:"-ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789')
_NO_SIGNS = bytes(code for code in range(256) if chr(code) not in _SIGNS_OF_NAMES)
"""What an ASCII text without a capital, a digit or one of a few marks consists of."""
_NOTHING = Extraction()


class RuleExtractor:
    """Reads names by rules.

    Parameters
    ----------
    default
        The language of a text too short to tell.

    Examples
    --------
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

    def extract(self, texts: Sequence[str], known: KnownNames | None = None) -> list[Extraction]:
        """Return the mentions of each text; rules read no relations, and never fail.

        Examples
        --------
        >>> RuleExtractor().extract(["I like tea.", "I like Berlin."])[1].mentions
        (Mention(text='Berlin', kind='name', start=7, end=13),)
        """
        given = checks.texts("texts", texts)
        if known is not None and not isinstance(known, KnownNames):
            raise InvalidArgument("known", known, "KnownNames")
        names = known or None
        found = [() if names is None and _has_no_sign(text) else self._read(text, names) for text in given]
        return [Extraction(mentions) if mentions else _NOTHING for mentions in found]

    def mentions(self, text: str, known: KnownNames | None = None) -> tuple[Mention, ...]:
        """Return the mentions of one text, in order.

        Examples
        --------
        >>> from memorata.model.entity import Entity
        >>> RuleExtractor().mentions("ask anna", KnownNames([Entity("Anna Keller", aliases=("Anna",))]))
        (Mention(text='anna', kind='known', start=4, end=8),)
        """
        return self.extract([checks.text("text", text)], known)[0].mentions

    def _read(self, text: str, known: KnownNames | None) -> tuple[Mention, ...]:
        """Return the mentions of a text that may have some; `known` is None where nobody is."""
        readable = _EMBEDDED.sub(lambda data: "\0" * len(data.group()), text) if "base64," in text else text
        found = [(start, end, "known") for start, end in known.spans(readable)] if known is not None else []
        by_form = list(_readers().machine_names(readable))
        found += by_form
        running = _without(readable, by_form) if by_form else readable
        if any(map(str.isalpha, running)):
            found += [(start, end, "name") for start, end in self._names(running)]
        return apart(text, found) if found else ()

    def _names(self, text: str) -> Iterator[tuple[int, int]]:
        # Without a capital, a name can only stand in quotation marks, in whatever language.
        if text.islower():
            return _readers().quoted_titles(text)
        return _readers().capitalised_names(text, detect(text, self._default))


class _Readers(NamedTuple):
    machine_names: Callable[[str], Iterator[tuple[int, int, str]]]
    quoted_titles: Callable[[str], Iterator[tuple[int, int]]]
    capitalised_names: Callable[[str, str], Iterator[tuple[int, int]]]


@cache
def _readers() -> _Readers:
    """Load what reads names, once, by the first text that may have one.

    Opening makes an extractor, and a recall asks it nothing.
    """
    from memorata.text.entity_patterns import machine_names
    from memorata.text.names import capitalised_names
    from memorata.text.quoted_titles import quoted_titles

    return _Readers(machine_names, quoted_titles, capitalised_names)


def _has_no_sign(text: str) -> bool:
    """Return whether a text surely has no name that rules could read, told at a glance."""
    return text.isascii() and not text.encode().translate(None, _NO_SIGNS) and "localhost" not in text


def _without(text: str, spans: list[tuple[int, int, str]]) -> str:
    """Return `text` with what is already read struck out, so that positions stay the same."""
    pieces, at = [], 0
    for start, end, _ in spans:
        pieces += [text[at:start], "\0" * (end - start)]
        at = end
    return "".join([*pieces, text[at:]])
