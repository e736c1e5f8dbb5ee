"""The speakers of a namespace, also by session."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

_PAIR_SHARE: Final = 0.9
"""Least share of sessions with at most two speakers in a namespace of pairs."""


class Speakers:
    """The speakers of a namespace, also by session; grows with the memories."""

    def __init__(self) -> None:
        self.names: frozenset[str] = frozenset()
        self._by_session: dict[str, frozenset[str]] = {}
        self._crowded = 0

    def add(self, spoken: Iterable[tuple[str, str]]) -> None:
        """Add pairs of session and speaker; the session is empty for a memory in none."""
        names = set()
        for session, speaker in spoken:
            before = self._by_session.get(session, frozenset())
            names.add(speaker)
            if session and speaker not in before:
                self._by_session[session] = before | {speaker}
                self._crowded += len(before) == 2
        if not names <= self.names:
            self.names |= names

    @property
    def in_pairs(self) -> bool:
        """Whether there are at most two speakers: in the namespace, or in nine of ten of its sessions."""
        sessions = len(self._by_session)
        return len(self.names) <= 2 or 0 < sessions >= _PAIR_SHARE * sessions + self._crowded

    def of(self, session: str) -> frozenset[str]:
        """Return the speakers of a session."""
        return self._by_session.get(session, frozenset())
