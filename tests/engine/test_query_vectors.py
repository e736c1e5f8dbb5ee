"""Vectors of queries for servers: computed together, kept within bounds, apart by namespace."""

import threading
from collections.abc import Sequence

import numpy as np
import pytest

import memorata
from memorata.embed.lexical import LexicalEmbedder
from memorata.engine.query_vectors import (
    MAX_CHARACTERS,
    QueryVectors,
    only_computes,
    prepare_to_serve,
    shared_cost,
    turn_of,
)
from memorata.model.errors import EmbedderError


class Recorder(LexicalEmbedder):
    """Notes what is computed together; waits at the gate, and fails for a query of one word."""

    queries_vary = False
    quick = False  # type: ignore[misc] # one that takes its time, unlike its base

    def __init__(self) -> None:
        super().__init__()
        self.batches: list[list[str]] = []
        self.alone: list[str] = []
        self.gate = threading.Event()
        self.gate.set()
        self.entered = threading.Event()

    def embed_query(self, text: str) -> np.ndarray:
        self.alone.append(text)
        return super().embed_query(text)

    def embed_queries(self, texts: Sequence[str]) -> list[np.ndarray]:
        self.batches.append(list(texts))
        self.entered.set()
        assert self.gate.wait(30)
        if "broken" in texts:
            raise EmbedderError("broken")
        if "unforeseen" in texts:
            raise ZeroDivisionError
        if "stopped" in texts:
            raise SystemExit
        return [super(Recorder, self).embed_query(text) for text in texts]


def ask_together(vectors: QueryVectors, embedder: Recorder, texts: Sequence[str]) -> dict[str, object]:
    """Ask for the first; when it is being computed, for the others, each from a thread of its own."""
    results: dict[str, object] = {}

    def ask(text: str) -> None:
        try:
            results[text] = vectors.vector(embedder, "a", text)
        except (EmbedderError, ZeroDivisionError) as error:
            results[text] = error

    embedder.gate.clear()
    threads = [threading.Thread(target=ask, args=(text,)) for text in texts]
    threads[0].start()
    assert embedder.entered.wait(30)
    for number, thread in enumerate(threads[1:], 1):
        thread.start()
        while len(vectors._waiting) < number:
            pass
    embedder.gate.set()
    for thread in threads:
        thread.join(30)
    return results


def test_what_arrives_while_the_embedder_is_busy_is_computed_together() -> None:
    embedder, vectors = Recorder(), QueryVectors(max_batch=3)
    texts = [f"what about tea {number}?" for number in range(6)]
    results = ask_together(vectors, embedder, texts)
    assert embedder.batches == [texts[:1], texts[1:4], texts[4:]]
    for text in texts:
        np.testing.assert_array_equal(results[text], LexicalEmbedder().embed_query(text))


def test_an_error_reaches_those_of_its_batch_alone_and_is_not_kept() -> None:
    embedder, vectors = Recorder(), QueryVectors(max_batch=2)
    results = ask_together(vectors, embedder, ["first", "broken", "beside", "later"])
    assert [type(results[text]) for text in ("broken", "beside")] == [EmbedderError] * 2
    assert [type(results[text]) for text in ("first", "later")] == [np.ndarray] * 2
    assert vectors.vector(embedder, "a", "beside") is not None


def test_an_error_that_nobody_foresaw_is_raised_to_everybody_in_the_batch() -> None:
    vectors = QueryVectors()
    results = ask_together(vectors, Recorder(), ["first", "unforeseen", "beside"])
    assert [type(results[text]) for text in ("unforeseen", "beside")] == [ZeroDivisionError] * 2


def test_queries_for_two_embedders_are_never_computed_together() -> None:
    embedder, other, vectors = Recorder(), Recorder(), QueryVectors()
    embedder.gate.clear()
    first = threading.Thread(target=vectors.vector, args=(embedder, "a", "first"))
    first.start()
    assert embedder.entered.wait(30)
    waiting = [
        threading.Thread(target=vectors.vector, args=(each, "a", f"tea {number}"))
        for number, each in enumerate([embedder, other, other, embedder])
    ]
    for number, thread in enumerate(waiting, 1):
        thread.start()
        while len(vectors._waiting) < number:
            pass
    embedder.gate.set()
    for thread in (first, *waiting):
        thread.join(30)
    assert embedder.batches == [["first"], ["tea 0", "tea 3"]]
    assert other.batches == [["tea 1", "tea 2"]]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_who_is_stopped_in_the_middle_lets_nobody_wait() -> None:
    vectors, embedder = QueryVectors(), Recorder()
    results = ask_together(vectors, embedder, ["first", "stopped", "tea in the garden"])
    # One of the two computed for both and was stopped; the other is told.
    assert len(embedder.batches) == 2
    assert set(results) - {"first"}
    assert all(isinstance(results[text], EmbedderError) for text in set(results) - {"first"})


def test_a_repeated_query_is_kept_for_its_namespace_alone() -> None:
    embedder, vectors = Recorder(), QueryVectors(cached=2)
    for namespace in ("a", "a", "b", "b", "a"):
        vectors.vector(embedder, namespace, "green tea")
    assert embedder.batches == [["green tea"]] * 2
    vectors.vector(embedder, "a", "black tea")
    vectors.vector(embedder, "b", "green tea")
    assert len(embedder.batches) == 4, "b's was used longest ago"


def test_a_long_query_and_one_of_a_service_are_computed_alone() -> None:
    embedder, vectors = Recorder(), QueryVectors()
    vectors.vector(embedder, "a", "tea " * MAX_CHARACTERS)
    assert len(embedder.alone) == 1
    assert not embedder.batches


def test_a_vector_that_depends_on_statistics_is_never_kept() -> None:
    embedder, vectors = Recorder(), QueryVectors()
    embedder.queries_vary = True
    for _ in range(2):
        vectors.vector(embedder, "a", "green tea")
    assert len(embedder.alone) == 2


def test_the_cost_of_a_batch_is_shared() -> None:
    embedder, vectors = Recorder(), QueryVectors()
    before = shared_cost()
    vectors.vector(embedder, "a", "green tea")
    assert shared_cost() == pytest.approx(before), "who computes alone pays for all of it"


def test_queries_of_like_length_are_computed_together_and_the_oldest_is_among_them() -> None:
    embedder, vectors = Recorder(), QueryVectors(max_batch=2)
    ask_together(vectors, embedder, ["first", "t", "a long one", "u", "another one"])
    assert embedder.batches == [["first"], ["t", "u"], ["a long one", "another one"]]


class Crowd:
    """Threads that each take a turn, ask for a vector in it, and note what they do."""

    def __init__(self, vectors: QueryVectors, embedder: Recorder) -> None:
        self.vectors, self.embedder = vectors, embedder
        self.noted: list[str] = []
        self.inside = 0

    def ask(self, text: str) -> None:
        with self.vectors.turn():
            self._note(f"begin {text}")
            self.inside -= 1
            self.vectors.vector(self.embedder, "a", text)
            self.inside += 1
            self._note(f"end {text}")
            self.inside -= 1

    def _note(self, event: str) -> None:
        if event.startswith("begin"):
            self.inside += 1
        assert self.inside == 1, "two threads at once"
        self.noted.append(event)


def test_turns_are_taken_one_after_the_other_and_queries_gather_meanwhile() -> None:
    embedder, vectors = Recorder(), QueryVectors(takes_turns=True)
    crowd = Crowd(vectors, embedder)
    embedder.gate.clear()
    threads = [threading.Thread(target=crowd.ask, args=(text,)) for text in ("tea 0", "tea 1", "tea 2")]
    threads[0].start()
    assert embedder.entered.wait(30)
    for number, thread in enumerate(threads[1:], 1):
        thread.start()
        while len(vectors._ready) < number:
            pass
    embedder.gate.set()
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()
    assert embedder.batches == [["tea 0"], ["tea 1", "tea 2"]]
    assert crowd.noted[:4] == ["begin tea 0", "end tea 0", "begin tea 1", "begin tea 2"]
    assert sorted(crowd.noted[4:]) == ["end tea 1", "end tea 2"]
    assert not vectors._taken


def test_turns_that_need_no_vector_do_not_keep_a_query_waiting_for_ever() -> None:
    embedder, vectors = Recorder(), QueryVectors(takes_turns=True)
    done = threading.Event()
    turns = 0

    def take_turns() -> None:
        nonlocal turns
        while not done.is_set():
            with vectors.turn():
                turns += 1

    threads = [threading.Thread(target=take_turns) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for number in range(50):
            with vectors.turn():
                vectors.vector(embedder, "a", f"tea {number}")
    finally:
        done.set()
        for thread in threads:
            thread.join(30)
    assert len(embedder.batches) == 50
    assert turns


def test_who_has_no_turn_does_not_wait_for_one() -> None:
    embedder, vectors = Recorder(), QueryVectors(takes_turns=True)
    other = threading.Thread(target=vectors.vector, args=(embedder, "a", "tea"))
    with vectors.turn():
        other.start()
        other.join(30)
        assert not other.is_alive(), "it may hold a lock that this one needs"


def test_a_long_query_lets_the_next_have_its_turn() -> None:
    embedder, vectors = Recorder(), QueryVectors(takes_turns=True)
    entered, gate = threading.Event(), threading.Event()
    embed_query = embedder.embed_query

    def slow(text: str) -> np.ndarray:
        entered.set()
        assert gate.wait(30)
        return embed_query(text)

    embedder.embed_query = slow  # type: ignore[method-assign]
    long = threading.Thread(target=Crowd(vectors, embedder).ask, args=("tea " * MAX_CHARACTERS,))
    long.start()
    assert entered.wait(30)
    with vectors.turn():
        vectors.vector(embedder, "a", "tea")
    gate.set()
    long.join(30)
    assert embedder.batches == [["tea"]]
    assert not vectors._taken


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_who_is_stopped_in_a_turn_passes_it_on() -> None:
    embedder, vectors = Recorder(), QueryVectors(takes_turns=True)
    stopped = threading.Thread(target=Crowd(vectors, embedder).ask, args=("stopped",))
    stopped.start()
    stopped.join(30)
    Crowd(vectors, embedder).ask("tea")
    assert embedder.batches == [["stopped"], ["tea"]]
    assert not vectors._waiting


def test_recalls_take_turns_in_a_process_for_one_processor() -> None:
    embedder = Recorder()
    with (
        memorata.open(":memory:", embedder=embedder) as memory,
        memorata.open(":memory:", embedder=embedder) as other,
    ):
        memory.remember("Anna prefers green tea.")
        prepare_to_serve(memory, models=other)
        assert memory.recall("green tea").hits, "it is loaded now"
        with turn_of(memory, memory.namespace):
            assert memory._embedding.queries is not None
            assert memory._embedding.queries._taken
            assert memory.recall("green tea").hits
        prepare_to_serve(other)
        with turn_of(other, other.namespace):
            assert other._embedding.queries is not None
            assert not other._embedding.queries._taken


def test_a_server_answers_as_the_library_does() -> None:
    with memorata.open(":memory:", embedder="builtin") as memory:
        memory.remember_many(["Anna prefers green tea.", "Bob moved to Lisbon."])
        before = memory.recall("what does Anna drink?")
        prepare_to_serve(memory)
        for _ in range(2):
            after = memory.recall("what does Anna drink?")
            assert [(hit.memory.id, hit.score) for hit in after] == [
                (hit.memory.id, hit.score) for hit in before
            ]


def test_a_recall_only_computes_once_its_namespace_is_loaded() -> None:
    with memorata.open(":memory:", embedder=None) as memory:
        memory.remember("Anna lives in Porto.", namespace="a")
        memory.remember("Ben lives in Oslo.", namespace="b")
        memory.recall("Porto", namespace="a")
        assert only_computes(memory, "a")
        assert not only_computes(memory, "b")
        memory.recall("Oslo", namespace="b")
        assert only_computes(memory, "b")
