"""The rare options of :func:`memorata.open`, as fields of one class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any

from memorata._frozen import frozen
from memorata.embed.port import Reranker
from memorata.engine.recall.log import Logging
from memorata.engine.rules import DedupeMode, DedupeRules, LifecycleRules
from memorata.engine.runtime import LEASE_SECONDS
from memorata.engine.write.terms import checked_analyser
from memorata.model import checks
from memorata.model.errors import InvalidArgument
from memorata.model.parameter import rules_from
from memorata.store.address import ServerAddress
from memorata.text.dates import AnchorExtractor
from memorata.text.entities import EntityExtractor
from memorata.text.queries import QueryClassifier

if TYPE_CHECKING:
    from memorata.embed.selection import Resources
    from memorata.engine.consolidation import Writer as SummaryWriter


@frozen(kw_only=True)
class Config:
    """The options of a memory that few programs change.

    Parameters
    ----------
    analyser, language, min_length
        How words are read; fixed when the store is made. None for the options of its making, or
        ``"snowball"`` with the language detected text by text. ``"plain"`` neither leaves out nor stems any
        word of two characters or more; `min_length` is the fewest characters of a word, 2 (plain) or 3.
    prompts
        The text before queries and documents: ``"own"`` for the prompts the model was trained with,
        ``"none"``, ``"similarity"``, ``"retrieval"``, ``"narrative"``, ``"romance"``, ``"relationship"``, or
        ``"custom:QUERY|DOCUMENT"``; None for the prompts of the store. Other prompts are other vectors:
        everything has to be embedded again, and `notes` state the amount and the time.
    reranker
        The model that scores the best candidates again, for recipes with re-ranking: a name (see
        :mod:`memorata.embed.selection`), a re-ranker, or None.
    extractor
        The reader of names in memories: ``"rules"``, which needs no network; ``"spacy:MODEL"`` for an
        installed spaCy pipeline; ``"chat:MODEL@ADDRESS"`` for a language model, which reads relations too; an
        extractor; None for no names.
    anchors
        The reader of times in queries: ``"rules"``, ``"chat:MODEL@ADDRESS"`` for a language model, or an
        extractor.
    classifier
        The classifier of queries, for recipes that follow their type: ``"rules"``, ``"chat:MODEL@ADDRESS"``
        for a language model, or a classifier.
    summaries
        The writer of summaries of communities beside the statistics: ``"none"``, ``"chat:MODEL@ADDRESS"`` for
        a language model, or a writer.
    read_dates
        Whether a day that a text names ("yesterday") becomes the time it happened.
    redact
        Whether keys, tokens, card numbers and passwords are replaced by markers before a text is stored.
    life
        The rules by which memories live: :class:`~memorata.engine.rules.LifecycleRules`, or some of them by
        name.
    duplicates
        How `remember` treats repeats in the same words (``"exact"``) or also in nearly the same (``"near"``):
        they are superseded by the earlier memory. ``"off"`` writes everything as it comes.
    dedupe
        Rules of that: :class:`~memorata.engine.rules.DedupeRules`, or some of them by name: the least cosine
        (`threshold`), the memory that stays (`strategy`).
    durable
        Whether an acknowledged write survives a power cut.
    must_exist
        Whether a missing file is an error.
    replica
        The address of a server that repeats the writes of the one at `path`: recalls are answered there,
        unless it is away or too far behind, which `degraded` states. Nothing is written to it.
    resources
        Where models are, and which services may be used.
    logging
        Whether and how recalls are logged, as data for learning; None for all of them, within bounds.
    lease_seconds
        How long after the last renewal of a worker's lease another worker may take its work over.
    encryption_key
        The key of the file, or of a new one: 64 hexadecimal digits, a passphrase, ``file:PATH`` or
        ``command:COMMAND``. Needs the extra ``encryption``; see docs/security.md.

    Examples
    --------
    >>> Config(redact=True).redact
    True
    >>> Config(duplicates="often")
    Traceback (most recent call last):
    ...
    memorata.model.errors.InvalidArgument: duplicates must be one of 'near', 'exact', 'off', got 'often'
    """

    analyser: str | None = None
    language: str | None = None
    min_length: int | None = None
    prompts: str | None = None
    reranker: Reranker | str | None = None
    extractor: EntityExtractor | str | None = "rules"
    anchors: AnchorExtractor | str = "rules"
    classifier: QueryClassifier | str = "rules"
    summaries: SummaryWriter | str = "none"
    read_dates: bool = True
    redact: bool = False
    life: LifecycleRules | Mapping[str, Any] | None = None
    duplicates: str = "near"
    dedupe: DedupeRules | Mapping[str, Any] | None = None
    durable: bool = True
    must_exist: bool = False
    replica: str | ServerAddress | None = field(default=None, repr=False)
    resources: Resources | None = None
    logging: Logging | None = None
    lease_seconds: float = LEASE_SECONDS
    encryption_key: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        checked_analyser(self.analyser, self.language, self.min_length)
        for name in ("read_dates", "redact", "durable", "must_exist"):
            checks.flag(name, getattr(self, name))
        checks.one_of("duplicates", self.duplicates, [mode.value for mode in DedupeMode])
        checks.above("lease_seconds", self.lease_seconds, 0)
        LifecycleRules.of(self.life)
        DedupeRules.of(self.dedupe)
        if self.logging is not None and not isinstance(self.logging, Logging):
            raise InvalidArgument("logging", self.logging, "how recalls are logged, or None")

    @classmethod
    def of(cls, config: Config | Mapping[str, Any] | None) -> Config:
        """Return this configuration, one of the fields in a mapping, or the default for None."""
        return rules_from(cls, "config", config)
