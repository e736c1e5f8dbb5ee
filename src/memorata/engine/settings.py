"""Where everything is and how it is done: one set of settings for the library's front doors.

A value is taken from the first place that has it: the constructor, an environment variable ``MEMORATA_…``,
the file ``memorata.toml`` (in the current folder, or the one that ``MEMORATA_CONFIG`` names), the default.
Of an untrusted file in the current folder few settings count: see :mod:`memorata.engine.config_file`.
A value that cannot be used is refused with the name of the setting and of the place it came from.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    SecretStr,
    ValidationError,
    ValidationInfo,
    field_validator,
)

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
from memorata.store.address import ServerAddress, is_address
from memorata.store.logged_recall import MAX_MEGABYTES, MAX_RECALLS, LogBounds

if TYPE_CHECKING:
    from memorata.embed.selection import Resources

_TABLES: Final = {
    "life": tuple(rule.name for rule in RULES),
    "dedupe": tuple(rule.name for rule in DEDUPE_RULES),
    "parameters": tuple(parameter.name for parameter in PARAMETERS),
}
"""The settings that are tables, and the names of the rules in them."""

_EXPECTED: Final = {
    "db": "the path of a file, or the address of a PostgreSQL server",
    "replica": "the address of a PostgreSQL server",
    "embedder": "the name of an embedder, such as 'auto' or 'lexical'",
    "analyser": "the name of an analyser, 'snowball' or 'plain'",
    "language": "'detect', 'none', or the name of a language",
    "min_length": "a whole number from 1 to 6",
    "prompts": "the name of prompts, such as similarity",
    "reranker": "the name of a re-ranker, or 'none'",
    "life": "a table of rules, such as working_days, and their numbers",
    "dedupe": "a table of rules, such as threshold, and their values",
    "models": "the path of a folder",
    "hub_cache": "the path of a folder",
    "api_key_address": "the address of a service, such as https://example.org",
    "query_seconds": f"a number above 0, and at most {MAX_QUERY_SECONDS:g}",
    "recipe": "the name of a recipe",
    "parameters": "a table of parameters of a recipe, such as vector_weight, and their values",
    "lease_seconds": "a number above 0",
}
_EXPECTED_OF_TYPES: Final = {bool: "true or false", int: "a whole number of at least 1"}
"""What is expected of settings that have no words of their own; of all others it is text."""
_OPENERS: Final = {"anchors": open_anchors, "classifier": open_classifier, "summaries": open_summaries}
_RULES: Final = {"life": (RULES, LifecycleRules.of), "dedupe": (DEDUPE_RULES, DedupeRules.of)}
_CHECKS: Final[Mapping[str, Callable[[str], str]]] = {
    "namespace": partial(checked_namespace, "namespace"),
    "duplicates": lambda value: DedupeMode.of(value).value,
    "prompts": checked_prompts,
    "api_key_address": origin_of,
}
_PASSED_ON: Final = (
    "analyser", "language", "min_length", "read_dates", "redact", "duplicates", "dedupe", "life", "durable",
    "replica", "lease_seconds",
)  # fmt: skip
"""The settings that are fields of :class:`~memorata.Config` as they are."""


def default_db(environment: Mapping[str, str], platform: str, home: Path) -> Path:
    """Return the default path of the database: beside the models."""
    return data_folder(environment, platform, home) / "memories.db"


class Settings(BaseModel):
    """Everything that can be set.

    >>> Settings(namespace="acme/alice", embedder="lexical").namespace
    'acme/alice'
    >>> Settings(namespace="a//b")
    Traceback (most recent call last):
    ...
    memorata.model.errors.InvalidArgument: namespace must be a path such as 'acme/alice' (letters, digits and
    _-.@+~ between slashes, no segment starting with a dot), got 'a//b'
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)

    db: Path | ServerAddress = Field(
        default_factory=lambda: default_db(os.environ, sys.platform, Path.home()),
        description="The file the memories are in, or the address of a PostgreSQL server.",
    )
    replica: ServerAddress | None = Field(
        default=None, description="The address of a server that repeats what that one writes, to recall from."
    )
    namespace: str = Field(default=DEFAULT_NAMESPACE, description="Whose memories.")
    embedder: str = Field(default="auto", min_length=1, description="What measures meaning.")
    analyser: str | None = Field(
        default=None, description="How words are read in a store that is made: snowball or plain."
    )
    language: str | None = Field(
        default=None, description="The language of its texts: detect, none, or one, such as german."
    )
    min_length: int | None = Field(default=None, ge=1, le=6, description="The fewest characters of a word.")
    prompts: str | None = Field(
        default=None, description="What is written before queries and documents: own, none, similarity, …."
    )
    reranker: str = Field(default="none", min_length=1, description="What reads the best candidates again.")
    reranker_key: SecretStr | None = Field(default=None, description="For that service, if it asks for one.")
    recipe: str = Field(default="balanced", min_length=1, description="How to recall.")
    parameters: dict[str, Any] = Field(
        default_factory=dict, description="Parameters of that recipe to change; see docs/recipes.md."
    )
    extractor: str = Field(
        default="rules",
        description="The reader of names in memories: rules, none, spacy:MODEL or chat:MODEL@ADDRESS.",
    )
    extractor_key: SecretStr | None = Field(default=None, description="For that service, if it asks for one.")
    read_dates: bool = Field(
        default=True, description="Whether what is remembered is read for the day it happened."
    )
    anchors: str = Field(
        default="rules", description="What reads the time a question names: rules, or chat:MODEL@ADDRESS."
    )
    anchors_key: SecretStr | None = Field(default=None, description="For that service, if it asks for one.")
    classifier: str = Field(
        default="rules", description="What tells the type of a query: rules, or chat:MODEL@ADDRESS."
    )
    classifier_key: SecretStr | None = Field(
        default=None, description="For that service, if it asks for one."
    )
    summaries: str = Field(
        default="none", description="What writes about communities: none, or chat:MODEL@ADDRESS."
    )
    summaries_key: SecretStr | None = Field(default=None, description="For that service, if it asks for one.")
    redact: bool = Field(
        default=False,
        description="Whether keys, tokens, card numbers and passwords are taken out of what is remembered.",
    )
    life: dict[str, float] = Field(
        default_factory=dict, description="Rules by which memories live, by name; see docs/life.md."
    )
    duplicates: str = Field(
        default="near", description="What is done about what was said before: near, exact or off."
    )
    dedupe: dict[str, float | str] = Field(
        default_factory=dict, description="Rules of that, by name: threshold, strategy, permutations."
    )
    durable: bool = Field(default=True, description="Whether an acknowledged write survives a power cut.")
    read_only: bool = Field(
        default=False, description="Whether the file is only read, and nothing is written to it."
    )
    encryption_key: SecretStr | None = Field(
        default=None, description="What the file is encrypted with: a key, file:PATH or command:COMMAND."
    )
    models: Path = Field(
        default_factory=lambda: models_folder(os.environ, sys.platform, Path.home()),
        description="The folder of installed models.",
    )
    hub_cache: Path | None = Field(
        default=None,
        description="The model hub's cache, for embedders named hub:ORG/NAME; if not given, the usual one.",
    )
    threads: int | None = Field(default=None, ge=1, description="How many threads a model computes with.")
    api_key: SecretStr | None = Field(default=None, description="For embedding services that ask for one.")
    api_key_address: str | None = Field(
        default=None,
        description="The service that the key is for; if not given, the one that the embedder names.",
    )
    dimension: int | None = Field(
        default=None, ge=1, description="The length an embedding service's vectors must have."
    )
    query_seconds: float = Field(
        default=QUERY_SECONDS,
        gt=0,
        le=MAX_QUERY_SECONDS,
        allow_inf_nan=False,
        description="How long a question waits for an embedding service, before it is answered by words.",
    )

    log_recalls: bool = Field(default=True, description="Whether recalls are logged, to be learnt from.")
    log_queries: bool = Field(default=True, description="Whether the log keeps the text of questions.")
    log_limit: int = Field(default=MAX_RECALLS, ge=1, description="How many recalls the log keeps.")
    log_megabytes: int = Field(default=MAX_MEGABYTES, ge=1, description="How large the log grows.")
    lease_seconds: float = Field(
        default=LEASE_SECONDS,
        gt=0,
        allow_inf_nan=False,
        description="After how long a worker that is not heard of is taken over.",
    )

    _origins: dict[str, str] = PrivateAttr(default_factory=dict)
    _config: ConfigFile | None = PrivateAttr(default=None)
    _ignored: tuple[str, ...] = PrivateAttr(default=())

    def __init__(self, *, config: str | None = None, **arguments: Any) -> None:  # noqa: ANN401 - pydantic checks
        file = effective_config(config, type(self).model_fields)
        ignored = () if file is None else file.ignored(user_trust())
        from_file = {} if file is None else {k: v for k, v in file.values.items() if k not in ignored}
        variables = environment_variables(type(self).model_fields)
        places = {
            **({} if file is None else dict.fromkeys(from_file, str(file.path))),
            **{field: f"the environment variable {name}" for field, name in variables.items()},
            **dict.fromkeys(arguments, ""),
        }
        values = from_file | {field: os.environ[name] for field, name in variables.items()} | arguments
        for table in _TABLES:
            if table in variables and table not in arguments:
                values[table] = _rules(table, values[table], places[table])
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise _as_invalid_argument(error, places) from error
        self._origins = places
        self._config = file
        self._ignored = tuple(name for name in ignored if name not in places)

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
            api_key=_secret(self.api_key),
            api_key_address=self.api_key_address,
            dimension=self.dimension,
            query_seconds=self.query_seconds,
            reranker_key=_secret(self.reranker_key),
        )

    def open(self, *, must_exist: bool = False, embed: bool = True) -> Engine:
        """Open the memory these settings describe.

        - `must_exist`: whether a missing file is an error.
        - `embed`: whether meaning is needed; without it the embedder and the re-ranker are left alone.
        """
        try:
            engine = self._open(must_exist=must_exist, embed=embed)
        except InvalidArgument as error:
            if (place := self._origins.get(error.argument)) and error.argument not in _SECRETS:
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
                extractor=open_extractor(self.extractor, _secret(self.extractor_key)),
                anchors=open_anchors(self.anchors, _secret(self.anchors_key)),
                classifier=open_classifier(self.classifier, _secret(self.classifier_key)),
                summaries=open_summaries(self.summaries, _secret(self.summaries_key)) or "none",
                must_exist=must_exist,
                resources=self.resources if embed else None,
                logging=Logging(
                    self.log_recalls, self.log_queries, LogBounds(self.log_limit, self.log_megabytes)
                ),
                encryption_key=_secret(self.encryption_key),
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

    @field_validator("replica", mode="before")
    @classmethod
    def _an_address(cls, value: object) -> object:
        return ServerAddress(str(value)) if is_address(value) else value

    @field_validator("db", "models", "hub_cache", mode="before")
    @classmethod
    def _a_path(cls, value: object) -> object:
        # An empty text would become the current folder.
        if value == "":
            raise InvalidArgument("path", value, "the path of a file or folder")
        if is_address(value):
            return ServerAddress(str(value))
        return at_home(value) if isinstance(value, str) else value

    @field_validator("life", "dedupe")
    @classmethod
    def _table_of_rules(cls, value: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        rules, check = _RULES[str(info.field_name)]
        counts = {rule.name for rule in rules if rule.type is int}
        # In a file, or in JSON, a count may be written 2 or 2.0.
        typed = {name: _whole(number) if name in counts else number for name, number in value.items()}
        check(typed)
        return typed

    @field_validator("parameters")
    @classmethod
    def _parameters_of_recipes(cls, value: dict[str, Any]) -> dict[str, Any]:
        by_name = {parameter.name: parameter for parameter in PARAMETERS}
        for name in value:
            checks.one_of("parameters", name, tuple(by_name))
        return {name: by_name[name].checked(setting) for name, setting in value.items()}

    @field_validator(*_OPENERS)
    @classmethod
    def _checked_service(cls, value: str, info: ValidationInfo) -> str:
        _OPENERS[str(info.field_name)](value)
        return value

    @field_validator(*_CHECKS)
    @classmethod
    def _checked(cls, value: str | None, info: ValidationInfo) -> str | None:
        return None if value is None else _CHECKS[str(info.field_name)](value)


_SECRETS: Final = {"replica"} | {
    name for name, field in Settings.model_fields.items() if field.annotation == SecretStr | None
}


def _secret(value: SecretStr | None) -> str | None:
    return None if value is None else value.get_secret_value()


def _whole(number: object) -> object:
    return int(number) if isinstance(number, float) and number.is_integer() else number


def _rules(table: str, text: str, place: str) -> object:
    """Return rules, settings that are tables, from the JSON they are in the environment."""
    try:
        return json.loads(text)
    except ValueError as error:
        raise InvalidArgument(f"{table} (from {place})", text, f"JSON: {_EXPECTED[table]}") from error


def _as_invalid_argument(error: ValidationError, places: Mapping[str, str]) -> InvalidArgument:
    """Return pydantic's first complaint as ours, with the place the value came from."""
    first = error.errors()[0]
    name = str(first["loc"][0])
    if name not in Settings.model_fields:
        return InvalidArgument("a setting", name, "one of " + ", ".join(Settings.model_fields))
    cause = first.get("ctx", {}).get("error")
    kind = Settings.model_fields[name].annotation
    expected = _EXPECTED.get(name) or next(
        (words for of, words in _EXPECTED_OF_TYPES.items() if kind in (of, of | None)), "text"
    )
    if isinstance(cause, InvalidArgument):
        expected = cause.expected
    # What refused it knows whether it may be shown.
    value = cause.value if isinstance(cause, InvalidArgument) else first["input"]
    if name in _SECRETS or (name == "db" and "://" in str(value)):
        value = "(not shown)"
    place = places.get(name, "")
    if isinstance(cause, InvalidArgument) and cause.argument in _TABLES.get(name, ()):
        name, value = f"{cause.argument} in {name}", cause.value
    return InvalidArgument(f"{name} (from {place})" if place else name, value, expected)
