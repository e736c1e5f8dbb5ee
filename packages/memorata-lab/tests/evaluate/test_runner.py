"""The runner: every question with every recipe, once, the same every time, and nothing of the labels."""

import json
import re
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest

import memorata
from memorata import When
from memorata.embed.lexical import LexicalEmbedder
from memorata.engine import RECIPES, Engine, Recipe
from memorata.engine import open as open_engine
from memorata.model.errors import DatasetError, InvalidArgument, MemorataError
from memorata.store.dialects import SqliteStore
from memorata_lab.evaluate import runner
from memorata_lab.evaluate.dataset import Document, Haystack, Question, labels_name, read_labels
from memorata_lab.evaluate.run_file import Run, read_machine, read_run
from memorata_lab.evaluate.runner import UNDATED, RunFile, code_version, corpus_of, document_text, run

MAY = datetime(2023, 5, 7, tzinfo=UTC)
TALK = Haystack(
    "haystack-secret",
    (
        Document("gold-1", "I drink green tea.", "", MAY, "Anna", "answer-1", 0),
        Document("other-1", "The train was late.", "", MAY, "Bob", "answer-1", 1),
        Document("other-2", "We painted the kitchen blue.", "", MAY, "Anna", "noise-1", 0),
        Document("gold-2", "My boat is called Heron.", "", MAY, "Bob", "noise-1", 1),
        Document("other-3", "Green paint is cheaper than blue.", "", MAY, "Anna", "noise-2", 0),
    ),
    (
        Question("q1", "Which tea does Anna drink?", "food", None, {"gold-1": 1.0}, {"answer-1": 1.0}),
        Question("q2", "What is the boat called?", "names", MAY, {"gold-2": 1.0}, {"noise-1": 1.0}),
        Question("q3", "Xylophone?", "food", answerable=False),
    ),
)
NOTE = Haystack("second", (Document("d", "A note about Lisbon."),), (Question("q4", "Lisbon?", "names"),))
WORDS = RECIPES["bm25"]

# Without a re-ranker, recipes that ask for one cannot be measured.
MEASURED = [recipe for recipe in RECIPES.values() if not recipe.rerank_depth]


@dataclass(frozen=True)
class Made:
    """A data set in memory."""

    name: str = "made up"
    sha256: str = "0123456789abcdef"
    dropped: Mapping[str, int] = field(default_factory=dict)
    stacks: tuple[Haystack, ...] = (TALK, NOTE)

    def haystacks(self) -> Iterator[Haystack]:
        return iter(self.stacks)

    def __len__(self) -> int:
        return len(self.stacks)


def rankings(file: RunFile) -> dict[str, list[str]]:
    return {name: [item for item, _ in each.ranking] for name, each in read_run(file.path).answers.items()}


def untimed(found: Run) -> list[tuple[object, ...]]:
    return [
        (each.question, each.kind, each.ranking, each.top, each.abstained) for each in found.answers.values()
    ]


def test_the_version_of_the_code_is_of_every_package_that_a_ranking_passes_through() -> None:
    root = Path(memorata.__file__).parent
    hashed = {path.relative_to(root) for pattern in runner._SOURCES for path in root.glob(pattern)}
    packages = {path.parts[0] for path in hashed}
    imported = {
        package
        for path in hashed
        for package in re.findall(
            r"^\s*(?:from|import) memorata\.([a-z]+)", (root / path).read_text("utf-8"), re.M
        )
    }
    assert not imported - packages


def test_every_question_is_ranked_under_the_ids_of_the_set(tmp_path: Path) -> None:
    (file,) = run(Made(), [WORDS], embedder=None, folder=tmp_path)
    found = rankings(file)
    assert list(found) == ["q1", "q2", "q3", "q4"]
    assert (found["q1"][0], found["q2"][0], found["q3"], found["q4"]) == ("gold-1", "gold-2", [], ["d"])
    assert (file.recipe, file.asked, file.known) == ("bm25", 4, 0)


def test_sessions_are_ranked_as_the_engine_ranks_them(tmp_path: Path) -> None:
    (file,) = run(Made(), [WORDS], embedder=None, folder=tmp_path, granularity="session")
    found = rankings(file)
    assert found["q1"][0] == "answer-1"
    assert found["q2"][0] == "noise-1"
    assert found["q4"] == []  # a document of no session
    assert all(len(set(order)) == len(order) for order in found.values())


def test_the_header_says_what_was_run_on_what(tmp_path: Path) -> None:
    files = run(Made(), [WORDS, RECIPES["vector"]], embedder=LexicalEmbedder(), folder=tmp_path, depth=3)
    words, meaning = (read_run(file.path).header for file in files)
    assert (words.dataset, words.sha256, words.granularity) == ("made up", "0123456789abcdef", "turn")
    assert words.recipe == WORDS.as_dict() | {"depth": 3}
    assert words.code == code_version()
    # Words alone are the same with every embedder.
    assert words.embedder == ""
    assert meaning.embedder == LexicalEmbedder().name


def test_the_depth_is_kept(tmp_path: Path) -> None:
    (file,) = run(Made(), [RECIPES["vector"]], embedder=LexicalEmbedder(), folder=tmp_path, depth=2)
    assert len(rankings(file)["q1"]) == 2


def test_the_gate_shows_in_abstaining_and_not_in_the_ranking(tmp_path: Path) -> None:
    strict = Recipe(name="strict", least_similarity=1.0, least_match=1.0)
    (file,) = run(Made(), [strict], embedder=LexicalEmbedder(), folder=tmp_path)
    answer = read_run(file.path).answers["q2"]
    assert answer.abstained
    assert len(answer.ranking) == 5
    assert answer.top is not None
    assert 0 < answer.top < 1


def test_all_shipped_recipes_run(tmp_path: Path) -> None:
    files = run(Made(), MEASURED, embedder=LexicalEmbedder(), folder=tmp_path)
    assert [file.recipe for file in files] == [recipe.name for recipe in MEASURED]
    assert all(rankings(file)["q1"][0] == "gold-1" for file in files)


@pytest.mark.untraced
def test_the_same_run_twice_is_identical(tmp_path: Path) -> None:
    recipes = MEASURED
    first, second = (
        run(Made(), recipes, embedder=LexicalEmbedder(), folder=tmp_path / name) for name in ("one", "two")
    )
    for one, two in zip(first, second, strict=True):
        assert untimed(read_run(one.path)) == untimed(read_run(two.path))


def test_a_haystack_is_remembered_where_one_says(tmp_path: Path) -> None:
    places: list[Path] = []

    @contextmanager
    def place() -> Iterator[str]:
        places.append(tmp_path / f"{len(places)}.db")
        yield str(places[-1])
        assert places[-1].stat().st_size > 0

    in_memory = run(Made(), [WORDS], embedder=None, folder=tmp_path / "memory")
    in_files = run(Made(), [WORDS], embedder=None, folder=tmp_path / "files", place=place)
    assert len(places) == 2
    assert untimed(read_run(in_files[0].path)) == untimed(read_run(in_memory[0].path))


@pytest.mark.untraced
def test_a_haystack_is_remembered_once_for_all_recipes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    real = open_engine

    def counting(*arguments: object, **options: object) -> object:
        opened.append(str(arguments[0]))
        return real(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(runner, "open_engine", counting)
    run(Made(), MEASURED, embedder=LexicalEmbedder(), folder=tmp_path)
    assert len(opened) == 2


# --- nothing leaks ------------------------------------------------------------------------------------------


def test_nothing_of_labels_or_ids_is_in_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dumps: list[bytes] = []
    real = SqliteStore.close

    def close(store: SqliteStore) -> None:
        dumps.append(bytes(store._connection.serialize()))
        real(store)

    monkeypatch.setattr(SqliteStore, "close", close)
    run(Made(), [WORDS], embedder=LexicalEmbedder(), folder=tmp_path)
    assert len(dumps) == 2
    assert b"green tea" in dumps[0]
    for secret in (b"gold", b"other-", b"answer", b"noise", b"secret", b"q1", b"food"):
        assert not any(secret in dump for dump in dumps)


def test_labels_and_machine_are_written_beside_the_runs(tmp_path: Path) -> None:
    files = run(Made(), [WORDS, RECIPES["vector"]], embedder=LexicalEmbedder(), folder=tmp_path)
    labels = read_labels(tmp_path / labels_name("made up", "0123456789abcdef"))
    assert [(each.id, each.kind, each.answerable) for each in labels][2:] == [
        ("q3", "food", False),
        ("q4", "names", True),
    ]
    assert labels[0].relevant == {"gold-1": 1.0}
    for file in files:
        found = read_machine(file.path)
        assert found is not None
        assert found.embedding_p50 is not None


# --- interruptions ------------------------------------------------------------------------------------------


def test_what_was_answered_is_not_asked_again(tmp_path: Path) -> None:
    (first,) = run(Made(), [WORDS], embedder=None, folder=tmp_path)
    before = first.path.read_bytes()
    (again,) = run(Made(), [WORDS], embedder=None, folder=tmp_path)
    assert (again.asked, again.known) == (0, 4)
    assert again.path.read_bytes() == before


def test_an_interruption_in_the_middle_is_taken_up(tmp_path: Path) -> None:
    (whole,) = run(Made(), [WORDS], embedder=None, folder=tmp_path / "whole")

    def stop(done: float, doing: str) -> None:
        if done > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(Made(), [WORDS], embedder=None, folder=tmp_path / "cut", progress=stop)
    (cut,) = run(Made(), [WORDS], embedder=None, folder=tmp_path / "cut")
    assert (cut.asked, cut.known) == (2, 2)
    assert untimed(read_run(cut.path)) == untimed(read_run(whole.path))


KILLED = """
    import sys, time
    from pathlib import Path
    from memorata.engine import RECIPES
    from memorata_lab.evaluate import runner
    from memorata_lab.evaluate.dataset import Document, Haystack, Question
    from memorata_lab.evaluate.runner import run

    # Sources that are edited between two of these processes are not what is tested here.
    runner.code_version = lambda: "fixed"

    class Made:
        name, sha256, dropped = "numbers", "0123456789abcdef", {}

        def haystacks(self):
            for number in range(40):
                texts = [f"word{number}x{each} tea" for each in range(5)]
                documents = tuple(Document(f"d{number}-{each}", text) for each, text in enumerate(texts))
                yield Haystack(f"h{number}", documents, (Question(f"q{number}", texts[number % 5]),))

        def __len__(self):
            return 40

    def slowly(done, doing):
        time.sleep(float(sys.argv[2]))

    run(Made(), [RECIPES["bm25"]], embedder=None, folder=Path(sys.argv[1]), progress=slowly)
"""


def test_a_killed_process_is_taken_up_by_the_next(tmp_path: Path) -> None:
    script = tmp_path / "killed.py"
    script.write_text(textwrap.dedent(KILLED))

    def started(folder: str, pause: float) -> "subprocess.Popen[bytes]":
        return subprocess.Popen([sys.executable, str(script), str(tmp_path / folder), str(pause)])

    with started("cut", 0.05) as process:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            files = list((tmp_path / "cut").glob("*.bm25.jsonl"))
            if files and files[0].read_bytes().count(b"\n") > 5:
                break
            time.sleep(0.02)
        process.kill()
        process.wait()
    (path,) = (tmp_path / "cut").glob("*.bm25.jsonl")
    assert 5 <= len(read_run(path).answers) < 40
    # As if the machine had gone down in the middle of a line.
    with path.open("ab") as file:
        file.write(b'{"question": "q3')
    for folder in ("cut", "whole"):
        with started(folder, 0.0) as process:
            assert process.wait() == 0
    (whole,) = (tmp_path / "whole").glob("*.bm25.jsonl")
    assert untimed(read_run(path)) == untimed(read_run(whole))
    assert len(read_run(path).answers) == 40


# --- what cannot be run -------------------------------------------------------------------------------------


def test_a_file_of_another_run_is_refused_and_left_alone(tmp_path: Path) -> None:
    (file,) = run(Made(), [WORDS], embedder=None, folder=tmp_path)
    before = file.path.read_bytes()
    with pytest.raises(DatasetError, match="another run: its recipe"):
        run(Made(), [WORDS], embedder=None, folder=tmp_path, depth=7)
    assert file.path.read_bytes() == before
    (again,) = run(Made(), [WORDS], embedder=None, folder=tmp_path, depth=7, again=True)
    assert (again.asked, again.known) == (4, 0)


def test_a_recipe_that_cannot_be_run_as_it_should_is_not_measured(tmp_path: Path) -> None:
    with pytest.raises(MemorataError, match="'vector' cannot be measured: no embedder"):
        run(Made(), [RECIPES["vector"]], embedder=None, folder=tmp_path)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"granularity": "word"}, "granularity must be one of"),
        ({"depth": 0}, "depth must be a whole number of at least 1"),
        ({"recipes": []}, "recipes must be at least one"),
        ({"recipes": [WORDS, WORDS]}, "each with a name of its own"),
    ],
)
def test_bad_arguments_are_refused(tmp_path: Path, options: dict[str, object], complaint: str) -> None:
    corpus: dict[str, object] = {"recipes": [WORDS]} | options
    with pytest.raises(InvalidArgument, match=complaint):
        run(Made(), embedder=None, folder=tmp_path / "runs", **corpus)  # type: ignore[arg-type]
    assert not (tmp_path / "runs").exists()


def test_the_file_is_plain_json_lines(tmp_path: Path) -> None:
    (file,) = run(Made(), [WORDS], embedder=None, folder=tmp_path)
    assert file.path.name == "made-up-01234567.turn.words.bm25.jsonl"
    assert [json.loads(line).get("question") for line in file.path.read_text("utf-8").splitlines()] == [
        None,
        "q1",
        "q2",
        "q3",
        "q4",
    ]


NOW = datetime(2026, 5, 7, tzinfo=UTC)
QUESTION = "which green tea does Anna like"
TEXTS = [
    "Anna likes green tea",
    "green tea grows on hills",
    "Anna likes Bob",
    "Bob likes coffee",
    "the train to Lisbon was late",
    "a lamp, a coat and a piano",
    "Anna wrote about the sea",
    "which way is the station",
]


@pytest.fixture
def engine() -> Iterator[Engine]:
    with open_engine(":memory:", embedder="lexical", clock=lambda: NOW) as memory:
        memory.remember_many([{"id": f"m{number}", "content": text} for number, text in enumerate(TEXTS)])
        yield memory


def scores(engine: Engine, recipe: Recipe) -> dict[str, float]:
    hits = engine.recall(QUESTION, recipe=recipe, limit=50, when=When(now=NOW)).hits
    return {hit.memory.id: hit.score for hit in hits}


@pytest.mark.parametrize("name", RECIPES)
def test_what_passed_the_gate_has_the_same_score_and_order(engine: Engine, name: str) -> None:
    closed = scores(engine, RECIPES[name])
    wide = scores(engine, RECIPES[name].ungated())
    assert {id_: wide[id_] for id_ in closed} == closed
    if RECIPES[name].diversity == "none":
        assert [id_ for id_ in wide if id_ in closed] == list(closed)


@pytest.mark.parametrize("name", [name for name, recipe in RECIPES.items() if recipe.vector_pool])
def test_every_candidate_is_shown(engine: Engine, name: str) -> None:
    assert len(scores(engine, RECIPES[name].ungated())) == len(TEXTS)


def test_words_alone_need_no_embedder() -> None:
    with open_engine(":memory:", embedder=None, clock=lambda: NOW) as engine:
        engine.remember("green tea")
        assert len(scores(engine, RECIPES["balanced"].ungated())) == 1


MAY_2023 = datetime(2023, 5, 7, tzinfo=UTC)
JUNE = datetime(2023, 6, 1, tzinfo=UTC)
TURNS = (
    Document("gold-1", "I like tea.", when=MAY_2023, speaker="Anna", session="answer-a", position=0),
    Document("gold-2", "I sail.", when=JUNE, speaker="Bob", session="answer-b", position=0),
    Document("gold-3", "Green tea.", when=MAY_2023, speaker="Anna", session="answer-a", position=1),
    Document("gold-4", "A note."),
)
HAYSTACK = Haystack("h", TURNS, (Question("q", "tea?", relevant={"gold-1": 1.0}),))


def test_documents_become_memories_in_their_order() -> None:
    corpus = corpus_of(HAYSTACK)
    assert [memory.id for memory in corpus.memories] == ["m1", "m2", "m3", "m4"]
    assert [memory.source.session for memory in corpus.memories] == ["s1", "s2", "s1", ""]
    assert [memory.source.position for memory in corpus.memories] == [0, 0, 1, None]
    assert [memory.source.speaker for memory in corpus.memories] == ["Anna", "Bob", "Anna", ""]
    assert [memory.created_at for memory in corpus.memories] == [MAY_2023, JUNE, MAY_2023, UNDATED]


def test_the_way_back_is_known() -> None:
    corpus = corpus_of(HAYSTACK)
    assert corpus.documents == {"m1": "gold-1", "m2": "gold-2", "m3": "gold-3", "m4": "gold-4"}
    assert corpus.sessions == {"m1": "answer-a", "m2": "answer-b", "m3": "answer-a", "m4": ""}


def test_the_clock_stands_at_the_last_document() -> None:
    assert corpus_of(HAYSTACK).moment == JUNE
    assert corpus_of(Haystack("h", (Document("d", "x"),), ())).moment == UNDATED


def test_no_memory_holds_an_id_or_a_label_of_the_set() -> None:
    written = repr(corpus_of(HAYSTACK).memories)
    assert "gold" not in written
    assert "answer" not in written


def test_ids_that_occur_twice_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="haystack h must be documents with ids of their own"):
        corpus_of(Haystack("h", (Document("d", "x"), Document("d", "y")), ()))


@pytest.mark.parametrize(
    ("title", "body", "expected"),
    [
        ("", "Rain fell.", "Rain fell."),
        ("Weather", "Rain fell.", "Weather\nRain fell."),
        ("rain", "Rain fell.", "Rain fell."),
        ("Weather", " ", "Weather"),
    ],
)
def test_a_title_is_read_with_the_text(title: str, body: str, expected: str) -> None:
    assert document_text(Document("d", body, title=title)) == expected
