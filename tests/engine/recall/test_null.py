"""The null of a store: what it says to unrelated questions tells queries about something else."""

from __future__ import annotations

import memorata
from memorata.embed.lexical import LexicalEmbedder
from memorata.embed.port import Vectors
from memorata.engine.recall.null import questions
from memorata.model import Source

FACTS = [
    "My dentist is Dr. Moreau in Elm Street.",
    "The car insurance ends on 3 March.",
    "Anna is allergic to peanuts.",
    "The bins are collected on Tuesdays.",
    "Ben plays the cello in an orchestra.",
    "We parked the car on level 3 of the garage.",
    "The neighbour's cat is called Figaro.",
    "The rent is 1,150 euros a month.",
]
KNOWN = [
    "Who is my dentist?",
    "What can Anna not eat?",
    "How much do I pay for the flat?",
    "Who plays the cello?",
]
ELSEWHERE = [
    "Which enzyme splits lactose?",
    "Who commanded the fleet at Trafalgar?",
    "How do I compile a kernel module?",
    "What is the capital of Burkina Faso?",
]


def test_queries_about_something_else_are_less_sure() -> None:
    with memorata.open(":memory:", embedder="builtin") as memory:
        memory.remember_many([{"content": fact} for fact in FACTS])
        known = [memory.recall(query, min_confidence=0).confidence for query in KNOWN]
        elsewhere = [memory.recall(query, min_confidence=0).confidence for query in ELSEWHERE]
    assert min(known) > max(elsewhere)


def test_one_fact_about_the_speaker_answers() -> None:
    with memorata.open(":memory:", embedder="builtin") as memory:
        fact = "I am Alex, I am a vegetarian and allergic to nuts."
        memory.remember(fact, source=Source(speaker="Alex"))
        found = memory.recall("what can I not eat?", min_confidence=0)
    assert found.hits[0].content == fact
    assert found.confidence > 0.5


class Slow(LexicalEmbedder):
    """One that is not quick, and notes what it embeds."""

    quick = False  # type: ignore[misc]

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def embed_query(self, text: str) -> Vectors:
        self.asked.append(text)
        return super().embed_query(text)


def test_a_slow_embedder_embeds_one_question_with_each_recall() -> None:
    embedder = Slow()
    with memorata.open(":memory:", embedder=embedder) as memory:
        memory.remember_many([{"content": fact} for fact in FACTS])
        for number in range(len(questions()) + 3):
            memory.recall(f"Who is my dentist {number}?", min_confidence=0)
            assert len(embedder.asked) == min(2 * (number + 1), number + 1 + len(questions()))
    assert sorted(set(questions())) == sorted(text for text in embedder.asked if "dentist" not in text)


def test_a_caller_that_brings_vectors_is_asked_for_no_others() -> None:
    class OfOneText(LexicalEmbedder):
        def embed_query(self, text: str) -> Vectors:
            raise KeyError(text)

    embedder = OfOneText()
    with memorata.open(":memory:", embedder=embedder) as memory:
        memory.remember_many([{"content": fact} for fact in FACTS])
        vector = embedder.embed_documents(["Who is my dentist?"])[0]
        found = memory.recall(memorata.Query("Who is my dentist?", vector=vector), min_confidence=0)
    assert found.hits[0].content == FACTS[0]


def test_a_least_confidence_replaces_the_thresholds_of_the_recipe() -> None:
    with memorata.open(":memory:", embedder="builtin") as memory:
        said = "I am Alex, I am a vegetarian and allergic to nuts."
        memory.remember(said, source={"speaker": "Alex", "role": "user"})
        memory.remember_many([{"content": fact} for fact in FACTS])
        assert memory.recall("what can I not eat?", min_confidence=0.05).hits[0].content == said
        sure = memory.recall("what can I not eat?", min_confidence=0.5)
        assert (sure.hits, sure.refused[0].content) == ((), said)
