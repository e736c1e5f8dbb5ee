"""Where everything is and how it is done: one set of settings for the library's front doors.

A value is taken from the first place that has it: the constructor, an environment variable ``MEMORATA_…``,
the file ``memorata.toml`` (in the current folder, or the one that ``MEMORATA_CONFIG`` names), the default.
Of an untrusted file in the current folder few settings count: see :mod:`memorata.engine.config_file`.
A value that cannot be used is refused with the name of the setting and of the place it came from.
"""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, Self

from memorata._environment import data_folder, models_folder
from memorata.embed.circuit_breaker import MAX_QUERY_SECONDS, QUERY_SECONDS
from memorata.embed.port import checked_prompts
from memorata.embed.trust import origin_of, user_trust
from memorata.engine.config import Config
from memorata.engine.config_file import (
    ConfigFile,
    at_home,
    effective_config,
    environment_variables,
    untrusted,
)
from memorata.engine.engine import Engine
from memorata.engine.factory import open as open_engine
from memorata.engine.recall.log import Logging
from memorata.engine.recipes import PARAMETERS, RECIPES, Recipe
from memorata.engine.roles import open_anchors, open_classifier, open_extractor, open_summaries
from memorata.engine.rules import DEDUPE_RULES, RULES, DedupeMode, DedupeRules, LifecycleRules
from memorata.engine.runtime import LEASE_SECONDS
from memorata.model import checks
from memorata.model.checks import DEFAULT_NAMESPACE
from memorata.model.checks import namespace as checked_namespace
from memorata.model.errors import InvalidArgument
from memorata.model.parameter import Parameter
from memorata.store.address import ServerAddress, is_address
from memorata.store.logged_recall import MAX_MEGABYTES, MAX_RECALLS, LogBounds

if TYPE_CHECKING:
    from memorata.embed.selection import Resources


def default_db(environment: Mapping[str, str], platform: str, home: Path) -> Path:
    """Return the default path of the database: beside the models."""
    return data_folder(environment, platform, home) / "memories.db"


class _Setting(NamedTuple):
    """How a setting is read from an argument, a variable or a file, its default, and the words of its error.

    `read` raises `InvalidArgument` with words of its own, or ValueError.
    """

    read: Callable[[Any], object]
    default: Callable[[], object] | object
    expected: str = "text"


def _text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError
    return value


def _service(open_role: Callable[[str], object], value: object) -> str:
    open_role(_text(value))
    return _text(value)


_FLAGS: Final = {
    **dict.fromkeys(("true", "1", "yes", "on", "t", "y"), True),
    **dict.fromkeys(("false", "0", "no", "off", "f", "n"), False),
}


def _flag(value: object) -> bool:
    if isinstance(value, bool):
        return value
    if not isinstance(value, str) or value.strip().lower() not in _FLAGS:
        raise ValueError
    return _FLAGS[value.strip().lower()]


def _count(value: object, high: float = math.inf) -> int:
    if isinstance(value, bool) or not isinstance(value, int | str) or not 1 <= int(value) <= high:
        raise ValueError
    return int(value)


def _seconds(value: object, high: float = math.inf) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError
    if not (math.isfinite(float(value)) and 0 < float(value) <= high):
        raise ValueError
    return float(value)


def _path(value: object) -> Path:
    # An empty text would become the current folder.
    if not isinstance(value, str | Path) or value == "" or is_address(value):
        raise ValueError
    return at_home(value) if isinstance(value, str) else value


def _address(value: object) -> ServerAddress:
    if isinstance(value, ServerAddress):
        return value
    if not is_address(value):
        raise ValueError
    return ServerAddress(str(value))


def _location(value: object) -> Path | ServerAddress:
    return _address(value) if isinstance(value, ServerAddress) or is_address(value) else _path(value)


def _rules(
    rules: tuple[Parameter, ...], check: Callable[[dict[str, Any]], object], value: object
) -> dict[str, Any]:
    counts = {rule.name for rule in rules if rule.type is int}
    # In a file, or in JSON, a count may be written 2 or 2.0.
    typed = {name: _whole(number) if name in counts else number for name, number in _table(value).items()}
    check(typed)
    return typed


def _parameters(value: object) -> dict[str, Any]:
    by_name = {parameter.name: parameter for parameter in PARAMETERS}
    for name in _table(value):
        checks.one_of("parameters", name, tuple(by_name))
    return {name: by_name[name].checked(setting) for name, setting in _table(value).items()}


def _table(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError
    return value


def _whole(number: object) -> object:
    return int(number) if isinstance(number, float) and number.is_integer() else number


_LIFE: Final = partial(_rules, RULES, LifecycleRules.of)
_DEDUPE: Final = partial(_rules, DEDUPE_RULES, DedupeRules.of)
_COUNT: Final = "a whole number of at least 1"
_FOLDER: Final = "the path of a folder"
_FLAG: Final = "true or false"
_SETTINGS: Final[Mapping[str, _Setting]] = {
    "db": _Setting(
        _location,
        lambda: default_db(os.environ, sys.platform, Path.home()),
        "the path of a file, or the address of a PostgreSQL server",
    ),
    "replica": _Setting(_address, None, "the address of a PostgreSQL server"),
    "namespace": _Setting(partial(checked_namespace, "namespace"), DEFAULT_NAMESPACE),
    "embedder": _Setting(_text, "auto", "the name of an embedder, such as 'auto' or 'lexical'"),
    "analyser": _Setting(_text, None, "the name of an analyser, 'snowball' or 'plain'"),
    "language": _Setting(_text, None, "'detect', 'none', or the name of a language"),
    "min_length": _Setting(partial(_count, high=6), None, "a whole number from 1 to 6"),
    "prompts": _Setting(checked_prompts, None, "the name of prompts, such as similarity"),
    "reranker": _Setting(_text, "none", "the name of a re-ranker, or 'none'"),
    "reranker_key": _Setting(_text, None),
    "recipe": _Setting(_text, "balanced", "the name of a recipe"),
    "parameters": _Setting(
        _parameters, dict, "a table of parameters of a recipe, such as vector_weight, and their values"
    ),
    "extractor": _Setting(_text, "rules"),
    "extractor_key": _Setting(_text, None),
    "read_dates": _Setting(_flag, True, _FLAG),
    "anchors": _Setting(partial(_service, open_anchors), "rules"),
    "anchors_key": _Setting(_text, None),
    "classifier": _Setting(partial(_service, open_classifier), "rules"),
    "classifier_key": _Setting(_text, None),
    "summaries": _Setting(partial(_service, open_summaries), "none"),
    "summaries_key": _Setting(_text, None),
    "redact": _Setting(_flag, False, _FLAG),
    "life": _Setting(_LIFE, dict, "a table of rules, such as working_days, and their numbers"),
    "duplicates": _Setting(lambda value: DedupeMode.of(value).value, "near"),
    "dedupe": _Setting(_DEDUPE, dict, "a table of rules, such as threshold, and their values"),
    "durable": _Setting(_flag, True, _FLAG),
    "read_only": _Setting(_flag, False, _FLAG),
    "encryption_key": _Setting(_text, None),
    "models": _Setting(_path, lambda: models_folder(os.environ, sys.platform, Path.home()), _FOLDER),
    "hub_cache": _Setting(_path, None, _FOLDER),
    "threads": _Setting(_count, None, _COUNT),
    "api_key": _Setting(_text, None),
    "api_key_address": _Setting(origin_of, None, "the address of a service, such as https://example.org"),
    "dimension": _Setting(_count, None, _COUNT),
    "query_seconds": _Setting(
        partial(_seconds, high=MAX_QUERY_SECONDS),
        QUERY_SECONDS,
        f"a number above 0, and at most {MAX_QUERY_SECONDS:g}",
    ),
    "log_recalls": _Setting(_flag, True, _FLAG),
    "log_queries": _Setting(_flag, True, _FLAG),
    "log_limit": _Setting(_count, MAX_RECALLS, _COUNT),
    "log_megabytes": _Setting(_count, MAX_MEGABYTES, _COUNT),
    "lease_seconds": _Setting(_seconds, LEASE_SECONDS, "a number above 0"),
}
_TABLES: Final = {
    "life": tuple(rule.name for rule in RULES),
    "dedupe": tuple(rule.name for rule in DEDUPE_RULES),
    "parameters": tuple(parameter.name for parameter in PARAMETERS),
}
"""The settings that are tables, and the names of the rules in them."""
SECRETS: Final = frozenset(name for name in _SETTINGS if name.endswith("_key"))
"""The settings that are never shown."""
_PASSED_ON: Final = (
    "analyser", "language", "min_length", "read_dates", "redact", "duplicates", "dedupe", "life", "durable",
    "replica", "lease_seconds",
)  # fmt: skip
"""The settings that are fields of :class:`~memorata.Config` as they are."""


class Settings:
    """Everything that can be set; docs/cli.md describes each setting.

    >>> Settings(namespace="acme/alice", embedder="lexical").namespace
    'acme/alice'
    >>> Settings(namespace="a//b")
    Traceback (most recent call last):
    ...
    memorata.model.errors.InvalidArgument: namespace must be a path such as 'acme/alice' (letters, digits and
    _-.@+~ between slashes, no segment starting with a dot), got 'a//b'
    """

    names: ClassVar = tuple(_SETTINGS)
    """The names of all settings."""

    db: Path | ServerAddress
    replica: ServerAddress | None
    namespace: str
    embedder: str
    analyser: str | None
    language: str | None
    min_length: int | None
    prompts: str | None
    reranker: str
    reranker_key: str | None
    recipe: str
    parameters: dict[str, Any]
    extractor: str
    extractor_key: str | None
    read_dates: bool
    anchors: str
    anchors_key: str | None
    classifier: str
    classifier_key: str | None
    summaries: str
    summaries_key: str | None
    redact: bool
    life: dict[str, float]
    duplicates: str
    dedupe: dict[str, float | str]
    durable: bool
    read_only: bool
    encryption_key: str | None
    models: Path
    hub_cache: Path | None
    threads: int | None
    api_key: str | None
    api_key_address: str | None
    dimension: int | None
    query_seconds: float
    log_recalls: bool
    log_queries: bool
    log_limit: int
    log_megabytes: int
    lease_seconds: float

    def __init__(self, *, config: str | None = None, **arguments: Any) -> None:  # noqa: ANN401 - read by their names
        for name in arguments:
            if name not in _SETTINGS:
                raise InvalidArgument("a setting", name, "one of " + ", ".join(_SETTINGS))
        file = effective_config(config, self.names)
        ignored = () if file is None else file.ignored(user_trust())
        from_file = {} if file is None else {k: v for k, v in file.values.items() if k not in ignored}
        variables = environment_variables(self.names)
        self._origins = {
            **({} if file is None else dict.fromkeys(from_file, str(file.path))),
            **{name: f"the environment variable {variable}" for name, variable in variables.items()},
            **dict.fromkeys(arguments, ""),
        }
        self._config = file
        self._ignored = tuple(name for name in ignored if name not in self._origins)
        from_variables = {name: os.environ[variable] for name, variable in variables.items()}
        values = from_file | from_variables | arguments
        for table in _TABLES:
            if table in variables and table not in arguments:
                values[table] = _decoded(table, values[table], self._origins[table])
        for name, setting in _SETTINGS.items():
            if name in values:
                vars(self)[name] = _read(name, values[name], self._origins[name])
            else:
                vars(self)[name] = setting.default() if callable(setting.default) else setting.default

    def __setattr__(self, name: str, value: object) -> None:
        if name in _SETTINGS:
            raise AttributeError(f"{name} of settings is not changed; changed() makes other settings")
        super().__setattr__(name, value)

    def __repr__(self) -> str:
        shown = {name: "***" if name in SECRETS else vars(self)[name] for name in self._origins}
        return f"Settings({', '.join(f'{name}={value!r}' for name, value in shown.items())})"

    def changed(self, **changes: Any) -> Self:  # noqa: ANN401 - read by their names
        """Return the same settings but for some."""
        other = object.__new__(type(self))
        vars(other).update(vars(self))
        vars(other).update({name: _read(name, value, "") for name, value in changes.items()})
        return other

    def origin(self, name: str) -> str:
        """Return where a setting came from: "" for the constructor, "default", or the place in words."""
        return self._origins.get(name, "default")

    @property
    def config(self) -> ConfigFile | None:
        """The settings file that was read, if there was one."""
        return self._config

    @property
    def ignored(self) -> tuple[str, ...]:
        """The settings in that file that do not count, because it is neither named nor trusted."""
        return self._ignored

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for the user about where these settings came from."""
        if self._config is None:
            return ()
        ignored = [untrusted(self._config.path, self._ignored)] if self._ignored else []
        return (*ignored, *self._config.notes)

    @property
    def resources(self) -> Resources:
        """What embedders may draw on."""
        from memorata.embed.selection import Resources

        return Resources(
            models=self.models,
            hub_cache=self.hub_cache,
            threads=self.threads,
            api_key=self.api_key,
            api_key_address=self.api_key_address,
            dimension=self.dimension,
            query_seconds=self.query_seconds,
            reranker_key=self.reranker_key,
        )

    def open(self, *, must_exist: bool = False, embed: bool = True) -> Engine:
        """Open the memory these settings describe.

        - `must_exist`: whether a missing file is an error.
        - `embed`: whether meaning is needed; without it the embedder and the re-ranker are left alone.
        """
        try:
            engine = self._open(must_exist=must_exist, embed=embed)
        except InvalidArgument as error:
            if (place := self._origins.get(error.argument)) and error.argument not in {*SECRETS, "replica"}:
                name = f"{error.argument} (from {place})"
                raise InvalidArgument(name, error.value, error.expected) from error
            raise
        engine.notes = (*self.notes, *engine.notes)
        return engine

    def _open(self, *, must_exist: bool, embed: bool) -> Engine:
        return open_engine(
            self.db,
            embedder=self.embedder if embed else None,
            namespace=self.namespace,
            recipe=self._recipe(),
            read_only=self.read_only,
            config=Config(
                **{name: getattr(self, name) for name in _PASSED_ON},
                prompts=self.prompts if embed else None,
                reranker=self.reranker if embed else None,
                extractor=open_extractor(self.extractor, self.extractor_key),
                anchors=open_anchors(self.anchors, self.anchors_key),
                classifier=open_classifier(self.classifier, self.classifier_key),
                summaries=open_summaries(self.summaries, self.summaries_key) or "none",
                must_exist=must_exist,
                resources=self.resources if embed else None,
                logging=Logging(
                    self.log_recalls, self.log_queries, LogBounds(self.log_limit, self.log_megabytes)
                ),
                encryption_key=self.encryption_key,
            ),
        )

    def _recipe(self) -> Recipe | str:
        """Return the recipe, with its parameters changed if some are."""
        if not self.parameters:
            return self.recipe
        if self.recipe not in RECIPES:
            names = ", ".join(RECIPES)
            raise InvalidArgument("recipe", self.recipe, f"a shipped one where parameters are set: {names}")
        return RECIPES[self.recipe].changed(self.parameters)


def _read(name: str, value: object, place: str) -> object:
    """Return the value of a setting; the error names the setting, the value and its place."""
    setting = _SETTINGS[name]
    if value is None and setting.default is None:
        return None
    shown_name = f"{name} (from {place})" if place else name
    try:
        return setting.read(value)
    except InvalidArgument as error:
        if error.argument in _TABLES.get(name, ()):
            rule = f"{error.argument} in {name}"
            where = f"{rule} (from {place})" if place else rule
            raise InvalidArgument(where, error.value, error.expected) from error
        # What refused it knows whether it may be shown.
        raise InvalidArgument(shown_name, error.value, error.expected) from error
    except (ValueError, OverflowError) as error:
        hidden = name in SECRETS or (name in ("db", "replica") and "://" in str(value))
        raise InvalidArgument(shown_name, "(not shown)" if hidden else value, setting.expected) from error


def _decoded(table: str, text: str, place: str) -> object:
    """Return a table from the JSON that it is in the environment."""
    try:
        return json.loads(text)
    except ValueError as error:
        expected = f"JSON: {_SETTINGS[table].expected}"
        raise InvalidArgument(f"{table} (from {place})", text, expected) from error
