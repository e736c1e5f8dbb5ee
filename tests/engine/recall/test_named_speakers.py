from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

import memorata
from memorata.embed.lexical import LexicalEmbedder
from memorata.embed.port import Vectors
from memorata.engine.recall.query import ParsedQuery, parse_query, possible_names, with_speakers
from memorata.index.search import NamespaceIndex
from memorata.model import InvalidArgument, Source
from memorata.model.query import Query
from memorata.text import ANALYSERS
from memorata_graph import Graph
from memorata_graph.entities import SpeakerAlias

NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)
SNOWBALL = ANALYSERS["snowball"]
TALK = [
    ("Anna", "I painted a horse."),
    ("Ben", "Anna, that is great, Anna!"),
    ("Anna", "Ben, the lake was nice."),
    ("Ben", "I paint walls."),
    ("Zoe Miles", "I paint, too."),
]


@pytest.fixture
def talking() -> Iterator[Callable[[list[tuple[str, str]]], memorata.Engine]]:
    with ExitStack() as stack:

        def make(talk: list[tuple[str, str]]) -> memorata.Engine:
            memory = stack.enter_context(memorata.open(":memory:", embedder="lexical", clock=lambda: NOW))
            for speaker, text in talk:
                memory.remember(text, source=Source(speaker=speaker, session="s1"))
            return memory

        yield make


def named(text: str, view: NamespaceIndex, share: float = 0.2) -> ParsedQuery:
    query = parse_query(text, SNOWBALL)
    return with_speakers(query, possible_names(query, SNOWBALL), view, SNOWBALL, share)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("What does Anna paint?", ["Anna"]),
        ("Anna and Ben and Anna's horse", ["Anna", "Ben"]),
        # Lower case is no name, nor is what the analyser leaves out, nor a number.
        ("what does anna paint? Which ones? 7 OK", []),
        # What is quoted is wanted as it stands.
        ('who said "Anna paints"?', []),
        # Hebrew and Han have no capitals; German has many.
        ("מה אנה מציירת", ["אנה", "מציירת"]),
        ("Was malt Anna in Wien?", ["Anna", "Wien"]),
        ("", []),
    ],
)
def test_names_have_a_capital_letter_where_there_are_any(asked: str, words: list[str]) -> None:
    assert list(possible_names(parse_query(asked, SNOWBALL), SNOWBALL)) == words


@pytest.mark.parametrize(
    ("asked", "speakers", "topic"),
    [
        ("What does Anna paint?", ("anna",), "What does paint?"),
        ("What do Anna and Ben paint?", ("anna", "ben"), "What do and paint?"),
        ("Anna's horse", ("anna",), "'s horse"),
        # One of two words of a name is enough to look for her.
        ("What does Zoe paint?", ("zoe",), "What does paint?"),
        # Nobody who speaks, or nothing else that is asked for.
        ("What does Carl paint?", (), ""),
        ("Who is Anna?", (), ""),
        ("Anna and Ben", (), ""),
    ],
)
def test_a_named_speaker_is_told_from_what_is_asked(
    talking: Callable[..., memorata.Engine], asked: str, speakers: tuple[str, ...], topic: str
) -> None:
    with talking(TALK).store.view("default", NOW) as view:
        found = named(asked, view)
    assert (found.speakers, found.topic) == (speakers, topic)
    assert found.text == asked


def test_who_says_little_stays_in_what_is_embedded(talking: Callable[..., memorata.Engine]) -> None:
    with talking(TALK).store.view("default", NOW) as view:
        # Anna says two of five, Zoe one.
        found = named("What do Anna and Zoe paint?", view, share=0.4)
        assert (found.speakers, found.topic) == (("anna", "zoe"), "What do and Zoe paint?")
        assert named("What does Anna paint?", view, share=0.41).topic == "What does Anna paint?"


def test_the_roots_of_a_name_are_not_looked_for_either(talking: Callable[..., memorata.Engine]) -> None:
    memory = talking([("Мария", "Я рисую лошадей"), ("Иван", "Мария, отлично!")])
    query = parse_query("Что рисует Мария?", SNOWBALL)
    with memory.store.view("default", NOW) as view:
        found = named("Что рисует Мария?", view)
    assert found.speakers
    assert set(found.roots) < set(query.roots)
    assert len(query.roots) - len(found.roots) == 1


@pytest.mark.parametrize(
    ("asked", "speaker", "terms"),
    [
        ("¿Qué le gusta pintar a Carmen?", "Carmen", {"gust": 1, "pint": 1, "carmen": 1}),
        ("Was malt Günther denn gern?", "Günther", {"malt": 1, "gern": 1, "günther": 1}),
        ("Pourquoi est-ce que Marie veut peindre ?", "Marie", {"veut": 1, "peindr": 1, "mari": 1}),
    ],
)
def test_a_speaker_is_looked_for_as_speakers_are_read_whatever_the_language_of_the_question(
    talking: Callable[..., memorata.Engine], asked: str, speaker: str, terms: dict[str, int]
) -> None:
    with talking([(speaker, "Mmm."), ("Ben", "Aha.")]).store.view("default", NOW) as view:
        found = named(asked, view)
    assert found.terms == terms
    assert found.speakers == tuple(SNOWBALL.tokens(speaker))


def test_a_name_that_is_not_looked_for_stays_in_what_is_embedded(
    talking: Callable[..., memorata.Engine],
) -> None:
    with talking(TALK).store.view("default", NOW) as view:
        found = named("What does Anna paint, but not -anna", view)
    assert (found.speakers, found.topic) == ((), "")


def test_what_only_names_her_is_not_found_by_her_name(talking: Callable[..., memorata.Engine]) -> None:
    memory, asked = talking(TALK[:4]), "What did Anna paint?"
    apart = memory.recall(asked, recipe={"base": "bm25", "speakers_apart": True}).hits
    whole = memory.recall(asked, recipe="bm25").hits
    assert [hit.memory.content for hit in apart] == [
        "I painted a horse.",
        "I paint walls.",
        "Ben, the lake was nice.",
    ]
    assert "Anna, that is great, Anna!" in [hit.memory.content for hit in whole]
    assert "Anna in speaker" in str(apart[0].explanation)


def test_among_several_who_talk_her_name_counts_a_little_in_what_others_say(
    talking: Callable[..., memorata.Engine],
) -> None:
    memory, asked = talking([*TALK, ("Zoe Miles", "Anna broke it.")]), "What did Anna paint?"
    hits = memory.recall(asked, recipe={"base": "bm25", "speakers_apart": True}).hits
    said = [hit.memory.content for hit in hits]
    assert said[:2] == ["I painted a horse.", "I paint, too."]
    assert said.index("Anna broke it.") > said.index("Ben, the lake was nice.")


def test_an_explanation_says_what_was_embedded_if_not_the_question(
    talking: Callable[..., memorata.Engine],
) -> None:
    memory, asked = talking(TALK), "What did Anna paint?"
    assert "compared with “What did paint?”" in str(memory.recall(asked).hits[0].explanation)
    vector = LexicalEmbedder().embed_query(asked)
    for query, recipe in ((Query(asked, vector=vector), None), (asked, {"speaker_share": 0.5})):
        assert "compared with" not in str(memory.recall(query, recipe=recipe).hits[0].explanation)


class _Noting(LexicalEmbedder):
    """An embedder that notes which questions it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def embed_query(self, text: str) -> Vectors:
        self.asked.append(text)
        return super().embed_query(text)


def test_the_question_is_embedded_without_the_name() -> None:
    embedder = _Noting()
    with memorata.open(":memory:", embedder=embedder, clock=lambda: NOW) as memory:
        for speaker, text in TALK:
            memory.remember(text, source=Source(speaker=speaker))
        embedder.asked.clear()
        memory.recall("What did Anna paint?")
        memory.recall("What did Anna paint?", recipe={"speaker_share": 0.5})
        memory.recall("What did Anna paint?", recipe={"speakers_apart": False})
        memory.recall("What did Anna paint?", recipe="vector")
        # A vector that is given is taken as it is.
        memory.recall(
            Query("What did Anna paint?", vector=np.full(embedder.dimension, 512**-0.5, np.float32))
        )
    whole = "What did Anna paint?"
    asked = [text for text in embedder.asked if "paint" in text]
    assert asked == ["What did paint?", whole, whole, whole]


FRIENDS = [
    ("Melanie", "I painted a sunrise."),
    ("Caroline", "Mel, that is great!"),
    ("Caroline", "I painted a horse, Mel."),
    ("Melanie", "Thanks, we paint a lot in May."),
]


@pytest.mark.parametrize(
    ("asked", "aliases", "speaker"),
    [
        ("What did Mel paint?", {"Mel": "Melanie"}, "Melanie"),
        ("What did Carloine paint?", {"Carloine": "Caroline"}, "Caroline"),
        ("what did melanei paint", {"melanei": "Melanie"}, "Melanie"),
        # In quotation marks a word stands for itself, and so does one that is the name of nobody.
        ('What did "Mel" paint?', {}, None),
        ("What did Ben paint?", {}, None),
        ("What did Melanie paint?", {}, "Melanie"),
    ],
)
def test_nicknames_and_misspelt_names_are_those_of_who_speaks(
    talking: Callable[[list[tuple[str, str]]], memorata.Engine],
    asked: str,
    aliases: dict[str, str],
    speaker: str | None,
) -> None:
    found = talking(FRIENDS).recall(asked)
    assert found.aliases == aliases
    assert found.as_dict()["aliases"] == aliases
    assert speaker is None or found.hits[0].memory.source.speaker == speaker


def test_a_nickname_that_nobody_uses_or_that_fits_several_stands_for_itself(
    talking: Callable[[list[tuple[str, str]]], memorata.Engine],
) -> None:
    memory = talking([*FRIENDS, ("Carola", "Hi.")])
    assert memory.recall("What did Caro paint?").aliases == {}
    assert memory.recall("What did Melan paint?").aliases == {}
    assert memory.recall("What did Mel paint?").aliases == {"Mel": "Melanie"}


def test_who_speaks_since_is_known_to_the_next_query(
    talking: Callable[[list[tuple[str, str]]], memorata.Engine],
) -> None:
    memory = talking(FRIENDS)
    assert memory.recall("What did Gabriella paint?").aliases == {}
    memory.remember("I painted a fox.", source=Source(speaker="Gabriela", session="s2"))
    assert memory.recall("What did Gabriella paint?").aliases == {"Gabriella": "Gabriela"}


def test_an_alias_is_undone_for_who_brings_a_vector_too(
    talking: Callable[[list[tuple[str, str]]], memorata.Engine],
) -> None:
    memory = talking(FRIENDS)
    assert memory.embedder is not None
    vector = memory.embedder.embed_query("What did Mel paint?")
    assert memory.recall(Query("What did Mel paint?", vector=vector)).aliases == {"Mel": "Melanie"}
    Graph(memory).entities.undo_alias("Mel")
    undone = memory.recall(Query("What did Mel paint?", vector=vector))
    assert undone.aliases == {}
    assert [hit.memory.id for hit in undone] == [
        hit.memory.id for hit in memory.recall("What did Mel paint?")
    ]


def test_an_alias_is_listed_undone_for_good_and_restored(
    talking: Callable[[list[tuple[str, str]]], memorata.Engine],
) -> None:
    memory = talking(FRIENDS)
    mel = SpeakerAlias("Mel", "Melanie", 2)
    assert Graph(memory).entities.aliases() == (mel,)
    Graph(memory).entities.undo_alias("mel")
    Graph(memory).entities.undo_alias("Mel")
    assert Graph(memory).entities.aliases() == (replace(mel, undone=True),)
    assert memory.recall("What did Mel paint?").aliases == {}
    assert memory.recall("What did Carloine and Mel paint?").aliases == {"Carloine": "Caroline"}
    Graph(memory).entities.undo_alias("Carloine")
    assert SpeakerAlias("carloine", "Caroline", 0, undone=True) in Graph(memory).entities.aliases()
    Graph(memory).entities.undo_alias("Mel", restore=True)
    assert memory.recall("What did Mel and Carloine paint?").aliases == {"Mel": "Melanie"}
    with pytest.raises(InvalidArgument, match="one that was undone"):
        Graph(memory).entities.undo_alias("Mel", restore=True)
