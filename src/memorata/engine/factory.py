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
from memorata.embed.trust import is_service, origin_of, source_of, user_trust
from memorata.engine.admin import SETTING as EMBEDDER_SETTING
from memorata.engine.embedding import UNAVAILABLE, EmbedderRetry, OpenedEmbedder, checked_embedder
from memorata.engine.engine import Engine
from memorata.engine.recall.log import Logging
from memorata.engine.recipes import Recipe
from memorata.engine.rules import DedupeMode, DedupeRules, LifecycleRules
from memorata.engine.runtime import LEASE_SECONDS
from memorata.engine.services import (
    open_anchors,
    open_classifier,
    open_extractor,
    open_reranker,
    open_summaries,
)
from memorata.engine.write.terms import WordSettings, checked_analyser
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
    from memorata.embed.token_table import TokenTable
    from memorata.engine.consolidation import Writer as SummaryWriter

_AUTO = "auto"
_WORDS = "lexical"


def open(
    path: str | Path | ServerAddress,
    *,
    embedder: Embedder | str | None = "auto",
    prompts: str | None = None,
    reranker: Reranker | str | None = None,
    namespace: str = DEFAULT_NAMESPACE,
    recipe: Recipe | str = "balanced",
    analyser_name: str | None = None,
    language: str | None = None,
    min_length: int | None = None,
    extract_entities: EntityExtractor | str | bool = True,
    anchors: AnchorExtractor | str = "rules",
    classifier: QueryClassifier | str = "rules",
    summaries: SummaryWriter | str = "none",
    read_dates: bool = True,
    redact: bool = False,
    life: LifecycleRules | Mapping[str, Any] | None = None,
    duplicates: str = "near",
    dedupe: DedupeRules | Mapping[str, Any] | None = None,
    durable: bool = True,
    must_exist: bool = False,
    read_only: bool = False,
    replica: str | ServerAddress | None = None,
    resources: Resources | None = None,
    clock: Callable[[], datetime] | None = None,
    logging: Logging | None = None,
    lease_seconds: float = LEASE_SECONDS,
    encryption_key: str | None = None,
) -> Engine:
    """Open the memory in a file or on a server, creating it if it is not there.

    Parameters
    ----------
    path
        An SQLite file, or ``":memory:"``, or the address of a PostgreSQL server with pgvector,
        ``"postgresql://user:password@host/database"``.
    embedder
        What measures meaning: ``"auto"`` for what the store was made with, or the best that is installed
        for a new one; a name (see :mod:`memorata.embed.selection`); an embedder; None for words alone. A
        service or a folder that the store names is used if this person has named it before, or has agreed to
        it (``memorata trust --recorded``); until then words alone answer, and `notes` say so.
    prompts
        What is written before queries and documents: ``"own"`` for what the model was trained with,
        ``"none"``, ``"similarity"``, ``"retrieval"``, ``"narrative"``, ``"romance"``, ``"relationship"``, or
        ``"custom:QUERY|DOCUMENT"``; None for what the store was made with. Other prompts are other vectors:
        everything has to be embedded again, and `notes` say how much that is and how long it takes.
    reranker
        What reads the best candidates again, for recipes that ask for it: a name (see
        :mod:`memorata.embed.selection`), a re-ranker, or None.
    namespace
        Whose memory, where a call does not say.
    recipe
        How to recall, where a call does not say.
    analyser_name, language, min_length
        How words are read; fixed when the store is made. None for what it was made with, or ``"snowball"``
        with the language detected text by text. ``"plain"`` neither leaves out nor stems any word of two
        characters or more; `min_length` is the fewest characters of a word, 2 (plain) or 3 otherwise.
    extract_entities
        Whether what is remembered is read for the names it mentions, by rules and without a network; or what
        reads it in another way: ``"spacy:MODEL"`` for an installed spaCy pipeline, ``"chat:MODEL@ADDRESS"``
        for a language model, which reads relations too, or an extractor.
    anchors
        What reads the time a query names: ``"rules"``, ``"chat:MODEL@ADDRESS"`` for a language model (see
        :mod:`memorata.engine.services.chat`), or an extractor.
    classifier
        What tells the type of a query, for recipes that follow it: ``"rules"``, ``"chat:MODEL@ADDRESS"`` for
        a language model (see :mod:`memorata.engine.services.chat`), or a classifier.
    summaries
        What writes about communities beside the statistics: ``"none"``, ``"chat:MODEL@ADDRESS"`` for a
        language model, or a writer.
    read_dates
        Whether a day that a text names ("yesterday") becomes the time it happened.
    redact
        Whether keys, tokens, card numbers and passwords are taken out of what is remembered, each with a
        marker in its place.
    life
        The rules by which memories live, as a
        :class:`~memorata.engine.rules.LifecycleRules`, or some of
        them by name.
    duplicates
        What `remember` does about what was said before, in the same words (``"exact"``) or also in nearly the
        same (``"near"``): it is superseded by the earlier memory. ``"off"`` to write everything as it comes.
    dedupe
        Rules of that, as a :class:`~memorata.engine.rules.DedupeRules` or some of them by name: the
        least cosine (`threshold`), which of two stays (`strategy`), MinHash `permutations`.
    durable
        Whether an acknowledged write survives a power cut.
    must_exist
        Whether a missing file is an error.
    read_only
        Whether the file is only read: recalls are not logged, and what would write raises `StoreReadOnly`. A
        file that cannot be written where it is, as on a read-only medium, is opened so by itself, and `notes`
        say so.
    replica
        The address of a server that repeats what the one at `path` writes: recalls are answered there, unless
        it is away or too far behind, which `degraded` says. Nothing is written to it.
    resources
        Where models are and what services may be used.
    clock
        Tells the time; None for the system's.
    logging
        Whether and how recalls are logged, to be learnt from; None for all of them, within the usual bounds.
    lease_seconds
        How long after the last sign of life of a worker (one that maintains, re-embeds or tunes) another may
        take its work over.
    encryption_key
        What the file is encrypted with, or a new one is to be: 64 hexadecimal digits, a passphrase,
        ``file:PATH`` or ``command:COMMAND``. Needs the extra ``encryption``; see docs/security.md.

    Examples
    --------
    >>> memory = open(":memory:", embedder="lexical")
    >>> _ = memory.remember("Anna prefers green tea.")
    >>> [hit.memory.content for hit in memory.recall("what tea does Anna like?")]
    ['Anna prefers green tea.']
    >>> memory.close()
    """
    checks.flag("durable", durable)
    checks.flag("must_exist", must_exist)
    checks.flag("read_only", read_only)
    # Arguments are checked before there is a file, and never recorded in it if they are wrong.
    checked_analyser(analyser_name, language, min_length)
    checked_namespace("namespace", namespace)
    checks.one_of("duplicates", duplicates, [mode.value for mode in DedupeMode])
    checks.above("lease_seconds", lease_seconds, 0)
    LifecycleRules.of(life)
    rules = DedupeRules.of(dedupe)
    if logging is not None and not isinstance(logging, Logging):
        raise InvalidArgument("logging", logging, "how recalls are logged, or None")
    if clock is not None and not callable(clock):
        raise InvalidArgument("clock", clock, "what tells the time, or None")
    if prompts is not None:
        embedder = _prompted(embedder, prompts)
    chosen = _requested_embedder(embedder, resources)
    if chosen is not None and _is_new(path):
        # A service is asked, and may be away, not know the model, or give other vectors than was said.
        if resources is None or resources.dimension is None:
            _ = chosen.embedder.dimension
        else:
            chosen.embedder.embed_documents(["Is all well?"])
    options: dict[str, Any] = {
        "reranker": _reranker(reranker, resources),
        "extractor": _extractor(extract_entities),
        "anchors": _anchors(anchors),
        "classifier": open_classifier(classifier) if isinstance(classifier, str) else _classifier(classifier),
        "summaries": open_summaries(summaries) if isinstance(summaries, str) else summaries,
        "read_dates": checks.flag("read_dates", read_dates),
        "redact": checks.flag("redact", redact),
    }
    if clock is not None:
        options["clock"] = clock
    store = open_store(
        path,
        durable=durable,
        must_exist=must_exist,
        replica=replica,
        read_only=read_only,
        encryption_key=encryption_key,
    )
    try:
        words = WordSettings(store, analyser_name, language, min_length)
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
            duplicates=duplicates,
            dedupe=rules,
            life=life,
            notes=[*store.notices, *notes],
            specification=specification,
            logging=Logging(recalls=False) if store.read_only else logging,
            lease_seconds=lease_seconds,
            absent=absent,
            tables=_tables(measure, embedder, specification, resources),
            **options,
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
    durable: bool = True,
    must_exist: bool = False,
    replica: str | ServerAddress | None = None,
    read_only: bool = False,
    encryption_key: str | None = None,
) -> Store:
    """Open the store in a file or on a server, without an engine around it; see :func:`open`."""
    if not isinstance(path, str | os.PathLike | ServerAddress) or not str(path).strip():
        raise InvalidArgument("path", path, "the path of a file, or the address of a server")
    url, replica_address = address_of(path), None if replica is None else address_of(replica)
    if replica is not None and (url is None or replica_address is None):
        # Neither is shown: one of them may hold a password.
        raise InvalidArgument(
            "replica",
            "(not shown, for it may hold a password)",
            "the address of a server, given together with that of the server it repeats",
        )
    options = StoreOptions(durable, must_exist, replica_address, read_only, encryption_key)
    return open_dialect(str(path) if url is None else url, options)


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
    if recorded is not None and recorded.partition("#")[0] == "builtin":
        # The model that came with Memorata when such a store was made; now its own name is recorded.
        recorded = recorded.replace("builtin", "granite-embedding-30m-english", 1)
    source = None if recorded is None else source_of(recorded)
    if recorded is None or source is None:
        return _choose(recorded or _AUTO, resources)
    from memorata.embed.selection import without_secrets

    trust = user_trust()
    if not trust.agrees_to_source(source):
        consequence = (
            f"texts would be sent to {source}" if is_service(source) else f"{source} would be loaded"
        )
        raise ConsentNeeded(
            f"the database asks for the embedder {without_secrets(recorded)!r}: {consequence}, and you have "
            "not agreed to that; `memorata trust --recorded` asks you, or name the embedder yourself "
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
        return open_reranker(reranker, resources or _usual_resources())
    if not isinstance(reranker, Reranker):
        raise InvalidArgument("reranker", reranker, "a re-ranker, the name of one, or None")
    return reranker


def _tables(
    measure: Embedder | None,
    requested: Embedder | str | None,
    specification: str | None,
    resources: Resources | None,
) -> tuple[TokenTable, ...]:
    """Return the token vectors of an embedder that has them, or those that are installed for other models."""
    if (
        requested is None
        or specification == _WORDS
        or not (isinstance(requested, str) or hasattr(requested, "languages"))
    ):
        return ()
    from memorata.embed.token_table import installed_tables, own_table

    own = own_table(measure)
    if own is not None:
        return (own,)
    return installed_tables((resources or _usual_resources()).models)


def _extractor(extractor: EntityExtractor | str | bool) -> EntityExtractor | None:
    if isinstance(extractor, bool):
        return open_extractor("rules") if extractor else None
    if isinstance(extractor, str):
        return open_extractor(extractor)
    if not isinstance(extractor, EntityExtractor):
        raise InvalidArgument("extract_entities", extractor, "true, false, the name of an extractor or one")
    return extractor


def _anchors(anchors: AnchorExtractor | str) -> AnchorExtractor:
    if isinstance(anchors, str):
        return open_anchors(anchors)
    if not isinstance(anchors, AnchorExtractor):
        raise InvalidArgument("anchors", anchors, "'rules', 'chat:MODEL@ADDRESS' or an extractor")
    return anchors


def _usual_resources() -> Resources:
    from memorata.embed.description import hub_cache
    from memorata.embed.selection import Resources

    home = Path.home()
    return Resources(
        models=models_folder(os.environ, sys.platform, home), hub_cache=hub_cache(os.environ, home)
    )


def _classifier(classifier: QueryClassifier) -> QueryClassifier:
    if not isinstance(classifier, QueryClassifier):
        raise InvalidArgument("classifier", classifier, "'rules', 'chat:MODEL@ADDRESS' or a classifier")
    return classifier
