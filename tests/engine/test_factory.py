from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import memorata
from memorata.embed.selection import Resources
from memorata.engine.factory import open_store
from memorata.model import InvalidArgument
from memorata.model.errors import (
    EmbedderError,
    MemorataError,
    NotSupportedHere,
    StoreError,
    StoreReadOnly,
    StoreUnavailable,
)

NO_MODELS = Resources()


def test_a_store_remembers_how_it_reads(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with memorata.open(path, embedder="lexical", config={"analyser": "plain"}) as memory:
        memory.remember("The batteries")
    with memorata.open(path) as memory:
        assert memory.analyser.name == "plain"
        assert memory.embedder is not None
        assert memory.embedder.name.startswith("lexical")
        assert memory.recall("battery", recipe="bm25").hits == ()
    with pytest.raises(
        InvalidArgument, match="analyser must be 'plain', as the words of this store were read"
    ):
        memorata.open(path, config={"analyser": "snowball"})


def test_a_new_store_takes_the_best_there_is_and_says_so(tmp_path: Path) -> None:
    with memorata.open(tmp_path / "m.db", config={"resources": NO_MODELS}) as memory:
        assert memory.embedder is not None
        assert any("memorata model install" in note for note in memory.notes)


@pytest.mark.parametrize("recorded", ["ollama:m@http://anna:secret@127.0.0.1:1", "hub:name", "openai:m@x"])
def test_a_store_whose_embedder_cannot_be_named_any_more_answers_by_words(
    recorded: str, tmp_path: Path
) -> None:
    path = tmp_path / "m.db"
    with memorata.open(path, embedder="lexical") as memory:
        memory.remember("Anna likes tea.")
        memory.store.remember_setting("embedder", recorded)
    with memorata.open(path) as memory:
        assert "words only" in memory.notes[0]
        assert len(memory.recall("tea")) == 1


def test_an_embedder_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(EmbedderError, match="there is no embedder 'best'"):
        memorata.open(tmp_path / "m.db", embedder="best")


@pytest.mark.parametrize(
    "wrong",
    [
        {"analyser": "klingon"},
        {"analyser": 7},
        {"language": "klingon"},
        {"language": ""},
        {"embedder": "best"},
        {"embedder": 7},
        {"reranker": "best"},
        {"anchors": "guessed"},
        {"extractor": "yes"},
        {"read_dates": "yes"},
        {"redact": 1},
        {"namespace": "a//b"},
        {"duplicates": "all"},
        {"life": {"working_years": 1}},
        {"lease_seconds": 0},
        {"durable": "yes"},
        {"must_exist": 0},
        {"clock": 12},
        {"logging": True},
    ],
)
def test_a_wrong_setting_makes_no_file(wrong: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    direct = {name: wrong[name] for name in wrong.keys() & {"embedder", "namespace", "clock"}}
    with pytest.raises(MemorataError):
        memorata.open(path, **{"embedder": "lexical", "config": {} if direct else wrong, **direct})
    assert not path.exists()


def test_a_wrong_setting_is_not_recorded(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    open_store(path).close()
    with pytest.raises(InvalidArgument, match="language must be one of"):
        memorata.open(path, embedder="lexical", config={"analyser": "plain", "language": "klingon"})
    with memorata.open(path, embedder="lexical") as memory:
        assert memory.analyser.name == "snowball"


def test_what_could_not_be_opened_decides_nothing(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with pytest.raises(InvalidArgument, match="recipe must be one of"):
        memorata.open(
            path, embedder="lexical", recipe="best", config={"analyser": "plain", "language": "german"}
        )
    with memorata.open(
        path, embedder="builtin", config={"analyser": "snowball", "language": "english"}
    ) as memory:
        assert memory.store.setting("embedder") == "use-multilingual"
        assert memory.store.setting("analyser") == "snowball"
        assert memory.store.setting("language") == "english"


class Lengths:
    """Prefers short texts."""

    name = "lengths"

    def score(self, query: str, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        return np.array([-float(len(text)) for text in texts])


@pytest.mark.parametrize("nothing", [None, "none"])
def test_there_is_no_re_ranker_unless_one_is_given(nothing: str | None) -> None:
    with memorata.open(":memory:", embedder=None, config={"reranker": nothing}) as memory:
        assert memory.reranker is None


def test_a_re_ranker_is_taken_as_it_is() -> None:
    given = Lengths()
    with memorata.open(":memory:", embedder=None, config={"reranker": given}) as memory:
        assert memory.reranker is given


def test_a_re_ranker_that_cannot_be_had_is_an_error() -> None:
    with pytest.raises(EmbedderError, match="there is no re-ranker 'best'"):
        memorata.open(":memory:", config={"reranker": "best", "resources": NO_MODELS})
    with pytest.raises(InvalidArgument, match="reranker must be a re-ranker"):
        memorata.open(":memory:", config={"reranker": 7, "resources": NO_MODELS})


@pytest.mark.parametrize("path", [3, None, b"m.db", ["m.db"]])
def test_what_is_no_path_opens_no_file(path: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidArgument, match="path must be the path of a file, or the address of a server"):
        memorata.open(path)
    assert not list(tmp_path.iterdir())


def test_wrong_paths_are_explained(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="is a folder; name a file in it"):
        memorata.open(tmp_path)
    with pytest.raises(StoreUnavailable, match="does not exist; create it"):
        memorata.open(tmp_path / "no" / "such" / "m.db")
    with pytest.raises(StoreUnavailable, match="there is no database at"):
        memorata.open(tmp_path / "m.db", config={"must_exist": True})
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnavailable, match="file is a file, not a folder"):
        memorata.open(tmp_path / "file" / "m.db")
    (tmp_path / "notes.txt").write_text("not a database " * 100)
    with pytest.raises(StoreError, match=r"notes\.txt"):
        memorata.open(tmp_path / "notes.txt")


@pytest.mark.parametrize("path", ["", " "])
def test_a_blank_path_is_no_path(path: str) -> None:
    with pytest.raises(InvalidArgument, match="path must be the path of a file, or the address of a server"):
        memorata.open(path, embedder=None)


@pytest.mark.parametrize("embedder", [5, ["lexical"], object()])
def test_what_cannot_embed_is_no_embedder(embedder: Any) -> None:
    with pytest.raises(InvalidArgument, match="embedder must be an embedder, the name of one, or None"):
        memorata.open(":memory:", embedder=embedder)


def test_a_memory_that_was_closed_says_so(tmp_path: Path) -> None:
    memory = memorata.open(tmp_path / "m.db", embedder="lexical")
    memory.close()
    memory.close()
    for use in (lambda: memory.remember("tea"), lambda: memory.recall("tea"), memory.list):
        with pytest.raises(StoreError, match=r"m\.db was closed; open it again to go on"):
            use()


def test_a_file_can_be_opened_to_be_read_only(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with memorata.open(path, embedder="lexical") as memory:
        tea = memory.remember("Anna prefers green tea")
        memory.recall("tea")
    before = path.read_bytes()
    with memorata.open(path, read_only=True) as memory:
        assert memory.store.read_only
        assert memory.notes == ()
        found = memory.recall("green tea")
        assert [hit.memory.id for hit in found] == [tea.id]
        assert found.id == ""
        assert memory.get(tea.id).content == tea.content
        assert memory.list().memories == (tea,)
        assert memory.admin.check() == []
        assert len(memory.admin.feedback.recalls()) == 1
        for write in (
            lambda: memory.remember("and milk"),
            lambda: memory.forget(tea.id),
            lambda: memory.purge(tea.id),
            lambda: memory.admin.check(repair=True),
            memory.store.vacuum,
            memory.admin.lifecycle.maintain,
        ):
            with pytest.raises(
                StoreReadOnly, match=r"nothing was changed: it was opened .* without read_only"
            ):
                write()
    assert path.read_bytes() == before
    with memorata.open(path) as memory:
        assert len(memory.admin.feedback.recalls()) == 1
        assert memory.get(tea.id).version == 1


def test_who_reads_only_sees_what_others_write(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with memorata.open(path, embedder="lexical") as writer:
        writer.remember("Anna prefers green tea")
        with memorata.open(path, read_only=True) as reader:
            assert len(reader.list().memories) == 1
            writer.remember("Ben drinks coffee")
            assert len(reader.list().memories) == 2
            assert len(reader.recall("coffee")) == 1


def test_what_is_only_read_is_there_already(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="there is no database at"):
        memorata.open(tmp_path / "m.db", read_only=True)
    with pytest.raises(InvalidArgument, match="read_only must be false for a memory that no file holds"):
        memorata.open(":memory:", read_only=True)
    (tmp_path / "empty.db").touch()
    with pytest.raises(StoreReadOnly, match="it is empty, and it was opened to be read only"):
        memorata.open(tmp_path / "empty.db", read_only=True)
    with pytest.raises(NotSupportedHere, match="default_transaction_read_only"):
        memorata.open("postgresql://nobody@localhost/m", embedder=None, read_only=True)
    with pytest.raises(InvalidArgument, match="read_only must be"):
        memorata.open(tmp_path / "m.db", read_only="yes")  # type: ignore[arg-type]
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".db"] == ["empty.db"]


def test_an_embedder_that_a_file_does_not_know_cannot_be_used_where_it_is_only_read(tmp_path: Path) -> None:
    with memorata.open(tmp_path / "m.db", embedder=None) as memory:
        memory.remember("Anna prefers green tea")
    with memorata.open(tmp_path / "m.db", embedder="lexical", read_only=True) as memory:
        assert memory.embedder is None
        assert "none can be made: words only" in memory.notes[0]
        assert len(memory.recall("green tea")) == 1


def test_the_analyser_and_the_least_length_are_chosen_when_a_store_is_made(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with memorata.open(path, embedder=None, config={"analyser": "plain", "min_length": 3}) as memory:
        memory.remember("The UAV-001 is at base")
        assert memory.recall("the uav").hits[0].content == "The UAV-001 is at base"
        assert memory.recall("is at").hits == ()
    with memorata.open(path, embedder=None) as memory:
        assert (memory.analyser.name, memory.analyser.min_length) == ("plain", 3)
    with pytest.raises(InvalidArgument, match="min_length"):
        memorata.open(path, embedder=None, config={"min_length": 2})
    with memorata.open(tmp_path / "other.db", embedder=None) as memory:
        assert memory.analyser.min_length == 3
    memorata.open(tmp_path / "other.db", embedder=None, config={"min_length": 3}).close()
    with pytest.raises(InvalidArgument, match="min_length"):
        memorata.open(tmp_path / "other.db", embedder=None, config={"min_length": 0})
