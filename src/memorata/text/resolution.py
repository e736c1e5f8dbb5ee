"""Which entity a name means: the same name is the same entity, and a merge can be undone.

Within a namespace two names are one if they fold to the same form (:mod:`memorata.text.folding`) or one is
an alias of the other's entity. What folding cannot know, a person can say: a merge keeps a redirect from the
old name to the new one, as encyclopaedias do, so nothing that points to the old name is rewritten, and taking
the redirect away undoes the merge.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from types import MappingProxyType

from memorata._frozen import frozen
from memorata.model import checks
from memorata.model.entity import Entity
from memorata.model.errors import InvalidArgument
from memorata.text.folding import folded
from memorata.text.known_names import KnownNames
from memorata.text.mentions import Mention

_UNTYPED = "thing"


def resolve(mention: Mention | str, known: KnownNames) -> Entity | None:
    """Return the known entity that a mention means, or None for one nobody has met.

    Examples
    --------
    >>> known = KnownNames([Entity("José Álvarez", aliases=("Pepe",))])
    >>> resolve("JOSE ALVAREZ", known).name, resolve("pepe", known).name, resolve("Ana", known)
    ('José Álvarez', 'José Álvarez', None)
    """
    name = mention.text if isinstance(mention, Mention) else checks.text("mention", mention)
    if not isinstance(known, KnownNames):
        raise InvalidArgument("known", known, "KnownNames")
    return known.owner(name)


def united(entities: Iterable[Entity]) -> tuple[Entity, ...]:
    """Return the entities with those of one name made one, in the order of their first appearance.

    The first spelling stays the name; other spellings and all aliases become aliases. A type that says
    something wins over ``thing``, and the first description that is not empty is kept.

    Examples
    --------
    >>> united([Entity("Anna", aliases=("Annie",)), Entity("ANNA", type="person")])
    (Entity(name='Anna', type='person', aliases=('Annie', 'ANNA'), description=''),)
    """
    if isinstance(entities, str | bytes) or not isinstance(entities, Iterable):
        raise InvalidArgument("entities", entities, "a list of entities")
    found: dict[str, Entity] = {}
    for position, entity in enumerate(entities):
        if not isinstance(entity, Entity):
            raise InvalidArgument(f"entities[{position}]", entity, "an Entity")
        key = folded(entity.name)
        found[key] = _one(found[key], entity) if key in found else entity
    return tuple(found.values())


@frozen
class Redirects:
    """Which names were merged into which; every change gives a new table.

    Parameters
    ----------
    entries
        The name that was given up, and the name to read instead.

    Examples
    --------
    >>> table = Redirects().merge("Bob", "Robert").merge("Robert", "Robert Miles")
    >>> table.follow("BOB")
    'Robert Miles'
    >>> table.undo("Robert").follow("Bob")
    'Robert'
    >>> table.merge("Robert Miles", "Bob")
    Traceback (most recent call last):
    ...
    memorata.model.errors.InvalidArgument: into must be a name that does not lead back to 'Robert Miles',
    got 'Bob'
    """

    entries: Mapping[str, str] = field(default_factory=dict)
    _next: Mapping[str, str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.entries, Mapping):
            raise InvalidArgument("entries", self.entries, "a mapping from names to names")
        following: dict[str, str] = {}
        for source, target in self.entries.items():
            key = _key("entries", source)
            if key in following:
                raise InvalidArgument("entries", source, "names that are each given up once")
            following[key] = checks.text(f"entries[{source!r}]", target)
        object.__setattr__(self, "entries", MappingProxyType(dict(self.entries)))
        object.__setattr__(self, "_next", MappingProxyType(following))
        for source, target in self.entries.items():
            if self._leads(_key("entries", target), _key("entries", source)):
                raise InvalidArgument("entries", source, "names that do not lead back to themselves")

    def merge(self, name: str, into: str) -> Redirects:
        """Return a table in which `name` is read as `into`."""
        source, target = _key("name", name), _key("into", into)
        if source in self._next:
            raise InvalidArgument(
                "name", name, f"a name not merged yet (it is part of {self.follow(name)!r})"
            )
        if self._leads(target, source):
            raise InvalidArgument("into", into, f"a name that does not lead back to {name!r}")
        return Redirects({**self.entries, name: into})

    def undo(self, name: str) -> Redirects:
        """Return a table in which `name` stands for itself again; what was merged into it stays with it."""
        source = _key("name", name)
        if source not in self._next:
            raise InvalidArgument("name", name, "a name that was merged")
        return Redirects({given: into for given, into in self.entries.items() if folded(given) != source})

    def follow(self, name: str) -> str:
        """Return the name to read instead of `name`: itself, unless it was merged."""
        key = _key("name", name)
        while key in self._next:
            name = self._next[key]
            key = folded(name)
        return name

    def merged_into(self, name: str) -> tuple[str, ...]:
        """Return every name that leads to `name`, directly or not, in the order they were merged.

        Examples
        --------
        >>> Redirects({"Bob": "Robert", "Robert": "Robert Miles"}).merged_into("Robert Miles")
        ('Bob', 'Robert')
        """
        target = _key("name", name)
        return tuple(source for source in self.entries if self._leads(folded(self.entries[source]), target))

    def _leads(self, key: str, target: str) -> bool:
        """Return whether following `key` comes past `target`; a table under test may still hold a cycle."""
        seen: set[str] = set()
        while key != target:
            if key in seen or key not in self._next:
                return False
            seen.add(key)
            key = folded(self._next[key])
        return True


def _one(first: Entity, second: Entity) -> Entity:
    spellings = (second.name, *second.aliases)
    aliases = dict.fromkeys((*first.aliases, *(name for name in spellings if name != first.name)))
    kind = second.type if first.type == _UNTYPED else first.type
    return replace(
        first, type=kind, aliases=tuple(aliases), description=first.description or second.description
    )


def _key(argument: str, name: object) -> str:
    key = folded(checks.text(argument, name))
    if not key:
        raise InvalidArgument(argument, name, "a name that is not blank")
    return key
