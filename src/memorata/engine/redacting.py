"""Redaction on write: a memory, or what is said about one, without the secrets in it.

Everything that people write freely is read: the content, tags, names, metadata and the link, what is said of
entities, why something was decided, and the questions that are logged. It happens before anything else looks
at the text, so that no index, no vector and no name ever holds a secret.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from memorata.model.memory import Memory, Source

_FREE: Final = ("content", "tags", "entities", "metadata", "source")


def without_secrets(memory: Memory) -> Memory:
    """Return a memory with a marker in the place of each secret; the same one if there is none.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> said = Memory(id="m1", content="The password: hunter2", created_at=datetime(2026, 5, 7, tzinfo=UTC),
    ...               metadata={"card": "4111 1111 1111 1111", "room": 12})
    >>> clean = without_secrets(said)
    >>> clean.content, dict(clean.metadata)
    ('The password: [redacted: password]', {'card': '[redacted: card number]', 'room': 12})
    """
    given = {name: getattr(memory, name) for name in _FREE}
    clean = {name: cleaned(value) for name, value in given.items()}
    return memory if clean == given else replace(memory, **clean)


def cleaned(value: Any) -> Any:  # noqa: ANN401 - any value a memory may hold
    """Return a value without the secrets in its texts, however deep they are.

    Examples
    --------
    >>> cleaned({"login": ["ada", "password=swordfish"], "tries": 3})
    {'login': ['ada', 'password=[redacted: password]'], 'tries': 3}
    """
    # Loaded by who redacts: the patterns of secrets take a while to make.
    from memorata.text.secrets import redacted

    if isinstance(value, str) and type(value) is str:
        return redacted(value)
    if isinstance(value, Mapping):
        return {name: cleaned(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(cleaned(each) for each in value)
    if isinstance(value, Source):
        return replace(value, link=redacted(value.link))
    return value
