"""Recipes of one's own: saved in the database with their evidence, used, and rolled back.

A saved recipe belongs to a namespace. Each time it is saved it gets a new version; rolling back withdraws the
last one, and the one before holds again. A namespace may have a saved or shipped recipe in use: it is what a
recall there does unless the call says otherwise.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from copy import copy
from dataclasses import fields, replace
from datetime import datetime
from typing import Any, Final, TypeAlias

from memorata._frozen import frozen
from memorata.engine.recipes import RECIPES, Recipe
from memorata.engine.runtime import Runtime
from memorata.model import checks
from memorata.model.errors import InvalidArgument, NotGiven
from memorata.store.saved_settings import SavedSetting

RECIPE: Final = "recipe"
IN_USE: Final = "recipe in use"
"""Kinds of saved settings: a recipe, and which one is in use."""
RESERVED: Final = ("rollback", "use", "engine")
"""Words that mean something else where the name of a recipe may stand."""
_Versions: TypeAlias = list[SavedSetting]
_MAX_NAMESPACES: Final = 10_000
"""Of how many namespaces it is kept which recipe they use."""
_NAME: Final = re.compile(r"[\w.+-]{1,64}")


@frozen
class SavedRecipe:
    """A recipe of one's own: its latest version, why it was saved, and when; `versions` counts them all."""

    recipe: Recipe
    evidence: Mapping[str, Any]
    saved_at: datetime
    versions: int
    in_use: bool


class Recipes:
    """The facet `recipes`: shipped and saved recipes, and which one a namespace uses."""

    def __init__(self, runtime: Runtime, recipe: Recipe | str) -> None:
        self._runtime = runtime
        self._store = runtime.store
        self._recipes: dict[tuple[str, str], Recipe] = {}
        self._used: dict[str, Recipe | None] = {}
        self._marks: dict[str, tuple[tuple[int, int], int]] = {}
        self.default = self._named(runtime.namespace, recipe) if isinstance(recipe, str) else recipe

    def scope(self, runtime: Runtime) -> Recipes:
        """Return these recipes for the namespace of another runtime; both share what is kept."""
        other = copy(self)
        other._runtime = runtime
        return other

    def forget(self) -> None:
        """Look everything up again when it is next asked for: this process has written."""
        self._recipes.clear()
        self._used.clear()
        self._marks.clear()

    def get(
        self, name: Recipe | str | Mapping[str, Any] | None = None, *, namespace: str | None = None
    ) -> Recipe:
        """Return a recipe by name, shipped or saved; without a name the one that a recall would use.

        A recipe instead of a name stands for itself; a mapping changes parameters of the recipe that its
        `base` names, or of the one in use.
        """
        if isinstance(name, Recipe):
            return name
        if isinstance(name, Mapping):
            changes = dict(name)
            base = self.get(changes.pop("base", None), namespace=namespace)
            return base.changed(changes) if changes else base
        path = self._runtime.path(namespace)
        if name is not None:
            return self._named(path, checks.writable("recipe", name))
        return self._in_use(path) or self.default

    def save(
        self,
        name: str,
        recipe: Recipe,
        *,
        evidence: Mapping[str, Any] | None = None,
        namespace: str | None = None,
    ) -> SavedRecipe:
        """Save a recipe under a name, as the latest version of it.

        Parameters
        ----------
        name
            Letters, digits and ``_.+-``, up to 64; not that of a shipped recipe.
        recipe
            Its parameters.
        evidence
            What speaks for it, as plain data.
        namespace
            Whose; None for the engine's.
        """
        path = self._runtime.path(namespace)
        own_name("name", name)
        if not isinstance(recipe, Recipe):
            raise InvalidArgument("recipe", recipe, "a Recipe")
        data = replace(recipe, name=name).as_dict()
        self._store.saved_settings.save(path, RECIPE, name, data, _plain(evidence), self._runtime.clock())
        self.forget()
        return next(saved for saved in self.list(namespace=path) if saved.recipe.name == name)

    def list(self, *, namespace: str | None = None) -> tuple[SavedRecipe, ...]:
        """Return the saved recipes by name, each in its latest version."""
        path = self._runtime.path(namespace)
        used = self._in_use(path)
        versions: dict[str, _Versions] = {}
        for setting in self._store.saved_settings.list(path, RECIPE):
            versions.setdefault(setting.name, []).append(setting)
        return tuple(
            SavedRecipe(
                recipe_from(rows[0].data),
                rows[0].evidence,
                rows[0].at,
                len(rows),
                used is not None and used.name == name,
            )
            for name, rows in sorted(versions.items())
        )

    def use(self, name: str | None, *, namespace: str | None = None) -> Recipe:
        """Let a namespace use a recipe, shipped or saved, unless a call says otherwise; return what it uses.

        None goes back to the recipe that the engine was opened with.
        """
        path = self._runtime.path(namespace)
        if name is not None:
            self._named(path, checks.writable("name", name))
        self._store.saved_settings.save(path, IN_USE, "", {"recipe": name}, {}, self._runtime.clock())
        self.forget()
        return self.get(namespace=path)

    def rollback(self, name: str | None = None, *, namespace: str | None = None) -> Recipe:
        """Take the last version of a saved recipe back; without a name, the last change of what is in use.

        Returns
        -------
        Recipe
            What a recall would use now: under that name, or, where no version is left, at all.
        """
        path = self._runtime.path(namespace)
        kind = (IN_USE,) if name is None else (RECIPE, checks.writable("name", name))
        versions = self._store.saved_settings.list(path, *kind)
        if not versions:
            if name is None:
                raise NotGiven(
                    "name", "where no recipe was ever put in use: there is nothing to go back from"
                )
            names = ", ".join(self._saved_names(path))
            none = "a saved recipe, and there is none: recipes.save makes one"
            expected = f"one of the saved recipes: {names}" if names else none
            raise InvalidArgument("name", name, expected)
        self._store.saved_settings.withdraw(path, versions[0].number, self._runtime.clock())
        self.forget()
        return self.get(name if name is not None and len(versions) > 1 else None, namespace=path)

    def _named(self, namespace: str, name: str) -> Recipe:
        """Return a shipped or saved recipe; an unknown name is an error that lists what there is."""
        if name in RECIPES:
            return RECIPES[name]
        self._refresh(namespace)
        key = namespace, name
        if key not in self._recipes:
            versions = self._store.saved_settings.list(namespace, RECIPE, name)
            if not versions:
                # Not cached: the number of unknown names has no bound.
                return RECIPES[checks.one_of("recipe", name, (*RECIPES, *self._saved_names(namespace)))]
            self._recipes[key] = recipe_from(versions[0].data)
        return self._recipes[key]

    def _in_use(self, namespace: str) -> Recipe | None:
        """Return the recipe that a namespace uses; None for the engine's."""
        self._refresh(namespace)
        if namespace not in self._used:
            versions = self._store.saved_settings.list(namespace, IN_USE)
            name = versions[0].data["recipe"] if versions else None
            found = name is not None and (
                name in RECIPES or self._store.saved_settings.list(namespace, RECIPE, name)
            )
            self._used[namespace] = self._named(namespace, name) if name is not None and found else None
        return self._used[namespace]

    def _refresh(self, namespace: str) -> None:
        if self._store.is_remote:
            # What a recall asks last comes with what it asks first.
            self._store.contradictions.expect(namespace, *(() if namespace in self._marks else (IN_USE,)))
        # What was saved in a block that was undone never was.
        mark = self._store.settings_change(namespace), self._store.rollbacks
        if self._marks.get(namespace) != mark:
            if len(self._marks) >= _MAX_NAMESPACES:
                self.forget()
            self._marks[namespace] = mark
            self._used.pop(namespace, None)
            for key in [key for key in self._recipes if key[0] == namespace]:
                del self._recipes[key]

    def _saved_names(self, namespace: str) -> dict[str, None]:
        return dict.fromkeys(row.name for row in self._store.saved_settings.list(namespace, RECIPE))


def recipe_from(data: Mapping[str, Any]) -> Recipe:
    """Return a recipe from its plain data.

    A parameter that is not in it, for it came later, has its default; an unknown one is an error.
    """
    names = [field.name for field in fields(Recipe)]
    for name in data:
        checks.one_of("parameter", name, names)
    return Recipe(**data)


def own_name(argument: str, name: str) -> str:
    """Return a name that a saved recipe may have, or raise; called before long work whose result is saved."""
    if _NAME.fullmatch(checks.text(argument, name)) is None or name in RESERVED:
        words = ", ".join(RESERVED)
        raise InvalidArgument(argument, name, f"1 to 64 letters, digits and _.+-, and none of {words}")
    if name in RECIPES:
        raise InvalidArgument(argument, name, "another name than that of a shipped recipe")
    return name


def _plain(evidence: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return evidence that JSON can hold, or raise."""
    expected = "a mapping that JSON can hold"
    if evidence is None:
        return {}
    if not isinstance(evidence, Mapping):
        raise InvalidArgument("evidence", evidence, expected)
    try:
        # Half a surrogate pair is a ValueError here.
        json.dumps(dict(evidence), ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidArgument("evidence", evidence, expected) from error
    return evidence
