"""A recall from the query to the hits: parse, embed, search, cut to the budget, report what degraded."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from time import perf_counter
from typing import Final, TypeVar

import numpy as np

from memorata._frozen import frozen
from memorata.embed.port import Reranker
from memorata.embed.token_table import TokenTable
from memorata.engine.embedding import CurrentEmbedder, Embedding
from memorata.engine.recall.confidence import Estimates
from memorata.engine.recall.conversation import background, embedded_with, with_names
from memorata.engine.recall.evidence import continues, requirements_of
from memorata.engine.recall.fusion import Trace
from memorata.engine.recall.history import EMPTY, Newest, newest_first
from memorata.engine.recall.hits import grouped, hits_at, sessions_within
from memorata.engine.recall.null import Null, Nulls
from memorata.engine.recall.query import (
    Names,
    ParsedQuery,
    RecallContext,
    Request,
    parse_query,
    possible_entities,
    possible_names,
    undone_aliases,
    with_speakers,
)
from memorata.engine.recall.ranking import run
from memorata.engine.recall.result import (
    MissedThreshold,
    RecalledPeriod,
    RecallResult,
    Rejected,
    SessionHit,
    within_budget,
)
from memorata.engine.recall.time_scope import (
    TimeScope,
    bounded,
    happened_in,
    named_time,
    scope_of,
    time_of_event,
)
from memorata.engine.recipes import blends_two
from memorata.engine.rules import DEFAULT_RULES, LifecycleRules
from memorata.engine.runtime import Runtime
from memorata.index.codes import Floats
from memorata.index.record import replaced
from memorata.index.search import NamespaceIndex
from memorata.model import checks
from memorata.model.hit import Hit
from memorata.rank.records import best_sessions
from memorata.text.dates import AnchorExtractor, tells_past
from memorata.text.language import familiarity
from memorata.text.queries import QueryClassifier, has_content, without_false_start
from memorata.text.tokens import folded

_Result = TypeVar("_Result")
_SEVERAL_SENTENCES: Final = re.compile(r"[.!?…。！？].", re.DOTALL)
"""Only after a sentence can a query correct itself; most are one sentence."""
_MAX_NAMED_WORDS: Final = 3
"""Most words named in the note on words that exclude nothing."""


@frozen(eq=False)
class Recalls:
    """Answers the requests of an engine, each with the embedder of the moment."""

    runtime: Runtime
    embedding: CurrentEmbedder
    classifier: QueryClassifier
    reranker: Reranker | None
    anchors: AnchorExtractor
    tables: Sequence[TokenTable] = ()
    nulls: Nulls = field(default_factory=Nulls)

    def answer(self, request: Request, variants: Sequence[str] = ()) -> RecallResult:
        """Answer a request; with variants of its query, or samples, also say how far the answers agree."""
        if request.recipe.vector_pool:
            self.embedding.retry()
        runtime, meaning = self.runtime, self.embedding.meaning()
        parts = self.classifier, self.reranker, self.anchors, runtime.rules, self.tables
        recaller = Recaller(runtime, meaning, *parts, self.nulls)
        result = recaller.answer(request)
        if variants or request.recipe.samples:
            from memorata.engine.recall.agreement import agreed

            result = agreed(recaller, request, result, checks.texts("variants", variants))
        return result


@frozen(eq=False)
class Recaller:
    """The parts of a recall that are the same for all queries."""

    runtime: Runtime
    meaning: Embedding
    classifier: QueryClassifier
    reranker: Reranker | None
    anchors: AnchorExtractor
    life: LifecycleRules = DEFAULT_RULES
    tables: Sequence[TokenTable] = ()
    nulls: Nulls = field(default_factory=Nulls)

    def answer(self, request: Request) -> RecallResult:
        """Return the result of a recall."""
        started = perf_counter()
        recipe = request.recipe
        text, meant = request.text, tuple[str, ...]()
        if request.conversation:
            text, meant = with_names(text, request.conversation)
        if _SEVERAL_SENTENCES.search(text):
            text = without_false_start(text)
        query = parse_query(text, self.runtime.analyser)
        if recipe.entity_weight:
            query = replace(query, entities=possible_entities(query, self.runtime.analyser))
        names = possible_names(query, self.runtime.analyser) if recipe.speakers_apart else {}
        hasty = recipe.speakers_apart and query.text.islower()
        naming = names if names or hasty else None
        waits = request.vector is None and recipe.vector_pool and not self.meaning.quick
        if naming is not None and (waits or request.conversation):
            query, naming = self._named(request, query, naming), None
        read_at = perf_counter()
        # With a fast embedder the speakers that the query names are read in the same view as the search.
        embedded = None if naming is not None else self._embedded(request, query)
        searched, replica_failure = self._look(
            request, partial(self._search, request, query, naming, embedded)
        )
        if naming is not None and self._undone(request, searched.embedded.query):
            embedded = self._embedded(request, self._named(request, query, naming))
            searched, replica_failure = self._look(
                request, partial(self._search, request, query, None, embedded)
            )
        embedded = searched.embedded
        query = embedded.query
        newest = self._newest_first(request, searched)
        hits, shown, refused = newest.hits, len(newest.hits), searched.refused
        if request.budget is not None:
            shown = within_budget([hit.memory.content for hit in hits], request.budget)
            refused = refused[: within_budget([hit.memory.content for hit in refused], request.budget)]
        positions = [*dict.fromkeys(searched.positions[rank] for rank in newest.ranks[:shown])]
        done = perf_counter()
        return RecallResult(
            hits=hits[:shown],
            history=newest.history,
            sessions=sessions_within(searched.sessions, shown),
            degraded=self._degraded(
                request,
                [
                    embedded.failure_reason,
                    _not_excluded(query.not_excluded),
                    *searched.failures,
                    replica_failure,
                ],
                searched.pending if embedded.vector is not None else 0,
            ),
            rejected=searched.rejected,
            refused=refused,
            recipe=recipe.name,
            embedder=embedded.embedder,
            omitted=len(hits) - shown,
            id=request.id,
            milliseconds={
                "reading": (read_at - started) * 1e3,
                "embedding": embedded.seconds * 1e3,
                "search": (done - read_at - embedded.seconds) * 1e3,
            },
            trace=None if searched.trace is None else searched.trace.seen(positions),
            change=searched.change,
            methods=searched.methods,
            period=searched.period,
            aliases=query.aliases,
            meant=meant,
            estimates=searched.estimates,
        )

    def _embedded(self, request: Request, query: ParsedQuery) -> _Embedded:
        """Return the query as it is searched, with its vector."""
        started = perf_counter()
        if request.vector is not None and query.topic:
            # The caller's vector is of the whole query, not of its topic.
            query = replace(query, topic="")
        text = _text_to_embed(query)
        if request.conversation:
            query = replace(query, background=background(query, request.conversation, self.runtime.analyser))
            text = embedded_with(text, request.conversation)
        vector, failure_reason = None, ""
        if request.recipe.vector_pool:
            vector, failure_reason = self.meaning.query(text, request.vector, request.namespace)
        name, noise, embedder = "", 0.0, self.meaning.embedder
        if embedder is not None:
            name, noise = embedder.name if vector is not None else "", embedder.similarity_threshold
        return _Embedded(query, vector, failure_reason, name, noise, perf_counter() - started)

    def _newest_first(self, request: Request, searched: _SearchResult) -> Newest:
        """Return the hits with newer memories in the places of older ones; as they are for the past."""
        hits, namespace = searched.hits, request.namespace
        past = searched.period is not None and searched.period.end <= request.now
        about_past = past or request.as_of or request.true_at or request.sessions
        if about_past or not hits:
            return Newest(tuple(range(len(hits))), hits)
        store = self.runtime.store.contradictions
        former = [hit.memory.id for hit in hits if hit.memory.superseded_by is not None]
        successors = store.successors(namespace, former, request.now) if former else EMPTY
        ids = {hit.memory.id for hit in hits} | {memory.id for memory in successors.values()}
        notes = store.of_older(namespace, [*ids], searched.change)
        unseen = {note.newer for note in notes} - ids if request.unrestricted else set()
        newer = store.newer(namespace, [*unseen], request.now) if unseen else EMPTY
        return newest_first(hits, notes, successors, newer, limit=request.limit)

    def _named(self, request: Request, query: ParsedQuery, names: Names) -> ParsedQuery:
        """Return the query with the speakers that it names."""

        def read(view: NamespaceIndex, undone: frozenset[str] = frozenset()) -> ParsedQuery:
            share = request.recipe.speaker_share
            return with_speakers(query, names, view, self.runtime.analyser, share, undone)

        # A view of its own: none is kept open while the embedder works.
        named, _ = self._look(request, read)
        if undone := self._undone(request, named):
            named, _ = self._look(request, partial(read, undone=undone))
        return named

    def _undone(self, request: Request, query: ParsedQuery) -> frozenset[str]:
        """Return the words with undone aliases, if one of them was read as an alias."""
        if not query.aliases:
            return frozenset()
        undone = undone_aliases(self.runtime.store.saved_settings, request.namespace)
        return frozenset() if undone.isdisjoint(map(folded, query.aliases)) else undone

    def _look(self, request: Request, work: Callable[[NamespaceIndex], _Result]) -> tuple[_Result, str]:
        """Return the result of `work` on the request's view, and why that is not a replica's, if so."""
        look = partial(
            self.runtime.store.look,
            work,
            request.namespace,
            request.now,
            as_of=request.as_of,
            filter=request.seen,
            true_at=request.true_at,
            former=request.unrestricted,
            fresh=request.fresh,
        )
        return self.runtime.mended([request.namespace], look)

    def _search(
        self,
        request: Request,
        query: ParsedQuery,
        naming: Names | None,
        embedded: _Embedded | None,
        everything: NamespaceIndex,
    ) -> _SearchResult:
        """Search a view; for a query that is not embedded yet, read the speakers that it names first."""
        recipe = request.recipe
        if embedded is None and naming is not None:
            analyser = self.runtime.analyser
            query = with_speakers(query, naming, everything, analyser, recipe.speaker_share)
        status = everything.status
        if embedded is None:
            embedded = self._embedded(request, query)
        query, noise = embedded.query, embedded.noise
        recipe = recipe.for_limit(request.limit)
        view = bounded(everything, request.since, request.until)
        scope, unread = self._scope(request, query, view)
        if scope is not None and scope.period.end <= request.now and request.unrestricted:
            # What was corrected says nothing of the past that the newer one does not.
            slots = view.without(None, ())
            view = view.restricted(slots[~replaced(view.records(slots))])
        restricts, languages = recipe.temporal == "restrict", self.meaning.languages
        context = RecallContext(
            view=view if scope is None or not restricts else scope.view(view),
            query=query,
            classifier=self.classifier,
            vector=embedded.vector,
            least_similarity=recipe.similarity_for(noise),
            noise=noise,
            now=request.now,
            period=None if scope is None else scope.period,
            about_time=scope is not None and (scope.named.about or (scope.ahead and not scope.empty)),
            near=None if scope is None or not restricts else scope.near,
            here=request.near,
            reranker=self.reranker,
            runtime=self.runtime,
            namespace=request.namespace,
            as_of=request.as_of,
            life=self.life,
            tables=self.tables,
            familiarity=familiarity(query.text, languages) if languages else 1.0,
            reliability=self.meaning.reliability,
            null=self._null(request, everything, embedded),
            continues=continues(query.text),
        )
        ranked = run(recipe, context)
        if restricts and scope is not None and scope.restricts and not scope.holds(ranked.slots):
            scope = replace(scope.opened(view), empty=False, unmatched=True)
            opened = replace(context, view=view, near=scope.near, period=scope.period)
            ranked = run(recipe, opened)
        sessions: tuple[SessionHit, ...] = ()
        positions: Sequence[int]
        requirements = requirements_of(query, self.runtime.analyser, view.speakers)
        if request.sessions:
            numbers = view.records(ranked.slots)["session"]
            # Some fusions have negative scores; the sum of a session needs scores from 0 on.
            above = ranked.scores - min(0.0, float(ranked.scores.min(initial=0.0)))
            groups = best_sessions(numbers, above, request.limit)
            positions = [position for _, group in groups for position in group.tolist()]
            hits, rejected, estimates = hits_at(ranked, positions, view, requirements)
            sessions = grouped(groups, hits)
        else:
            # A diverse ranking must stay in the order it was made.
            varied = recipe.diversity != "none" or recipe.per_session
            depth = recipe.text_depth if request.limit and not varied else 0
            # One that takes the place of several leaves room for others.
            limit = request.limit
            if limit and request.unrestricted:
                limit += int(replaced(view.records(ranked.slots)).sum())
            positions = range(min(max(limit, depth), ranked.slots.size))
            hits, rejected, estimates = hits_at(ranked, positions, view, requirements, depth, limit)
            positions = list(map(positions.__getitem__, estimates.order))
        refused: tuple[Hit, ...] = ()
        answered = estimates.answered() if recipe.min_confidence and _gates(context) else 1.0
        if hits and answered < recipe.min_confidence:
            missed = MissedThreshold("answer", answered, recipe.min_confidence)
            rejected = Rejected(hits[0], (missed,))
            current = (hit for hit in hits[: request.limit] if hit.memory.superseded_by is None)
            refused = tuple(replace(hit, refused=True) for hit in current)
            hits, sessions, positions = (), (), ()
        return _SearchResult(
            embedded,
            hits,
            sessions,
            rejected if request.limit else None,
            refused,
            status.pending,
            ranked.trace,
            positions,
            (unread, *context.failures, recipe.shortfall(request.limit, view.status.count)),
            status.change,
            dict(status.methods),
            None
            if scope is None
            else scope.recalled_period(ranked.slots[np.array(positions, np.intp)], restricts),
            estimates,
        )

    def _null(self, request: Request, everything: NamespaceIndex, embedded: _Embedded) -> Null:
        """Return the null of what the request may find; of another moment it is not kept."""
        if embedded.vector is None:
            return Null.usual(0)
        present = request.as_of is None and request.true_at is None
        key = (request.namespace, request.seen) if present else None
        # A caller that brings the vector of a query may have an embedder that knows no other text.
        seconds = math.inf if request.vector is not None else embedded.seconds
        return self.nulls.of(key, everything, self.meaning, seconds)

    def _scope(
        self, request: Request, query: ParsedQuery, view: NamespaceIndex
    ) -> tuple[TimeScope | None, str]:
        """Return the time scope of the query, if any, and the failure of the extractor, if any."""
        if request.recipe.temporal == "none" and request.period is None:
            return None, ""
        read = partial(named_time, query.text, request.period, request.now)
        named = read(self.anchors, self.runtime.analyser)
        if named.reference is not None and request.recipe.temporal == "restrict":
            named = time_of_event(query.text, named.reference, view, request.now, self.runtime.analyser)
        scope = scope_of(view, named, request.now)
        if scope is None or request.period is not None:
            return scope, named.failure
        if scope.empty or not (scope.ahead or tells_past(query.text) or happened_in(view, scope.period)):
            # "In April" in a query of March may mean the next one: it does where nothing is of the last one,
            # and in a query that is not about the past.
            ahead = scope_of(view, read(self.anchors, self.runtime.analyser, nearest=True), request.now)
            if ahead is not None and (not ahead.empty or (scope.empty and not tells_past(query.text))):
                scope = ahead
        return scope, named.failure

    def _degraded(self, request: Request, failures: Sequence[str], pending: int) -> tuple[str, ...]:
        """Return notes on what could not be done as requested."""
        recipe = request.recipe
        degraded = [failure for failure in failures if failure]
        if pending:
            have, pronoun = ("memory has", "it") if pending == 1 else ("memories have", "those")
            degraded.append(f"{pending} {have} no vector of this embedder yet; words only for {pronoun}")
        if recipe.rerank_depth and self.reranker is None:
            degraded.append(f"recipe {recipe.name!r} asks for a re-ranker, and there is none")
        arguments = [name for name, value in (("near", request.near), ("period", request.period)) if value]
        if arguments and blends_two(recipe):
            verb = "has" if len(arguments) == 1 else "have"
            degraded.append(
                f"recipe {recipe.name!r} blends meaning and words alone: "
                f"{' and '.join(arguments)} {verb} no leg in it"
            )
        return tuple(degraded)


@frozen(eq=False)
class _Embedded:
    """A query with its vector, or the reason why it has none, and the seconds it took."""

    query: ParsedQuery
    vector: Floats | None
    failure_reason: str
    embedder: str
    """The name of the embedder; empty where there is no vector."""
    noise: float
    seconds: float


@frozen(eq=False)
class _SearchResult:
    """The result of the search of one view, and the query as it was read there."""

    embedded: _Embedded
    hits: tuple[Hit, ...]
    sessions: tuple[SessionHit, ...]
    rejected: Rejected | None
    refused: tuple[Hit, ...]
    pending: int
    trace: Trace | None
    positions: Sequence[int]
    failures: tuple[str, ...]
    change: int
    methods: Mapping[str, str]
    period: RecalledPeriod | None
    estimates: Estimates


def _gates(context: RecallContext) -> bool:
    """Return whether a recall may be refused for its confidence.

    A query for a time or a place asks for whatever is of it, and one without content for anything; before the
    null of the store is known, nothing is refused.
    """
    query = context.query
    asks = bool(query.terms or query.phrases) or context.vector is not None
    known = context.vector is None or context.null.known
    return asks and known and not context.about_time and context.here is None


def _text_to_embed(query: ParsedQuery) -> str:
    """Return the text to embed; empty for a query without content, such as a blank one."""
    # A query with a term or a phrase has content; only others need the slower test.
    if not query.terms and not query.phrases and not has_content(query.text):
        return ""
    return query.topic or query.text


def _not_excluded(words: Sequence[str]) -> str:
    """Return the note that words after a minus exclude nothing; empty if there are none."""
    if not words:
        return ""
    first, more = ", ".join(map(repr, words[:_MAX_NAMED_WORDS])), len(words) - _MAX_NAMED_WORDS
    named = f"{first} and {more} more" if more > 0 else first
    verb = "is" if len(words) == 1 else "are"
    return f'{named} {verb} too short or too common to be excluded; -"{words[0]}" leaves out what says it'
