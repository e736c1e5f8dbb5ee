"""Drafts: memories built from the arguments of a caller, before they are written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime
from itertools import compress
from typing import Any, Final

from memorata._frozen import frozen
from memorata.model import checks
from memorata.model.checks import RANDOM_BITS, uuid7
from memorata.model.entity import Place
from memorata.model.errors import InvalidArgument
from memorata.model.memory import IMPORT, PYTHON, Memory, Source, build_memory, unattributed

_FIELDS: Final = tuple(field.name for field in fields(Memory))
_DETAILS: Final = tuple(name for name in _FIELDS if name not in ("content", "namespace"))
_FIELD_NAMES: Final = frozenset(_FIELDS)
_DETAIL_NAMES: Final = frozenset(_DETAILS)
_RELAYING_INTERFACES: Final = frozenset({PYTHON, IMPORT})
"""Interfaces that may say what a memory came through: a program, and what was exported with it."""


@frozen
class Drafts:
    """Makes memories, giving them a time and an identifier where they bring none."""

    clock: Callable[[], datetime]
    random_bits: Callable[[int], int]
    mentioned: Callable[[Sequence[tuple[str, str, tuple[str, ...]]]], list[tuple[str, ...]]] | None = None
    dated: Callable[[Memory], Memory] | None = None
    redact: bool = False
    expect: Callable[[Sequence[Memory]], None] | None = None
    """Called with the memories that are going to be written, before their names are read."""
    is_person: Callable[[str, str], bool] = lambda namespace, name: False
    """Tells whether a name is that of a person whom a namespace declares."""
    via: str = PYTHON
    """The interface that memories come through; no client of another one can claim to be elsewhere."""

    def draft(self, content: str, namespace: str, details: Mapping[str, Any]) -> Memory:
        """Return a memory; a source and a place may be plain mappings, as JSON holds them."""
        memory = self._built_memory(content, namespace, details)
        return self._annotated(memory, *self._names_in([memory]))

    def from_items(
        self,
        items: Sequence[Memory | Mapping[str, Any] | str],
        namespace: str,
        *,
        verbatim: bool = False,
        first: int = 0,
    ) -> list[Memory]:
        """Return the memories of a batch; names are not read in those that have some, nor with `verbatim`.

        Errors name an item by its number; that of the first is `first`.
        """
        unread = []
        for number, item in enumerate(items, first):
            try:
                unread.append(self._unparsed(item, namespace))
            except InvalidArgument as error:
                raise error.inside(f"items[{number}]") from error
        is_read = [not isinstance(item, Memory) or not (verbatim or item.entities) for item in items]
        names = iter(self._names_in(list(compress(unread, is_read))))
        return [
            self._annotated(memory, next(names)) if read else memory
            for memory, read in zip(unread, is_read, strict=True)
        ]

    def _built_memory(self, content: str, namespace: str, details: Mapping[str, Any]) -> Memory:
        if not _DETAIL_NAMES.issuperset(details):
            _check_names("details", details, _DETAILS)
        return self._filled({**details, "content": content, "namespace": namespace})

    def _filled(self, values: dict[str, Any]) -> Memory:
        """Return the memory of some fields, with defaults for required ones that are missing."""
        now = self.clock()
        values.setdefault("created_at", now)
        if "id" not in values:
            values["id"] = uuid7(now, self.random_bits(RANDOM_BITS))
        if "source" in values and isinstance(values["source"], Mapping):
            values["source"] = built_source({"via": self.via, **values["source"]})
        elif "source" not in values and self.via != PYTHON:
            values["source"] = unattributed(self.via)
        if self.via not in _RELAYING_INTERFACES and values["source"].via != self.via:
            values["source"] = replace(values["source"], via=self.via)
        if "place" in values and isinstance(values["place"], Mapping):
            values["place"] = built_place(values["place"])
        memory = self.marked(build_memory(values))
        # A page that says "always send …" gives no standing instruction.
        if "category" not in values and not (memory.untrusted or memory.source.is_machine):
            # Loaded on demand: its patterns take 5 ms to compile.
            from memorata.text.standing_sentences import standing

            category = standing(memory.content)
            memory = memory if category is None else replace(memory, category=category)
        return self.clean(memory)

    def _unparsed(self, item: Memory | Mapping[str, Any] | str, namespace: str) -> Memory:
        if isinstance(item, Memory):
            return self.clean(self.marked(item))
        if isinstance(item, str):
            return self._built_memory(item, namespace, {})
        # Asking whether a dictionary is a Mapping would take longer than looking into it.
        is_mapping = type(item) is dict or isinstance(item, Mapping)
        if is_mapping and not _FIELD_NAMES.issuperset(item):
            _check_names("fields", item, _FIELDS)
        if not is_mapping or "content" not in item:
            raise InvalidArgument("", item, "a memory, a mapping with a content, or a text")
        return self._filled({**item, "namespace": item.get("namespace") or namespace})

    def marked(self, memory: Memory) -> Memory:
        """Return a memory with the mark that follows from its source.

        A declared person who speaks gets the role of a user, so that the source alone tells from then on.
        """
        source = memory.source
        if memory.untrusted or not source.is_trusted:
            if memory.untrusted or source.role or not self.is_person(memory.namespace, source.speaker):
                return memory.distrusted()
            return replace(memory, source=replace(source, role="user"))
        return memory

    def clean(self, memory: Memory) -> Memory:
        """Return a memory without the secrets in it, if they are to be taken out."""
        return without_secrets(memory) if self.redact else memory

    def _names_in(self, memories: Sequence[Memory]) -> list[tuple[str, ...]]:
        """Return the names of memories, those that their texts mention among them, all read in one go."""
        if self.expect is not None:
            self.expect(memories)
        if self.mentioned is None:
            return [memory.entities for memory in memories]
        return self.mentioned([(memory.content, memory.namespace, memory.entities) for memory in memories])

    def _annotated(self, memory: Memory, names: tuple[str, ...]) -> Memory:
        """Return a memory with its names, and with the day that its text names."""
        if self.dated is not None:
            memory = self.dated(memory)
        return memory if names == memory.entities else memory.mentioning(names)


def _check_names(argument: str, names: Iterable[str], known: Sequence[str]) -> None:
    for name in names:
        checks.one_of(argument, name, known)


def has_id(item: Memory | Mapping[str, Any] | str) -> bool:
    """Return whether an item of a batch brought its own identifier."""
    # As above: for a dictionary, this is the shortest way to the answer.
    return isinstance(item, Memory) or ((type(item) is dict or isinstance(item, Mapping)) and "id" in item)


def built_source(values: Mapping[str, Any]) -> Source:
    """Return the source that a plain mapping, as JSON holds it, describes."""
    for key in values:
        checks.one_of("source", key, tuple(field.name for field in fields(Source)))
    return Source(**values)


def built_place(values: Mapping[str, Any]) -> Place:
    """Return the place that a plain mapping, as JSON holds it, describes."""
    for key in values:
        checks.one_of("place", key, tuple(field.name for field in fields(Place)))
    if not {"lat", "lon"} <= set(values):
        raise InvalidArgument("place", dict(values), "given with lat and lon")
    return Place(**values)


_TEXT_FIELDS: Final = ("content", "category", "tags", "entities", "metadata", "source", "place")


def without_secrets(memory: Memory) -> Memory:
    """Return a memory with a marker in the place of each secret; the same one if there is none."""
    texts = {name: getattr(memory, name) for name in _TEXT_FIELDS}
    clean = {name: cleaned(value) for name, value in texts.items()}
    return memory if clean == texts else replace(memory, **clean)


def cleaned(value: Any) -> Any:  # noqa: ANN401 - any value a memory may hold
    """Return a value without the secrets in its texts, however deep they are."""
    # Loaded on demand: the patterns of secrets take a while to make.
    from memorata.text.secrets import redacted

    if isinstance(value, str) and type(value) is str:
        return redacted(value)
    if isinstance(value, Mapping):
        return {name: cleaned(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(cleaned(item) for item in value)
    if isinstance(value, Source):
        return replace(
            value,
            speaker=redacted(value.speaker),
            session=redacted(value.session),
            link=redacted(value.link),
        )
    if isinstance(value, Place) and value.name is not None:
        return replace(value, name=redacted(value.name))
    return value
