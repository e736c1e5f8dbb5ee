"""How the words of a store are read: by the analyser it was made with, and by which version of the rules.

Both are recorded in the store. An index is only as good as the agreement between how memories and queries
are read, so an analyser cannot be changed; where the rules have changed since, the engine has a note.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from memorata.model import checks
from memorata.model.errors import InvalidArgument
from memorata.store.store import Store
from memorata.text.analysers import ANALYSERS, Analyser, analyser

ANALYSER: Final = "analyser"
LANGUAGE: Final = "language"
MIN_LENGTH: Final = "min_length"
VERSION: Final = "words_version"
WORDS_VERSION: Final = "2"
"""Raised whenever `terms_of` gives any text other terms: new stems, stop words, names or times.

2: thirteen more stemmers, and the times that texts in twelve languages name."""
_FIRST_VERSION: Final = "1"
"""That of stores in which none is recorded."""
_DEFAULTS: Final = {VERSION: WORDS_VERSION, ANALYSER: "snowball", LANGUAGE: "detect"}
"""In the order in which they are recorded: a store that was read by the first rules has an analyser and no
version, and a process killed in between must not leave one that looks so."""


class WordSettings:
    """What a store records of how its words are read, and what is asked for besides."""

    def __init__(
        self, store: Store, analyser_name: str | None, language: str | None, min_length: int | None
    ) -> None:
        self._store = store
        recorded = {setting: store.setting(setting) for setting in (*_DEFAULTS, MIN_LENGTH)}
        length = None if min_length is None else str(min_length)
        recorded_analyser = ANALYSERS.get(recorded[ANALYSER] or "")
        if recorded_analyser is not None and length is not None and recorded[MIN_LENGTH] is None:
            # The default length of the analyser: none was recorded when the store was made.
            recorded[MIN_LENGTH] = str(recorded_analyser.min_length)
        if recorded[ANALYSER] is not None and recorded[VERSION] is None:
            recorded[VERSION] = _FIRST_VERSION
        self._recorded = recorded
        self._requested = _non_null({ANALYSER: analyser_name, LANGUAGE: language, MIN_LENGTH: length})

    def analyser(self) -> Analyser:
        """Return what reads words; raise if another is asked for than the store was made with."""
        for setting, value in self._requested.items():
            if self._recorded[setting] not in (None, value):
                raise InvalidArgument(
                    setting,
                    value,
                    f"{self._recorded[setting]!r}, as the words of this store were read; make a new store to "
                    "change it",
                )
        settings = self._requested | _non_null(self._recorded)
        length = settings.get(MIN_LENGTH)
        return checked_analyser(
            settings.get(ANALYSER), settings.get(LANGUAGE), None if length is None else int(length)
        )

    def outdated(self) -> str:
        """Return what :func:`outdated_words` does, as it was recorded."""
        return _outdated(self._recorded[VERSION])

    def record(self) -> None:
        """Record in a new store what it is made with."""
        for setting, value in (_DEFAULTS | self._requested).items():
            if self._recorded[setting] is None and not self._store.read_only:
                self._store.remember_setting(setting, value)


def outdated_words(store: Store) -> str:
    """Return that the words of a store were read by other rules than queries are; empty if they were not."""
    version = store.setting(VERSION)
    if version is None and store.setting(ANALYSER) is not None:
        version = _FIRST_VERSION
    return _outdated(version)


def _outdated(version: str | None) -> str:
    if version in (None, WORDS_VERSION):
        return ""
    return (
        f"the words of this store were read by version {version} of the rules, and queries are read by "
        f"version {WORDS_VERSION}: some memories are not found by stems and times that differ; "
        "`memorata check --repair` reads them anew"
    )


def note_words_read(store: Store) -> None:
    """Record that all words of a store were read anew."""
    store.remember_setting(VERSION, WORDS_VERSION)


def checked_analyser(name: str | None, language: str | None, min_length: int | None) -> Analyser:
    """Return what reads words, or raise if there is none such."""
    changes = {} if min_length is None else {"min_length": checks.whole(MIN_LENGTH, min_length, 1)}
    return analyser(
        checks.one_of(ANALYSER, _DEFAULTS[ANALYSER] if name is None else name, tuple(ANALYSERS)),
        language=_DEFAULTS[LANGUAGE] if language is None else language,
        **changes,
    )


def _non_null(values: Mapping[str, str | None]) -> dict[str, str]:
    return {setting: value for setting, value in values.items() if value is not None}
