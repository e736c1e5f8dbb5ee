"""The engine: the verbs that people and programs use.

One synchronous class around a store and an embedder. Clock and randomness come in as arguments, so the same
store, question, recipe and clock give the same hits in the same order.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import Any, Final, TypeAlias, TypeVar

from memorata.dedupe.fingerprint import fingerprint
from memorata.embed.port import Embedder
from memorata.embed.reranker import Reranker
from memorata.engine.absence import Absent
from memorata.engine.contradiction_verbs import ContradictionVerbs
from memorata.engine.drafts import Drafts, has_id
from memorata.engine.duplicate_modes import Duplicates
from memorata.engine.duplicate_verbs import DuplicateVerbs
from memorata.engine.exchange_verbs import ExchangeVerbs
from memorata.engine.feedback_verbs import FeedbackVerbs
from memorata.engine.graph_verbs import GraphVerbs
from memorata.engine.leasing import SECONDS, Leasing
from memorata.engine.life import Life
from memorata.engine.life_verbs import LifeVerbs
from memorata.engine.meaning import Meaning
from memorata.engine.naming import NameBook
from memorata.engine.once_verbs import OnceVerbs
from memorata.engine.reading_verbs import ReadingVerbs
from memorata.engine.recall_log import Logging, RecallLog
from memorata.engine.recipe import Recipe
from memorata.engine.recipe_verbs import RecipeVerbs, SavedRecipes
from memorata.engine.reembedding_verbs import ReembeddingVerbs
from memorata.engine.repairing import Repairing
from memorata.engine.resting import collector_resting
from memorata.engine.times import PHRASE, dated
from memorata.engine.words import embedded_text, words_of
from memorata.model import checks
from memorata.model.errors import InvalidArgument
from memorata.model.identity import memory_id
from memorata.model.memory import Memory
from memorata.model.namespace import DEFAULT_NAMESPACE
from memorata.model.namespace import namespace as checked_namespace
from memorata.store.port import Entry, Store
from memorata.text.analysers import Analyser
from memorata.text.dates import AnchorExtractor, RuleAnchors
from memorata.text.entities import EntityExtractor
from memorata.text.folding import contains_any, folded
from memorata.text.queries import QueryClassifier, RuleClassifier

BATCH: Final = 1_000
"""How many memories `remember_many` writes in one transaction."""

_MODES: Final = {mode.value: mode for mode in Duplicates}
_Item = TypeVar("_Item")
# The engine has a verb called list; inside its class the type goes by these names.
_Memories: TypeAlias = list[Memory]
_Texts: TypeAlias = list[str]
_Entries: TypeAlias = list[Entry]


class Engine(
    RecipeVerbs,
    FeedbackVerbs,
    ReembeddingVerbs,
    LifeVerbs,
    GraphVerbs,
    OnceVerbs,
    ExchangeVerbs,
    DuplicateVerbs,
    ContradictionVerbs,
    ReadingVerbs,
):
    """Memory: remember, recall, correct, forget.

    Made by :func:`memorata.open`; close it, or use it in a ``with`` statement.

    Parameters
    ----------
    store
        Where memories live.
    embedder
        Measures meaning; None for words alone.
    analyser
        Reads words; the same for as long as the store lives.
    clock
        Tells the time.
    random_bits
        Gives that many random bits, for identifiers.
    classifier
        Tells the type of a question.
    anchors
        Tells the time a question names.
    reranker
        Reads the best candidates again, for recipes that ask for it.
    extractor
        Reads what is remembered for names; None to take only the names that are given.
    read_dates
        Whether a day that a text names becomes the time it happened.
    redact
        Whether keys, tokens, card numbers and passwords are taken out of what is remembered.
    life
        The rules by which memories live; None for the usual ones.
    duplicates
        What `remember` does about what was said before: ``"near"``, ``"exact"`` or ``"off"``; see
        :class:`~memorata.engine.duplicate_modes.Duplicates`.
    notes
        What a person should know about how this was opened.
    logging
        Whether and how recalls are logged, to be learnt from.
    specification
        What opens the same embedder another day; None for one that cannot be named.
    lease_seconds
        How long after the last sign of life of a worker another may take its work over.
    absent
        Looks again for an embedder that could not be had; None where there is one, or none is wanted.
    """

    def __init__(
        self,
        store: Store,
        embedder: Embedder | None,
        analyser: Analyser,
        *,
        recipe: Recipe | str = "balanced",
        namespace: str = DEFAULT_NAMESPACE,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        random_bits: Callable[[int], int] = secrets.randbits,
        classifier: QueryClassifier | None = None,
        anchors: AnchorExtractor | None = None,
        reranker: Reranker | None = None,
        extractor: EntityExtractor | None = None,
        read_dates: bool = True,
        redact: bool = False,
        life: Life | Mapping[str, Any] | None = None,
        duplicates: str = "near",
        notes: Sequence[str] = (),
        logging: Logging | None = None,
        specification: str | None = None,
        lease_seconds: float = SECONDS,
        absent: Absent | None = None,
    ) -> None:
        self.store = store
        self.embedder = embedder
        self.specification = specification
        self._absent = absent
        self.analyser = analyser
        self.namespace = checked_namespace("namespace", namespace)
        self._saved = SavedRecipes(store)
        self.recipe = self._saved.named(self.namespace, recipe) if isinstance(recipe, str) else recipe
        self.notes = tuple(notes)
        self._clock = clock
        self.extractor = extractor
        self.life = Life.of(life)
        self.duplicates = _mode(duplicates)
        self._names = NameBook(store, extractor)
        mentioned = None if extractor is None else self._names.mentioned_by_all
        self._drafts = Drafts(clock, random_bits, mentioned, dated if read_dates else None, redact)
        self._repairing = Repairing(store, analyser)
        self.leasing = Leasing(store, clock, lease_seconds)
        how = Logging() if logging is None else logging
        self.recall_log = RecallLog(store, how, random_bits, self._drafts.clean_text)
        self.reranker = reranker
        self._classifier = RuleClassifier() if classifier is None else classifier
        self._anchors = RuleAnchors() if anchors is None else anchors
        if embedder is not None:
            store.use_embedder(embedder.name, embedder.dimension)
        self.notes = (*self.notes, *self._change_notes())

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the store."""
        self.recall_log.close()
        self.store.close()

    # --- remember -------------------------------------------------------------------------------------

    def remember(
        self,
        /,
        content: str,
        *,
        namespace: str | None = None,
        duplicates: str | None = None,
        **details: Any,  # noqa: ANN401 - the memory checks them
    ) -> Memory:
        """Remember one thing, verbatim; when this returns, it is on the disk.

        What was said before is written down all the same, but superseded by the earlier memory, which is
        returned instead: it has one more mention, and `repeats` tells of it. A turn of a transcript (a
        speaker, a session and a position in it) is an event, and never a repeat.

        Parameters
        ----------
        content
            What was said.
        namespace
            Whose memory; None for the engine's.
        duplicates
            What to do about what was said before: ``"near"``, ``"exact"`` or ``"off"``; None for the engine's
            setting.
        **details
            Any other field of :class:`~memorata.model.Memory`: category, tags, confidence, source, …
        """
        mode = self.duplicates if duplicates is None else _mode(duplicates)
        return self._add([self.draft(content, namespace=namespace, **details)], mode)[0]

    def remember_many(
        self,
        items: Iterable[Memory | Mapping[str, Any] | str],
        *,
        namespace: str | None = None,
        progress: Callable[[int], None] = lambda count: None,
        verbatim: bool = False,
        duplicates: str | None = None,
    ) -> _Memories:
        """Remember many things, a thousand per transaction.

        Each thousand is written whole or not at all. An item that has an `id` which the namespace knows
        already is left as it is, so an interrupted import can simply be run again.

        Parameters
        ----------
        items
            Memories, mappings of a memory's fields, or plain texts.
        namespace
            Whose memories, for items that do not say; None for the engine's.
        progress
            Called after every transaction with the number of items done so far.
        verbatim
            Whether to take items that are memories already as they are, without reading their texts for names
            and days, and without looking for duplicates.
        duplicates
            What to do about what was said before, as in `remember`. None for ``"exact"``, which costs next to
            nothing, unless the engine's setting is ``"off"``: `find_duplicates` is there for the rest.
        """
        checks.flag("verbatim", verbatim)
        # A text is a sequence of letters, and a mapping one of names, by accident.
        if isinstance(items, str | Mapping) or not isinstance(items, Iterable):
            raise InvalidArgument("items", items, "a list of memories, mappings with a content, or texts")
        mode = _mode(duplicates) if duplicates is not None else self._batch_mode(verbatim=verbatim)
        remembered: _Memories = []
        whose = self._namespace(namespace)
        done = 0
        for batch in _batches(items, BATCH):
            with collector_resting():
                remembered += self._take(batch, whose, mode, verbatim=verbatim)
            done += len(batch)
            progress(done)
        return remembered

    def draft(self, /, content: str, *, namespace: str | None = None, **details: Any) -> Memory:  # noqa: ANN401
        """Return the memory that `remember` would write, without writing it."""
        return self._drafts.draft(content, self._namespace(namespace), details)

    def correct(self, /, id: str, content: str, *, namespace: str | None = None, **details: Any) -> Memory:  # noqa: ANN401
        """Say something new in place of a memory; the old one stays readable in `history` and `as_of`.

        What is not given in `details` is taken over from the old memory: its category, tier, importance,
        tags, metadata, place, and whether it is pinned; of its names, those that its text does not mention;
        when it expires, unless it has by now or the new one is to be pinned.
        A place whose name the old text mentions and the new one does not is what was corrected, and is not
        taken over: whoever "lives in Berlin" and then "lives in Porto" no longer is where Berlin is.
        """
        old = self.get(id, namespace=namespace)
        kept = {
            name: getattr(old, name) for name in ("category", "tier", "importance", "pinned", "tags", "place")
        }
        # The words that its time was read from are not those of the new text.
        kept["metadata"] = {name: value for name, value in old.metadata.items() if name != PHRASE}
        read = {folded(name) for name in self._names.mentioned(old.content, old.namespace)}
        kept["entities"] = tuple(name for name in old.entities if folded(name) not in read)
        if old.place is not None:
            parts = {folded(part) for part in old.place.name.split(",") if part.strip()}
            if contains_any(old.content, parts) and not contains_any(checks.text("content", content), parts):
                kept["place"] = None
        if old.expires_at is not None and old.expires_at > self._clock() and not details.get("pinned"):
            kept["expires_at"] = old.expires_at
        return self.remember(content, namespace=old.namespace, supersedes=(old.id,), **(kept | details))

    # --- look -----------------------------------------------------------------------------------------

    # --- forget ---------------------------------------------------------------------------------------

    def forget(self, *ids: str, namespace: str | None = None) -> None:
        """Hide memories from every recall; `restore` brings them back."""
        path, wanted, now = self._namespace(namespace), _ids(ids), self._clock()
        self._repairing.run([path], lambda: self.store.forget(path, wanted, now))

    def restore(self, *ids: str, namespace: str | None = None) -> None:
        """Show forgotten memories again."""
        path, wanted = self._namespace(namespace), _ids(ids)
        self._repairing.run([path], lambda: self.store.restore(path, wanted))

    def purge(self, *ids: str, namespace: str | None = None) -> None:
        """Remove memories for good: content, vectors, words. This cannot be undone.

        Afterwards the store is written anew, so that not even its bytes hold a trace: that takes time in
        proportion to its size, once for all of the given memories. If other processes kept it from that,
        the memories are gone all the same, `PurgeUnfinished` is raised, and ``memorata vacuum`` finishes it.
        What only repeats them goes with them: what was said again and superseded for that, and summaries and
        merged memories that were made from them. What they corrected is current again.
        """
        path = self._namespace(namespace)
        wanted = self._with_copies(path, _ids(ids))
        self._before_purge()
        self._repairing.run([path], lambda: self.store.purge(path, wanted, (), self._repairing.words_of))

    # --- care -----------------------------------------------------------------------------------------

    def check(self, *, repair: bool = False) -> _Texts:
        """Return what is wrong with the store, in words; with `repair`, rebuild what is derived."""
        return self.store.check(self._repairing.words_of, repair=repair)

    # --- inside ---------------------------------------------------------------------------------------

    def _namespace(self, given: str | None) -> str:
        return self.namespace if given is None else checked_namespace("namespace", given)

    def _before_purge(self) -> None:
        self.recall_log.flush()
        self._saved.forget()

    def _meaning(self) -> Meaning:
        return Meaning(self.embedder, self.store, self._absence)

    def _batch_mode(self, *, verbatim: bool) -> Duplicates:
        off = verbatim or self.duplicates is Duplicates.OFF
        return Duplicates.OFF if off else Duplicates.EXACT

    def _take(
        self,
        batch: Sequence[Memory | Mapping[str, Any] | str],
        whose: str,
        mode: Duplicates,
        *,
        verbatim: bool,
    ) -> _Memories:
        """Remember the items of one transaction."""
        drafts = self._drafts.from_items(batch, whose, verbatim=verbatim)
        # Only an item that brought its own id can be known already.
        named = [draft for draft, item in zip(drafts, batch, strict=True) if has_id(item)]
        if known := self.store.known([(draft.namespace, draft.id) for draft in named]):
            drafts = [draft for draft in drafts if (draft.namespace, draft.id) not in known]
        return self._add(drafts, mode)

    def _add(self, drafts: Sequence[Memory], mode: Duplicates) -> _Memories:
        if not drafts:
            return []
        entries = self._entries(drafts)
        if not self._names.has_relations:
            return self._heard(entries, mode).survivors

        def take() -> _Memories:
            with self.store.together():
                heard = self._heard(entries, mode)
                self._relate_what_was_read(heard.fresh)
            return heard.survivors

        return self._repairing.run(sorted({draft.namespace for draft in drafts}), take)

    def _entries(self, drafts: Sequence[Memory]) -> _Entries:
        texts = [embedded_text(draft) for draft in drafts]
        vectors = self._meaning().of_documents(texts, [draft.namespace for draft in drafts])
        name = self.embedder.name if self.embedder is not None else ""
        entries = []
        for draft, (digest, rows) in zip(drafts, vectors, strict=True):
            embedder = name if rows is not None else ""
            memory = draft.stamped(fingerprint=fingerprint(draft.content), embedder=embedder)
            entries.append(Entry(memory, words_of(memory, self.analyser), rows, digest))
        return entries


def _mode(given: str) -> Duplicates:
    return _MODES[checks.one_of("duplicates", given, tuple(_MODES))]


def _ids(ids: Iterable[str]) -> list[str]:
    return [memory_id("id", id_) for id_ in ids]


def _batches(items: Iterable[_Item], size: int) -> Iterator[list[_Item]]:
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch
