"""What a memory is: a text, verbatim, and what is known about it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, fields, make_dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Final

from memorata._frozen import frozen
from memorata.model import checks
from memorata.model.checks import DEFAULT_NAMESPACE, memory_id, namespace
from memorata.model.entity import Place
from memorata.model.errors import InvalidArgument


class Tier(StrEnum):
    """How long a memory is meant to last, from the present task to a lasting skill."""

    WORKING = "working"
    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    PROCEDURAL = "procedural"


_TIERS = tuple(Tier)


PYTHON = "python"
IMPORT = "import"

# How large a memory may be: what is stored can be listed, exported, imported again and checked. These hold
# however a memory comes in; the interfaces have narrower ones of their own. What is in a store is read
# whatever its size. The table in docs/limits.md is compared with the code by a test.
MAX_CONTENT: Final = 10_000_000
"""Characters of a content."""
MAX_NAME: Final = 10_000
"""Characters of a category, a tag, a name, a speaker, a role, a session or a link."""
MAX_NAMES: Final = 10_000
"""Tags, and names that a memory mentions."""
MAX_METADATA: Final = 1_000_000
"""Characters of metadata, written as JSON."""
MAX_METADATA_DEPTH: Final = 64
"""How deep lists and objects in metadata may be nested."""


@frozen
class Source:
    """Who said it, in which session, at which turn of it, where to read it again, and how it came in.

    `role` is the speaker's in a chat: ``user``, ``assistant``, ``tool``, …; it goes before the name where
    trust is decided. `via` is the interface it was stored through: ``python``, ``cli``, ``http``, ``mcp``,
    ``web``, ``import``, ``hook`` (captured from a coding agent), ``proxy``; empty where not recorded.
    Interfaces fill it in.

    Examples
    --------
    >>> Source(speaker="Anna", session="2026-05-07", position=3).via
    'python'
    """

    speaker: str = ""
    session: str = ""
    position: int | None = None
    link: str = ""
    via: str = PYTHON
    role: str = ""

    def __post_init__(self) -> None:
        for argument in ("speaker", "session", "link", "via", "role"):
            checks.writable(argument, getattr(self, argument))
        if self.position is not None:
            # Not as it came: a database writes numpy's numbers as bytes, which cannot be read back.
            object.__setattr__(self, "position", checks.whole("position", self.position))

    @property
    def is_turn(self) -> bool:
        """Whether it is a turn of a transcript: it has a speaker, a session, and a position in it.

        A turn is an event, and never a duplicate: "yes", said twice, is not one thing said once. A passage
        of a text has a session and a position as well, but no speaker: a note that stands in two files is
        one note.
        """
        return self.position is not None and bool(self.speaker) and bool(self.session)

    @property
    def is_machine(self) -> bool:
        """Whether a program said it: an assistant or a tool, by its role, or else by its name."""
        return (self.role or self.speaker).casefold() in MACHINES

    @property
    def is_trusted(self) -> bool:
        """Whether it is the user or the assistant, as far as role and speaker tell; the role goes first.

        A text of no speaker is its writer's own, unless its link leads elsewhere than to a file.
        """
        voice = (self.role or self.speaker).casefold()
        return voice in TRUSTED_ROLES if voice else _ELSEWHERE.match(self.link) is None


MACHINES: Final = frozenset({"assistant", "ai", "bot", "chatbot", "model", "system", "tool"})
"""The speakers that are machines, as chat formats call them."""
TRUSTED_ROLES: Final = frozenset({"user", "human", "assistant", "ai", "model", "chatbot"})
"""The user and the assistant, as chat formats call them. Any other role is a tool's."""
_ELSEWHERE: Final = re.compile(r"[\W_]*(?!file:)(?:[a-z][a-z0-9+.-]+:|www\.)|\s*[/\\]{2}", re.IGNORECASE)
"""The beginning of an address of the web, of a message, or of another computer; a drive has one letter."""

_NO_SOURCE = Source()


@lru_cache(maxsize=64)
def unattributed(via: str) -> Source:
    """Return the source of a memory of which only the interface is known that it came through."""
    return _NO_SOURCE if via == _NO_SOURCE.via else Source(via=via)


PRIVATE = "private"
"""The tag of a memory that is not seen from namespaces that inherit from its own."""
STANDING_CATEGORIES: Final = frozenset({"instruction", "preference", "profile"})
"""What holds whatever is asked, and so never is the text of a tool or a page."""
CLAIMED_CATEGORY: Final = "claimed_category"
"""Under which metadata holds the category that an untrusted memory was given and may not have."""


@frozen(kw_only=True)
class Memory:
    """A memory. Everything is checked on construction; times become UTC, collections become immutable.

    Parameters
    ----------
    id, namespace
        Its identifier, of 1 to 128 characters, and the path of the namespace it lives in.
    content
        The text, verbatim.
    created_at, valid_from, valid_to, expires_at
        When it was stored, from when until when it is true of the world, and when it is to be forgotten.
    category, tier, tags, metadata
        What kind of memory it is; how long it is meant to last; labels; a mapping that JSON can hold.
    confidence, importance, pinned
        Two numbers from 0 to 1; a pinned memory does not fade, and no maintenance touches it.
    untrusted
        Whether its words come from a tool, a page or an unknown speaker. It follows from the source when the
        memory is written; afterwards only :meth:`Admin.set_trust` changes it.
    source, place, entities
        Who said it and where to read it again; where it happened; the names it mentions.
    supersedes, superseded_by
        The memories that it replaces, and the one that replaces it.
    mentions, supported_at, access_count, last_accessed_at, version
        How often it was stored, and when it was last stored again or confirmed; how often and when it was
        last returned; a number that grows with every change.
    fingerprint, embedder
        Filled in by the engine: the hash that equal texts share, and what its vector was made with.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> tea = Memory(id="m1", content="I prefer green tea.", created_at=datetime(2026, 5, 7, tzinfo=UTC),
    ...              category="preference", confidence=0.9)
    >>> tea.tier, tea.event_time == tea.created_at
    (<Tier.SEMANTIC: 'semantic'>, True)
    """

    id: str
    content: str
    created_at: datetime
    namespace: str = DEFAULT_NAMESPACE
    category: str = "fact"
    tier: Tier = Tier.SEMANTIC
    confidence: float = 1.0
    importance: float = 0.5
    pinned: bool = False
    untrusted: bool = False
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)
    source: Source = _NO_SOURCE
    entities: tuple[str, ...] = ()
    place: Place | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    expires_at: datetime | None = None
    supersedes: tuple[str, ...] = ()
    superseded_by: str | None = None
    mentions: int = 1
    supported_at: datetime | None = None
    access_count: int = 0
    last_accessed_at: datetime | None = None
    version: int = 1
    fingerprint: str = ""
    embedder: str = ""

    def __post_init__(self) -> None:
        self._check_common()
        self._check_rest()

    def _check_common(self) -> None:
        """Check the fields of `_COMMON_FIELDS`, which most imports set and nothing else."""
        # Written for speed, here and below: what already has the form it should have costs one comparison,
        # for a memory is made for every line of an import.
        assign = object.__setattr__
        memory_id("id", self.id)
        content, category = self.content, self.category
        if type(content) is not str or not content.isascii():
            checks.writable("content", content)
        if not content or content.isspace():
            raise InvalidArgument("content", content, "text that is not blank")
        if len(content) > MAX_CONTENT:
            check_length("content", content, MAX_CONTENT)
        namespace("namespace", self.namespace)
        if type(category) is not str or not category.isascii():
            checks.writable("category", category)
        if len(category) > MAX_NAME:
            check_length("category", category, MAX_NAME)
        source = self.source
        if type(source) is not Source and not isinstance(source, Source):
            raise InvalidArgument("source", source, "a Source")
        if source is not _NO_SOURCE:
            # Not in the class itself, which reads what is stored, whatever its size.
            for name in ("speaker", "session", "link", "via", "role"):
                check_length(f"source.{name}", getattr(source, name), MAX_NAME)
        assign(self, "metadata", json_object("metadata", self.metadata))
        if type(self.created_at) is not datetime or self.created_at.tzinfo is not UTC:
            assign(self, "created_at", checks.instant("created_at", self.created_at))
        if type(self.tags) is not tuple or self.tags:
            assign(self, "tags", _texts("tags", self.tags))

    def _check_rest(self) -> None:
        """Check the fields that are not of `_COMMON_FIELDS`, and what fields say about each other."""
        assign = object.__setattr__
        if type(self.fingerprint) is not str or self.fingerprint:
            checks.writable("fingerprint", self.fingerprint)
        if type(self.embedder) is not str or self.embedder:
            checks.writable("embedder", self.embedder)
        if type(self.tier) is not Tier:
            assign(self, "tier", Tier(checks.one_of("tier", self.tier, _TIERS)))
        if self.place is not None and not isinstance(self.place, Place):
            raise InvalidArgument("place", self.place, "a Place or None")
        if self.pinned is not False:
            assign(self, "pinned", checks.flag("pinned", self.pinned))
        if self.untrusted is not False:
            assign(self, "untrusted", checks.flag("untrusted", self.untrusted))
        if type(self.mentions) is not int or self.mentions != 1:
            assign(self, "mentions", checks.whole("mentions", self.mentions, 1))
        if type(self.access_count) is not int or self.access_count:
            assign(self, "access_count", checks.whole("access_count", self.access_count))
        if type(self.version) is not int or self.version != 1:
            assign(self, "version", checks.whole("version", self.version, 1))
        if type(self.confidence) is not float or not 0.0 < self.confidence <= 1.0:
            assign(self, "confidence", checks.probability("confidence", self.confidence))
        if type(self.importance) is not float or not 0.0 < self.importance <= 1.0:
            assign(self, "importance", checks.probability("importance", self.importance))
        if type(self.entities) is not tuple or self.entities:
            assign(self, "entities", _texts("entities", self.entities))
        if type(self.supersedes) is not tuple or self.supersedes:
            # As many as there are repeats of one memory: no limit.
            assign(self, "supersedes", checks.writable_texts("supersedes", self.supersedes))
        if self.expires_at is not None:
            assign(self, "expires_at", checks.instant("expires_at", self.expires_at))
        if self.supported_at is not None:
            assign(self, "supported_at", checks.instant("supported_at", self.supported_at))
        if self.last_accessed_at is not None:
            assign(self, "last_accessed_at", checks.instant("last_accessed_at", self.last_accessed_at))
        if self.valid_from is not None or self.valid_to is not None:
            checks.validity(self)
        if self.superseded_by is not None:
            memory_id("superseded_by", self.superseded_by)
        if self.id in self.supersedes:
            raise InvalidArgument("supersedes", self.id, "other memories than this one")
        if len(self.supersedes) > len(set(self.supersedes)):
            raise InvalidArgument("supersedes", self.supersedes, "ids that each stand there once")
        if self.id == self.superseded_by:
            raise InvalidArgument("superseded_by", self.id, "another memory than this one")

    def __reduce__(self) -> tuple[Callable[..., Memory], tuple[dict[str, Any]]]:
        """Pickle and copy by the constructor's arguments; a read-only view cannot be pickled itself."""
        values = {member.name: getattr(self, member.name) for member in fields(self)}
        return _rebuilt, ({**values, "metadata": dict(self.metadata)},)

    def stamped(self, *, fingerprint: str, embedder: str) -> Memory:
        """Return this memory with what the engine derives from it; nothing else is checked again."""
        stamped = _Open(*_ALL(self))
        stamped.fingerprint = checks.text("fingerprint", fingerprint)
        stamped.embedder = checks.text("embedder", embedder)
        return _closed(stamped)

    def distrusted(self) -> Memory:
        """Return this memory as an untrusted one; metadata notes a category that it may not have."""
        if self.category not in STANDING_CATEGORIES:
            return self if self.untrusted else replace(self, untrusted=True)
        noted = {**self.metadata, CLAIMED_CATEGORY: self.category}
        return replace(self, untrusted=True, category="fact", metadata=noted)

    def mentioning(self, entities: tuple[str, ...]) -> Memory:
        """Return this memory with the names that were read in it; nothing else is checked again."""
        read = _Open(*_ALL(self))
        read.entities = _texts("entities", entities[:MAX_NAMES])
        return _closed(read)

    @property
    def event_time(self) -> datetime:
        """When it happened, if that is known; otherwise when it was learnt."""
        return self.valid_from or self.created_at


_NOTHING: Mapping[str, Any] = MappingProxyType({})


def json_object(argument: str, value: object) -> Mapping[str, Any]:
    """Return a read-only copy of a mapping that JSON can hold exactly."""
    # Asking whether something is a Mapping takes as long as the rest.
    if type(value) is not dict and not isinstance(value, Mapping):
        raise InvalidArgument(argument, value, "a mapping that JSON can hold")
    plain = dict(value)
    if not plain:
        return _NOTHING
    if len(plain) <= _MAX_SIMPLE and all(map(_is_simple, plain, plain.values())):
        return MappingProxyType(plain)
    try:
        encoded = json.dumps(plain, allow_nan=False, ensure_ascii=False)
        copy = json.loads(encoded)
        encoded.encode()  # half a surrogate pair is a ValueError here
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidArgument(argument, value, "a mapping that JSON can hold") from error
    if len(encoded) > MAX_METADATA:
        raise InvalidArgument(argument, value, f"at most {MAX_METADATA:,} characters of JSON")
    if depth(plain) > MAX_METADATA_DEPTH:
        raise InvalidArgument(argument, value, f"nested at most {MAX_METADATA_DEPTH} deep")
    # JSON turns the key 1 into "1" and a tuple into a list; what comes back must be what went in.
    if copy != plain:
        raise InvalidArgument(argument, value, "a mapping with text keys whose values JSON keeps as they are")
    return MappingProxyType(copy)


def _texts(argument: str, value: object) -> tuple[str, ...]:
    """Return texts that can be written down, each of them checked under its own name."""
    texts = checks.writable_texts(argument, value)
    check_names(argument, texts)
    return texts


def _is_simple(key: object, value: object) -> bool:
    """Return whether JSON surely keeps a key and a value as they are; the usual case, checked cheaply."""
    if type(key) is not str or not key.isascii():
        return False
    if type(value) is int:
        return -_MAX_EXACT < value < _MAX_EXACT
    if type(value) is str:
        return len(value) <= MAX_NAME and value.isascii()
    return value is None or type(value) is bool


_MAX_EXACT = 2**63
_MAX_SIMPLE = 50
"""So many simple values are within the limits whatever they are."""
_COMMON_FIELDS = frozenset(
    {"id", "content", "created_at", "namespace", "category", "source", "metadata", "tags"}
)
_NAMES = tuple(member.name for member in fields(Memory))
_ALL = attrgetter(*_NAMES)
_Open: Any = make_dataclass(
    "_Open",
    [
        (
            member.name,
            Any,
            field(default=member.default, default_factory=member.default_factory, kw_only=False),
        )
        for member in fields(Memory)
    ],
    slots=True,
    eq=False,
    repr=False,
)
"""A memory under construction: the same slots, not frozen. Setting a field of a frozen object takes ten times
as long, and a memory has many fields."""


def build_memory(values: Mapping[str, Any]) -> Memory:
    """Return ``Memory(**values)``, with everything checked, in less time."""
    memory = _closed(_Open(**values))
    if _COMMON_FIELDS.issuperset(values):
        # All others are as the class has them, and nothing is wrong with those.
        memory._check_common()
    else:
        memory.__post_init__()
    return memory


def trusted_memory(values: Sequence[Any]) -> Memory:
    """Return a memory of the values of all its fields, in their order, which were checked on their way in."""
    if len(values) != len(_NAMES):
        raise InvalidArgument("values", values, f"the values of all {len(_NAMES)} fields")
    return _closed(_Open(*values))


def _closed(open_: Any) -> Memory:  # noqa: ANN401 - a class made at run time
    """Freeze an open memory: the object stays, and has the same slots."""
    open_.__class__ = Memory
    memory: Memory = open_
    return memory


def _rebuilt(values: dict[str, Any]) -> Memory:
    return Memory(**values)


def check_length(argument: str, value: str, most: int) -> None:
    """Raise if a text is too long."""
    if len(value) > most:
        raise InvalidArgument(argument, value, f"at most {most:,} characters, not {len(value):,}")


def check_names(argument: str, values: tuple[str, ...]) -> None:
    """Raise if there are too many names, or one of them is too long."""
    if len(values) > MAX_NAMES:
        raise InvalidArgument(argument, values, f"at most {MAX_NAMES:,} of them, not {len(values):,}")
    for index, value in enumerate(values):
        if len(value) > MAX_NAME:
            check_length(f"{argument}[{index}]", value, MAX_NAME)


def depth(value: object, most: int = MAX_METADATA_DEPTH) -> int:
    """Return how deep lists and mappings are nested, without recursion; at most one more than `most`."""
    level = 0
    current: list[Any] = [value]
    while level <= most:
        current = [value for value in current if isinstance(value, Mapping | list | tuple)]
        if not current:
            break
        level += 1
        current = [
            inner for value in current for inner in (value.values() if isinstance(value, Mapping) else value)
        ]
    return level
