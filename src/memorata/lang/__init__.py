"""The languages: a file each, with all words and rules that belong to it.

``LANGUAGE.toml`` holds as much of the following as is known. To add a language, add its file and a test.

- `order`: the place of the language by its speakers; ties between languages go to the first.
- `code`: its ISO 639-1 code. `letters`: of Latin script beside a to z.
- ``[words]``: lists of words between blanks (:mod:`memorata.text.word_lists` describes them).
- ``[query_cues]``: cues of the type of a query (:mod:`memorata.text.queries`).
- ``[standing]``: sentences that hold beyond a conversation (:mod:`memorata.text.standing_sentences`).
- ``[dates.…]``: names of times (:mod:`memorata.text.dates.language`).

``shared.toml`` holds lists over all languages.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

_SHARED: Final = "shared"
_FILES: Final = {
    file.stem: tomllib.loads(file.read_text(encoding="utf-8"))
    for file in Path(__file__).parent.glob("*.toml")
}
SHARED: Final[Mapping[str, Mapping[str, Any]]] = _FILES.pop(_SHARED)
"""The lists over all languages, by section."""
LANGUAGES: Final[Mapping[str, Mapping[str, Any]]] = dict(
    sorted(_FILES.items(), key=lambda file: file[1]["order"])
)
"""The files of the languages by name, in the order of their speakers."""


def languages_with(section: str, name: str | None = None) -> tuple[str, ...]:
    """Return the languages that have a section, or an entry of this name in it.

    >>> languages_with("words", "pronouns")[:3]
    ('english', 'spanish', 'french')
    """
    return tuple(
        language
        for language, file in LANGUAGES.items()
        if section in file and (name is None or name in file[section])
    )
