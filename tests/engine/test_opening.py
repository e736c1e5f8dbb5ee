from pathlib import Path

import pytest

import recollect
from recollect.embed.select import Resources
from recollect.model import InvalidArgument
from recollect.model.errors import EmbedderError, StoreError, StoreUnavailable

NO_MODELS = Resources()


def test_a_store_remembers_how_it_reads(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with recollect.open(path, embedder="lexical", analyser_name="plain") as memory:
        memory.remember("The batteries")
    with recollect.open(path) as memory:
        assert memory.analyser.name == "plain"
        assert memory.embedder is not None
        assert memory.embedder.name.startswith("lexical")
        assert memory.recall("battery", recipe="bm25").hits == ()
    with pytest.raises(
        InvalidArgument, match="analyser must be 'plain', as the words of this store were read"
    ):
        recollect.open(path, analyser_name="snowball")


def test_a_new_store_takes_the_best_there_is_and_says_so(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "m.db", resources=NO_MODELS) as memory:
        assert memory.embedder is not None
        assert any("recollect model install" in note for note in memory.notes)


def test_a_store_whose_model_is_gone_answers_by_words(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with recollect.open(path, embedder="lexical") as memory:
        memory.remember("Anna likes tea.")
        memory.store.remember_setting("embedder", "arctic-embed-s")
    with recollect.open(path, resources=Resources(models=tmp_path / "nowhere")) as memory:
        assert "words only" in memory.notes[0]
        answer = memory.recall("tea")
        assert len(answer) == 1
        assert answer.degraded


def test_an_embedder_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(EmbedderError, match="there is no embedder 'best'"):
        recollect.open(tmp_path / "m.db", embedder="best")


def test_wrong_paths_are_explained(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="is a folder; name a file in it"):
        recollect.open(tmp_path)
    with pytest.raises(StoreUnavailable, match="does not exist; create it"):
        recollect.open(tmp_path / "no" / "such" / "m.db")
    with pytest.raises(StoreUnavailable, match="there is no database at"):
        recollect.open(tmp_path / "m.db", must_exist=True)
    (tmp_path / "notes.txt").write_text("not a database " * 100)
    with pytest.raises(StoreError, match=r"notes\.txt"):
        recollect.open(tmp_path / "notes.txt")
