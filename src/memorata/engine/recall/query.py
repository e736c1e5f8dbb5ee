"""The query of a recall: its checked arguments, parsed text and names, and the context of a search."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from memorata._frozen import frozen
from memorata.embed.port import Reranker, Vectors
from memorata.embed.token_table import TokenTable
from memorata.engine.recall.null import Null
from memorata.engine.recipes import Recipe
from memorata.engine.rules import DEFAULT_RULES, LifecycleRules
from memorata.index.search import NamespaceIndex
from memorata.model import checks
from memorata.model.checks import FloatArray
from memorata.model.entity import Period, Place
from memorata.model.hit import Explanation
from memorata.model.query import Query, When
from memorata.text.analysers import Analyser, roots, term_counts
from memorata.text.known_names import alias_of
from memorata.text.language import DETECTED_LANGUAGES, detect, tells_language
from memorata.text.queries import Classification, FallibleClassifier, QueryClassifier, RuleClassifier
from memorata.text.relations import asked_relations
from memorata.text.tokens import folded, is_unspaced
from memorata.text.tokens import words as cut

if TYPE_CHECKING:
    from memorata.engine.runtime import Runtime
    from memorata.store.filters import Filter
    from memorata.store.saved_settings import SavedSettingStore

_Item = TypeVar("_Item")
_EXAMPLES: Final = {"Period": "Period(start, end) of two datetimes", "Place": "Place(48.857, 2.352)"}
# No phrase contains its own opening mark: otherwise many unclosed marks would take quadratic time.
_PHRASE: Final = re.compile(
    r'"([^"]+)"|“([^“”]+)”|«([^«»]+)»|„([^„“”]+)[“”]|”([^“”„]+)”|「([^「」]+)」|『([^『』]+)』'
)
_MARKED: Final = re.compile(r'["“”«„「『]|(?<!\S)-')
# One letter after a minus is an option of a command, as in "kubectl apply -f", and a few digits are a number
# below zero, as in "-15.5 °C": both stand for themselves. A year may be excluded.
_EXCLUDED: Final = re.compile(
    r"(?<!\S)-(?!(?:[a-zA-Z]|[0-9]{1,3}(?:[.,][0-9]+)?[%‰]?(?:°\w?)?)[.,;:!?)]*(?:\s|$))(\w\S*)"
)
_MAX_AMBIGUOUS_LETTERS: Final = 60
"""Up to this many characters a query may be too short to detect its language."""
_OTHER_LANGUAGES: Final = tuple(
    language for language in DETECTED_LANGUAGES if language not in ("english", "russian")
)
_PLAIN_WORD: Final = re.compile(r"\w+")
_EXCLUDING: Final = re.compile(r"(?<!\S)-$")
_AFTER_WORDS: Final = ".,;:!?…)]}'’-"
"""Characters after a word that are no part of it, as the signs of C++ and C# are."""


@frozen(eq=False)
class Request:
    """The checked arguments of a recall."""

    text: str
    limit: int
    sessions: bool
    namespace: str
    recipe: Recipe
    filter: Filter | None
    now: datetime
    as_of: datetime | None
    true_at: datetime | None
    period: Period | None
    near: Place | None
    budget: int | None
    vector: checks.Numbers | None
    since: datetime | None = None
    until: datetime | None = None
    conversation: tuple[str, ...] = ()
    fresh: bool = False
    id: str = ""
    """The id that feedback refers to; empty for a recall that is not logged."""

    @classmethod
    def of(
        cls,
        query: Query,
        namespace: str,
        recipe: Recipe,
        now: datetime,
        when: When,
        *,
        id: str,
        limit: int,
        filter: Mapping[str, Any] | None,
        budget: int | None,
        history: Sequence[str],
    ) -> Request:
        """Return the request of a caller's arguments; raise :class:`InvalidArgument` for a bad one."""
        return cls(
            text=query.text,
            limit=checks.whole("limit", limit),
            sessions=query.sessions,
            namespace=namespace,
            recipe=recipe,
            filter=parsed_filter(filter),
            now=now,
            as_of=checks.optional_instant("as_of", when.as_of),
            true_at=checks.optional_instant("true_at", when.true_at),
            period=when.period,
            near=query.near,
            budget=None if budget is None else checks.whole("budget", budget),
            vector=query.vector,
            since=checks.optional_instant("since", when.since),
            until=checks.optional_instant("until", when.until),
            conversation=checks.writable_texts("history", history),
            fresh=when.fresh,
            id=id,
        )

    @property
    def unrestricted(self) -> bool:
        """Whether nothing is filtered, and no moment but the present is asked for.

        A memory outside a filter may be unwanted, or not allowed to be read.
        """
        moments = (self.as_of, self.true_at, self.since, self.until)
        return self.filter is None and not self.sessions and all(moment is None for moment in moments)

    @property
    def seen(self) -> Filter | None:
        """The filter, without untrusted memories where the recipe gives them no weight.

        They are no candidates either, whose number is limited.
        """
        if self.recipe.untrusted_weight:
            return self.filter
        from memorata.store.filters import And

        trusted = parsed_filter({"untrusted": False})
        assert trusted is not None  # its argument is not None
        return trusted if self.filter is None else And((self.filter, trusted))


def parsed_filter(data: Mapping[str, Any] | None) -> Filter | None:
    """Return the condition that plain data describes; None for none."""
    if data is None:
        return None
    # Most recalls have no filter, and do not load what parses one.
    from memorata.store.filters import parse

    return parse(data)


@frozen
class ParsedQuery:
    """A query, parsed."""

    text: str
    terms: Mapping[str, int]
    phrases: tuple[str, ...]
    excluded: tuple[str, ...]
    excluded_phrases: tuple[str, ...] = ()
    not_excluded: tuple[str, ...] = ()
    roots: Mapping[str, int] = field(default_factory=dict)
    read_otherwise: Callable[[], Mapping[str, int]] = field(default=dict, compare=False)
    speakers: tuple[str, ...] = ()
    topic: str = ""
    background: Mapping[str, float] = field(default_factory=dict)
    """Terms of the conversation before it, and the weight of each, where one of the query has 1."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Words of the query that are nicknames or misspellings of speakers, and the speakers' names."""
    entities: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    relations: frozenset[str] = frozenset()


def parse_query(text: str, analyser: Analyser) -> ParsedQuery:
    """Parse a query: terms, relations, quoted phrases, and terms and phrases excluded with a minus."""
    if not _MARKED.search(text):
        cleaned = " ".join(text.split())
        terms = term_counts(analyser.tokens(cleaned))
        reread = partial(_read_otherwise, cleaned, terms, (), analyser)
        counts, relations = term_counts(roots(cleaned)), asked_relations(cleaned)
        return ParsedQuery(cleaned, terms, (), (), roots=counts, read_otherwise=reread, relations=relations)
    included: list[str] = []
    phrases: list[str] = []
    marked: list[str] = []
    excluded_phrases: list[str] = []
    excluding = False
    # Split at every phrase: the text outside, then a group for each kind of quotation mark. Inside them a
    # minus has no meaning.
    for place, piece in enumerate(_PHRASE.split(text)):
        if place % (_PHRASE.groups + 1) == 0:
            marked += _EXCLUDED.findall(piece)
            left = _EXCLUDED.sub(" ", piece)
            excluding = _EXCLUDING.search(left) is not None
            included.append(left)
        elif piece is not None and piece.strip():
            if excluding:
                included[-1] = included[-1][:-1]
                excluded_phrases.append(piece.strip())
            else:
                included.append(piece)
                phrases.append(piece)
    cleaned = " ".join(" ".join(included).split())
    without, literal, unlisted = _excluded(marked, cleaned, analyser)
    terms = term_counts(analyser.tokens(cleaned))
    for term in without:
        terms.pop(term, None)
    unwanted = tuple(dict.fromkeys((*excluded_phrases, *literal)))
    reread = partial(_read_otherwise, cleaned, terms, without, analyser)
    counts, relations = term_counts(roots(cleaned)), asked_relations(cleaned)
    read = cleaned, terms, tuple(phrases), without, unwanted, unlisted, counts, reread
    return ParsedQuery(*read, relations=relations)


def _read_otherwise(
    text: str, terms: Mapping[str, int], without: Sequence[str], analyser: Analyser
) -> dict[str, int]:
    """Return the terms of a short query of unknown language in every other language."""
    if not terms or analyser.language != "detect" or not (analyser.stop or analyser.stemming):
        return {}
    if len(text) > _MAX_AMBIGUOUS_LETTERS or tells_language(cut(text)):
        return {}
    other_terms: dict[str, int] = {}
    for language in _OTHER_LANGUAGES:
        other_terms |= term_counts(analyser.tokens_in(text, (language, "russian")))
    return {term: times for term, times in other_terms.items() if term not in terms and term not in without}


def readers(analyser: Analyser, text: str) -> tuple[Analyser, ...]:
    """Return the analysers of a word alone and of a word of a text, in the language of the text."""
    if analyser.language != "detect":
        return (analyser,)
    languages = dict.fromkeys((detect(text), analyser.read(text)[1][0]))
    return (analyser, *(replace(analyser, language=language) for language in languages))


def _excluded(
    words: Sequence[str], query: str, analyser: Analyser
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Return the terms of excluded words, of each alone and in the language of the query.

    A word alone seldom shows its language, and „Katzen" is one term in German and another in English. Second,
    the words to be excluded literally: many texts have either part of "UAV-001". Third, the words that are no
    term of any text, which may be options of a command ("rm -rf").
    """
    if not words:
        return (), (), ()
    reading = readers(analyser, " ".join([query, *words]))
    terms: list[str] = []
    literal: list[str] = []
    unlisted: list[str] = []
    for word in (marked.rstrip(_AFTER_WORDS) for marked in words):
        if len(cut(word)) > 1 or not _PLAIN_WORD.fullmatch(word) or (len(word) == 1 and is_unspaced(word)):
            literal.append(word)
        elif read := [term for reader in reading for term in reader.tokens(word)]:
            terms += read
        else:
            unlisted.append(word)
    return tuple(dict.fromkeys(terms)), tuple(literal), tuple(dict.fromkeys(unlisted))


_WORD: Final = re.compile(r"[^\W\d_]\w*")

Names: TypeAlias = Mapping[str, tuple[str, ...]]
"""Words that may be names, and the terms of each."""


@lru_cache(maxsize=4_096)
def word_terms(analyser: Analyser, word: str) -> tuple[str, ...]:
    """Return the terms of one word by itself."""
    return tuple(analyser.tokens(word))


def possible_names(query: ParsedQuery, analyser: Analyser) -> dict[str, tuple[str, ...]]:
    """Return the words of a query that may be names, and the terms of each.

    A possible name has a capital letter, or is of a script without capitals, and is neither in quotation
    marks, which make it literal, nor dropped by the analyser. "the assistant" is no name, even as a speaker.
    """
    quoted = {term for phrase in query.phrases for term in analyser.tokens(phrase)}
    names: dict[str, tuple[str, ...]] = {}
    for word in dict.fromkeys(_WORD.findall(query.text)):
        if word[0] == word[0].lower() != word[0].upper():
            continue
        terms = word_terms(analyser, word)
        if terms and not quoted.intersection(terms):
            names[word] = terms
    return names


def with_speakers(
    query: ParsedQuery,
    names: Names,
    view: NamespaceIndex,
    analyser: Analyser,
    share: float,
    undone: Collection[str] = (),
) -> ParsedQuery:
    """Return the query with the speakers that it names.

    `undone` are folded words that are not read as nicknames or misspellings.
    """
    speaker_names = view.speakers().names
    if not speaker_names:
        return query
    names, aliases, count, frequencies = _spoken_names(query, names, view, speaker_names, analyser, undone)
    speaking = {word: terms for word, terms in names.items() if all(frequencies[term] for term in terms)}
    asking = _as_names(query, speaking, analyser)
    speaking = {word: terms for word, terms in speaking.items() if asking.keys() >= set(terms)}
    speakers = {term for terms in speaking.values() for term in terms}
    if not speakers or (speakers >= asking.keys() and not aliases):
        return query
    least = share * count
    common = {word for word, terms in speaking.items() if min(map(frequencies.__getitem__, terms)) >= least}
    return replace(
        query,
        terms=asking,
        speakers=tuple(term for term in asking if term in speakers),
        aliases=aliases,
        topic=_without(query.text, common),
        roots=term_counts(roots(_without(query.text, set(speaking)))),
    )


def _spoken_names(
    query: ParsedQuery,
    names: Names,
    view: NamespaceIndex,
    speakers: frozenset[str],
    analyser: Analyser,
    undone: Collection[str],
) -> tuple[Names, dict[str, str], int, dict[str, int]]:
    """Return the possible names of a query, with nicknames and misspelt names replaced by those of speakers.

    Also the replaced words and their names, the number of memories, and the number of memories by speaker
    term. A nickname has to occur in the content of memories, and a misspelt name must not.
    """

    def terms_of(words: Names) -> tuple[str, ...]:
        return tuple(dict.fromkeys(term for terms in words.values() for term in terms))

    count, frequencies = view.document_frequencies(terms_of(names), field="speaker")
    unknown = {word: terms for word, terms in names.items() if not all(frequencies[term] for term in terms)}
    if not names and query.text.islower():
        # A query without any capital letter may have names, too.
        unknown = {word: terms for word in _WORD.findall(query.text) if (terms := word_terms(analyser, word))}
    if not unknown:
        return names, {}, count, frequencies
    _, mentioned = view.document_frequencies(terms_of(unknown))
    read: dict[str, tuple[str, ...]] = dict(names)
    aliases: dict[str, str] = {}
    for word, terms in unknown.items():
        name = "" if folded(word) in undone else alias_of(word, speakers)
        used = any(mentioned[term] for term in terms)
        if name and used == folded(name).startswith(folded(word)):
            read[word], aliases[word] = word_terms(analyser, name), name
    if not aliases:
        return names, {}, count, frequencies
    return read, aliases, *view.document_frequencies(terms_of(read), field="speaker")


UNDONE_ALIAS: Final = "undone_alias"
"""The kind of saved setting that stops a word from being read as an alias; its name is the word, folded."""


def undone_aliases(settings: SavedSettingStore, namespace: str) -> frozenset[str]:
    """Return the words of a namespace, folded, that are not read as nicknames or misspelt names."""
    return frozenset(setting.name for setting in settings.list(namespace, UNDONE_ALIAS))


def _as_names(query: ParsedQuery, speaking: Names, analyser: Analyser) -> dict[str, int]:
    """Return the terms of a query, with names analysed as those of speakers are: as single words.

    A query is read in its language, in which "Carmen" may be another term: in Spanish it is "carm".
    """
    terms = dict(query.terms)
    differing = {word: alone for word, alone in speaking.items() if not terms.keys() >= set(alone)}
    if differing:
        *_, reader = readers(analyser, query.text)
        for word, alone in differing.items():
            inside = reader.tokens(word)
            if inside and terms.keys() >= set(inside):
                times = max(terms.pop(term) for term in set(inside))
                terms |= dict.fromkeys(alone, times)
    return terms


def _without(text: str, names: set[str]) -> str:
    return " ".join(_WORD.sub(lambda match: "" if match[0] in names else match[0], text).split())


_MAX_NAME_WORDS: Final = 4
"""Most words of a name: Bank of New England."""


def possible_entities(query: ParsedQuery, analyser: Analyser) -> dict[str, tuple[str, ...]]:
    """Return the runs of words of a query that may be names, folded, and the terms of each."""
    text = query.text
    places = [match.span() for match in _PLAIN_WORD.finditer(text)]
    reading = readers(analyser, text)
    terms = [
        [term for reader in reading for term in reader.tokens(text[start:end]) if term in query.terms]
        for start, end in places
    ]
    entities: dict[str, tuple[str, ...]] = {}
    for first, (start, _) in enumerate(places):
        for last in range(first, min(first + _MAX_NAME_WORDS, len(places))):
            if terms[first] and terms[last]:
                within = dict.fromkeys(term for of_word in terms[first : last + 1] for term in of_word)
                entities.setdefault(folded(text[start : places[last][1]]), tuple(within))
    return entities


def named_terms(terms: Collection[str], query: ParsedQuery, view: NamespaceIndex) -> list[str]:
    """Return the terms that name an entity of some memory, alone or in a run of :func:`possible_entities`."""
    runs = query.entities
    _, of_entities = view.document_frequencies(tuple(terms), field="entities")
    _, mentioned = view.document_frequencies((*terms, *runs), field="names")
    within = {term for run, inside in runs.items() if mentioned[run] for term in inside}
    return [term for term in terms if of_entities[term] or mentioned[term] or term in within]


Explain: TypeAlias = Callable[[int], Explanation]
"""Explains the score of the candidate at a position after a step."""

Step: TypeAlias = tuple[FloatArray, Explain]
"""New scores and their explanation."""


@frozen(eq=False)
class RecallContext:
    """The input of a search besides the recipe: the view, the query and the moment.

    `least_similarity` is the cosine that passes the gate by itself; `noise` the cosine up to which texts are
    likely unrelated, by the embedder's calibration. `about_time` says that the query is about the period
    only, and not one detail of it among others; `near` is the nearness of each memory to it, by slot, where
    the recipe restricts to it; `here` is the place to search around. `runtime` and `namespace` are for legs
    that need more than the view, `as_of` is the state of belief. `tables` have the vectors of tokens;
    `familiarity` is how well the embedder knows the query's language, `reliability` the weight of its cosines
    beside words; `null` is that of the store. `continues` says that the query continues a conversation.
    `life` ages confidences; `failures` collects notes on steps that failed.
    """

    view: NamespaceIndex
    query: ParsedQuery
    classifier: QueryClassifier
    vector: Vectors | None
    least_similarity: float
    noise: float
    now: datetime
    period: Period | None
    about_time: bool = False
    near: FloatArray | None = None
    here: Place | None = None
    reranker: Reranker | None = None
    runtime: Runtime | None = None
    namespace: str = ""
    as_of: datetime | None = None
    life: LifecycleRules = DEFAULT_RULES
    tables: Sequence[TokenTable] = ()
    familiarity: float = 1.0
    reliability: float = 1.0
    null: Null = Null.usual(0)
    continues: bool = False
    failures: list[str] = field(default_factory=list)
    kinds: list[Classification] = field(default_factory=list)

    def query_type(self) -> Classification:
        """Return the type of the query; cached, as a language model may be slow."""
        if not self.kinds:
            classifier = self.classifier
            if isinstance(classifier, RuleClassifier) or not isinstance(classifier, FallibleClassifier):
                self.kinds.append(classifier.classify(self.query.text))
            else:
                kind, failure = classifier.read(self.query.text)
                self.kinds.append(kind)
                self.failures.extend([failure] if failure else [])
        return self.kinds[0]
