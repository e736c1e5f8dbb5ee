"""The factory of engines: `open` builds one from a path and a few settings.

The embedder and the analyser that a store is made with are recorded in it and used again, unless the caller
names others.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memorata._environment import models_folder
from memorata.embed.port import OWN, Embedder, Reranker, checked_prompts, prompted_specification, with_prompts
from memorata.embed.token_table import token_tables
from memorata.embed.trust import is_service, origin_of, source_of, user_trust, without_secrets
from memorata.engine.admin import SETTING as EMBEDDER_SETTING
from memorata.engine.config import Config
from memorata.engine.embedding import UNAVAILABLE, EmbedderRetry, OpenedEmbedder, checked_embedder
from memorata.engine.engine import Engine
from memorata.engine.recall.log import Logging
from memorata.engine.recipes import Recipe
from memorata.engine.roles import open_anchors, open_classifier, open_extractor, open_summaries
from memorata.engine.runtime import utc_now
from memorata.engine.write.terms import WordSettings
from memorata.model import checks
from memorata.model.checks import DEFAULT_NAMESPACE
from memorata.model.checks import namespace as checked_namespace
from memorata.model.errors import (
    ConsentNeeded,
    EmbedderError,
    InvalidArgument,
    MissingExtra,
)
from memorata.store.address import ServerAddress, address_of
from memorata.store.dialects import StoreOptions, open_dialect
from memorata.store.store import Store
from memorata.text.dates import AnchorExtractor
from memorata.text.entities import EntityExtractor
from memorata.text.queries import QueryClassifier

if TYPE_CHECKING:
    from memorata.embed.selection import Choice, Resources

_AUTO = "auto"


def open(
    path: str | Path | ServerAddress,
    *,
    embedder: Embedder | str | None = "auto",
    namespace: str = DEFAULT_NAMESPACE,
    recipe: Recipe | str = "balanced",
    clock: Callable[[], datetime] | None = None,
    read_only: bool = False,
    config: Config | Mapping[str, Any] | None = None,
) -> Engine:
    """Open the memory in a file or on a server, creating it if it is not there.

    Parameters
    ----------
    path
        An SQLite file, or ``":memory:"``, or the address of a PostgreSQL server with pgvector,
        ``"postgresql://user:password@host/database"``.
    embedder
        The model of vectors: ``"auto"`` for the one the store was made with, or the best that is installed
        for a new store; a name (see :mod:`memorata.embed.selection`); an embedder; None for words alone. A
        service or a folder that the store names is used if this person has named it before, or has agreed to
        it (``memorata admin trust --recorded``); until then words alone answer, and `notes` say so.
    namespace
        The namespace of calls that name none.
    recipe
        The recipe of recalls that name none.
    clock
        A function that returns the time; None for the system's.
    read_only
        Whether the file is only read: recalls are not logged, and writes raise `StoreReadOnly`. A file that
        cannot be written where it is, as on a read-only medium, is opened so by itself, and `notes` say so.
    config
        Rarer options: a :class:`~memorata.Config`, or some of its fields by name.

    Examples
    --------
    >>> memory = open(":memory:", embedder="lexical", config={"redact": True})
    >>> _ = memory.remember("Anna prefers green tea.")
    >>> [hit.memory.content for hit in memory.recall("what tea does Anna like?")]
    ['Anna prefers green tea.']
    >>> memory.close()
    """
    # Arguments are checked before there is a file, and never recorded in it if they are wrong.
    options = Config.of(config)
    checks.flag("read_only", read_only)
    checked_namespace("namespace", namespace)
    if clock is not None and not callable(clock):
        raise InvalidArgument("clock", clock, "what tells the time, or None")
    resources, prompts = options.resources, options.prompts
    if prompts is not None:
        embedder = _prompted(embedder, prompts)
    chosen = _requested_embedder(embedder, resources)
    if chosen is not None and _is_new(path):
        # A service is asked, and may be away, not know the model, or give other vectors than was said.
        if resources is None or resources.dimension is None:
            _ = chosen.embedder.dimension
        else:
            chosen.embedder.embed_documents(["Is all well?"])
    roles: dict[str, Any] = {
        "reranker": _reranker(options.reranker, resources),
        "extractor": _extractor(options.extractor),
        "anchors": _anchors(options.anchors),
        "classifier": _classifier(options.classifier),
        "summaries": (
            open_summaries(options.summaries) if isinstance(options.summaries, str) else options.summaries
        ),
    }
    store = open_store(path, read_only=read_only, config=options)
    try:
        words = WordSettings(store, options.analyser, options.language, options.min_length)
        reader, recorded = words.analyser(), store.setting(EMBEDDER_SETTING)
        opened, absent = _embedder(store, recorded, embedder, chosen, resources, prompts)
        measure = None if opened is None else opened.embedder
        specification = None if opened is None else opened.specification
        notes = [] if opened is None else list(opened.notes)
        if absent is not None:
            notes.append(UNAVAILABLE + absent.why)
        if outdated := words.outdated():
            notes.append(outdated)
        if measure is not None and store.read_only and store.dimension_of(measure.name) is None:
            notes.append(f"none of its vectors are of {measure.name}, and none can be made: words only")
            measure = specification = None
        engine = Engine(
            store,
            measure,
            reader,
            recipe=recipe,
            namespace=namespace,
            clock=utc_now if clock is None else clock,
            read_dates=options.read_dates,
            redact=options.redact,
            duplicates=options.duplicates,
            dedupe=options.dedupe,
            life=options.life,
            notes=[*store.notices, *notes],
            specification=specification,
            logging=Logging(recalls=False) if store.read_only else options.logging,
            lease_seconds=options.lease_seconds,
            absent=absent,
            tables=token_tables(measure),
            **roles,
        )
        # Not before all is well: what is recorded holds the next time that the store is opened.
        words.record()
        if recorded is None and specification is not None and not store.read_only:
            store.remember_setting(EMBEDDER_SETTING, specification)
        if chosen is not None:
            _agree(chosen.specification, resources)
        return engine
    except BaseException:
        store.close()
        raise


def open_store(
    path: str | Path | ServerAddress,
    *,
    read_only: bool = False,
    config: Config | Mapping[str, Any] | None = None,
) -> Store:
    """Open the store in a file or on a server, without an engine around it; see :func:`open`."""
    options = Config.of(config)
    if not isinstance(path, str | os.PathLike | ServerAddress) or not str(path).strip():
        raise InvalidArgument("path", path, "the path of a file, or the address of a server")
    url = address_of(path)
    replica = None if options.replica is None else address_of(options.replica)
    if options.replica is not None and (url is None or replica is None):
        # Neither is shown: one of them may hold a password.
        raise InvalidArgument(
            "replica",
            "(not shown, for it may hold a password)",
            "the address of a server, given together with that of the server it repeats",
        )
    how = StoreOptions(options.durable, options.must_exist, replica, read_only, options.encryption_key)
    return open_dialect(str(path) if url is None else url, how)


def _prompted(embedder: Embedder | str | None, prompts: str) -> Embedder | str | None:
    """Return an embedder, or its specification, with other prompts; that of the store is looked up later."""
    checked_prompts(prompts)
    if embedder is None or embedder == _AUTO:
        return embedder
    if isinstance(embedder, str):
        return prompted_specification(embedder, prompts)
    return embedder if prompts == OWN else with_prompts(embedder, prompts)


def _requested_embedder(embedder: Embedder | str | None, resources: Resources | None) -> Choice | None:
    """Return the embedder that is asked for by its name; None where the store has a say, or there is one."""
    if not isinstance(embedder, str):
        # Not by the whole protocol: to look for its properties is to ask a service for them.
        if embedder is not None and not callable(getattr(embedder, "embed_query", None)):
            raise InvalidArgument("embedder", embedder, "an embedder, the name of one, or None")
        return None
    return None if embedder == _AUTO else _choose(embedder, resources)


def _is_new(path: str | Path | ServerAddress) -> bool:
    """Return whether a file would be made."""
    in_a_file = isinstance(path, str | os.PathLike) and address_of(path) is None
    return in_a_file and str(path) != ":memory:" and not Path(str(path)).exists()


def _choose(specification: str, resources: Resources | None) -> Choice:
    # Not before it is needed: it knows every kind of embedder.
    from memorata.embed.selection import choose

    return choose(specification, resources or _usual_resources())


def choose_recorded(recorded: str | None, resources: Resources | None = None) -> Choice:
    """Return the embedder that a store was made with, or the best that is installed for a new one."""
    source = None if recorded is None else source_of(recorded)
    if recorded is None or source is None:
        return _choose(recorded or _AUTO, resources)
    trust = user_trust()
    if not trust.agrees_to_source(source):
        consequence = (
            f"texts would be sent to {source}" if is_service(source) else f"{source} would be loaded"
        )
        raise ConsentNeeded(
            f"the database asks for the embedder {without_secrets(recorded)!r}: {consequence}, and you have "
            "not agreed to that; `memorata admin trust --recorded` asks you, or name the embedder yourself "
            "(--embedder, MEMORATA_EMBEDDER, embedder=…)"
        )
    available = resources or _usual_resources()
    if (
        available.api_key
        and available.api_key_address is None
        and not trust.key_is_for(available.api_key, source)
    ):
        choice = _choose(recorded, replace(available, api_key=None))
        note = (
            f"the API key is not sent to {source}, for which it was not given; if it is for that service, "
            f"set api_key_address (MEMORATA_API_KEY_ADDRESS={source})"
        )
        return replace(choice, note=note)
    return _choose(recorded, available)


def _agree(specification: str, resources: Resources | None) -> None:
    """Record the consent to a service or a folder that the user named: the store may name it from now on."""
    source = source_of(specification)
    if source is None:
        return
    trust = user_trust()
    # Where the home cannot be written to, the consent is asked for again.
    with suppress(OSError):
        trust.agree_to_source(source)
        if resources is not None and resources.api_key and is_service(source):
            bound = resources.api_key_address
            if bound is None or origin_of(bound) == source:
                trust.bind_key(resources.api_key, source)


def _embedder(
    store: Store,
    recorded: str | None,
    requested: Embedder | str | None,
    chosen: Choice | None,
    resources: Resources | None,
    prompts: str | None = None,
) -> tuple[OpenedEmbedder | None, EmbedderRetry | None]:
    """Return what measures meaning, or what looks for it again if it cannot be had just now."""
    if requested is None:
        return None, None
    if not isinstance(requested, str):
        return OpenedEmbedder(checked_embedder(requested, store, recorded=True, named=False)), None

    def find() -> OpenedEmbedder:
        specification = recorded if prompts is None else prompted_specification(recorded or _AUTO, prompts)
        choice = choose_recorded(specification, resources) if chosen is None else chosen
        embedder = checked_embedder(choice.embedder, store, recorded=choice.specification == recorded)
        return OpenedEmbedder(embedder, choice.specification, (choice.note,) if choice.note else ())

    def reopened() -> OpenedEmbedder:
        opened = find()
        store.use_embedder(opened.embedder.name, opened.embedder.dimension)
        return opened

    try:
        return find(), None
    except (EmbedderError, MissingExtra, InvalidArgument) as error:
        if chosen is not None and requested != _AUTO and chosen.specification != recorded:
            raise
        # A store whose model cannot be had just now still answers by words; its vectors wait.
        return None, EmbedderRetry(reopened, str(error))


def _reranker(reranker: Reranker | str | None, resources: Resources | None) -> Reranker | None:
    if reranker is None:
        return None
    if isinstance(reranker, str):
        from memorata.embed.selection import open_reranker

        return open_reranker(reranker, resources or _usual_resources())
    if not isinstance(reranker, Reranker):
        raise InvalidArgument("reranker", reranker, "a re-ranker, the name of one, or None")
    return reranker


def _extractor(extractor: EntityExtractor | str | None) -> EntityExtractor | None:
    if extractor is None or isinstance(extractor, str):
        return None if extractor is None else open_extractor(extractor)
    if not isinstance(extractor, EntityExtractor):
        raise InvalidArgument("extractor", extractor, "the name of an extractor, an extractor, or None")
    return extractor


def _anchors(anchors: AnchorExtractor | str) -> AnchorExtractor:
    if isinstance(anchors, str):
        return open_anchors(anchors)
    if not isinstance(anchors, AnchorExtractor):
        raise InvalidArgument("anchors", anchors, "'rules', 'chat:MODEL@ADDRESS' or an extractor")
    return anchors


def _usual_resources() -> Resources:
    from memorata.embed.selection import Resources

    return Resources(models=models_folder(os.environ, sys.platform, Path.home()))


def _classifier(classifier: QueryClassifier | str) -> QueryClassifier:
    if isinstance(classifier, str):
        return open_classifier(classifier)
    if not isinstance(classifier, QueryClassifier):
        raise InvalidArgument("classifier", classifier, "'rules', 'chat:MODEL@ADDRESS' or a classifier")
    return classifier
