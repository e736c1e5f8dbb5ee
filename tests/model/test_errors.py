import inspect
import pickle
from datetime import datetime
from pathlib import Path

import pytest

from memorata.model import errors
from memorata.model.errors import (
    AlreadySuperseded,
    DatasetError,
    DimensionMismatch,
    EmbedderError,
    EntityNotFound,
    ExperimentNotFound,
    InvalidArgument,
    LeaseLost,
    MemorataError,
    MemoryNotFound,
    MissingExtra,
    NotEnoughData,
    NotGiven,
    PoolExhausted,
    PurgeUnfinished,
    RecallNotFound,
    ServiceRefused,
    ServiceUnreachable,
    StoreReadOnly,
    StoreReplaced,
    VersionConflict,
    WorkUnderWay,
    shown,
)

ALL = [value for value in vars(errors).values() if inspect.isclass(value) and issubclass(value, Exception)]


def test_every_error_has_one_root_and_stands_in_the_drawn_tree() -> None:
    assert InvalidArgument in ALL
    for error in ALL:
        assert issubclass(error, MemorataError)
        assert error.__name__ in (errors.__doc__ or "")


def test_an_error_is_shown_by_the_name_it_is_imported_under() -> None:
    assert {error.__module__ for error in ALL} == {"memorata.model.errors"}


def test_an_invalid_argument_says_which_what_and_why() -> None:
    error = InvalidArgument("scores[3]", float("nan"), "a finite number")
    assert str(error) == "scores[3] must be a finite number, got nan"
    assert (error.argument, error.expected) == ("scores[3]", "a finite number")
    assert error.value != error.value


def test_what_was_not_given_has_no_value_to_show() -> None:
    error = NotGiven("--namespace", "as acme/alice")
    assert str(error) == "--namespace must be given as acme/alice"
    assert (error.argument, error.value) == ("--namespace", None)
    assert isinstance(error, InvalidArgument)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (
            NotGiven("--yes", "where there is no terminal to ask at"),
            "--yes must be given where there is no terminal to ask at",
        ),
        (
            AlreadySuperseded("m1", "m2"),
            "'m1' cannot be superseded once more: 'm2' has taken its place; correct or supersede 'm2'"
            " instead",
        ),
        (
            MissingExtra("The ONNX embedder", "onnxruntime tokenizers"),
            "The ONNX embedder needs a package that is not installed: pip install onnxruntime tokenizers",
        ),
        (DatasetError("run.jsonl", 7, "no 'ranking'"), "run.jsonl, line 7: no 'ranking'"),
        (
            NotEnoughData("labelled pairs", found=5, needed=20),
            "5 labelled pairs are too few to learn from: at least 20 are needed, 15 more than there are",
        ),
        (
            StoreReplaced("m.db", removed=True),
            "m.db was removed or moved away while it was open; nothing more is read from it, or written only "
            "to be lost; move it back, or restore a backup. `backup` of the memory that is open still copies "
            "all it holds (docs/backup.md)",
        ),
        (
            StoreReadOnly("m.db", "the file may not be written; copy it to where it can be"),
            "m.db can only be read here, and nothing was changed: the file may not be written; copy "
            "it to where it can be",
        ),
        (
            PoolExhausted("postgresql://localhost/m", 10, 30.0),
            "all 10 connections to postgresql://localhost/m were in use for 30 s; try again, or open "
            "the store with more connections",
        ),
        (
            PurgeUnfinished("m.db", "the disk of m.db is full"),
            "what was purged from m.db is removed, but traces of it may still be in the file (the "
            "disk of m.db is full); `memorata admin vacuum` erases them",
        ),
        (MemoryNotFound("m7", "default"), "no memory 'm7' in namespace 'default'"),
        (
            EntityNotFound("Ana", "default", ("Anna", "Diana")),
            "no entity 'Ana' in namespace 'default'; did you mean 'Anna' or 'Diana'?",
        ),
        (
            ExperimentNotFound("shear", "default", ("share",)),
            "no experiment 'shear' in namespace 'default'; there is 'share'",
        ),
        (
            WorkUnderWay("maintain", "acme", "kite, process 7", datetime(2026, 5, 7, 18, 30)),
            "'maintain' of 'acme' is being done by kite, process 7; if its lease is not renewed until"
            " 2026-05-07T18:30:00, another may take it over",
        ),
        (VersionConflict("m7", expected=1, found=3), "memory 'm7' is at version 3, not 1; read it again"),
        (
            DimensionMismatch("ollama:nomic-embed-text", expected=384, got=768),
            "ollama:nomic-embed-text gave vectors of 768 dimensions where 384 were expected: name the"
            " model the store was written with, or re-embed the store",
        ),
    ],
)
def test_a_message_says_what_is_wrong_and_what_to_do(error: MemorataError, message: str) -> None:
    assert str(error) == message


def test_it_can_be_caught_as_what_python_would_have_raised() -> None:
    assert issubclass(InvalidArgument, ValueError)
    assert issubclass(MissingExtra, ImportError)
    assert issubclass(MemoryNotFound, LookupError)
    assert issubclass(EntityNotFound, LookupError)
    assert issubclass(ExperimentNotFound, LookupError)
    assert issubclass(DimensionMismatch, EmbedderError)


def test_a_memory_that_is_superseded_already_is_named_with_its_successor() -> None:
    error = AlreadySuperseded("m7", by="m8")
    assert isinstance(error, InvalidArgument)
    assert (error.argument, error.value, error.memory_id, error.by) == ("supersedes", "m7", "m7", "m8")
    assert str(error).endswith("'m8' has taken its place; correct or supersede 'm8' instead")


def test_a_data_set_error_names_the_file_and_the_line_if_there_is_one(tmp_path: Path) -> None:
    assert str(DatasetError("locomo.json", None, "not JSON")) == "locomo.json: not JSON"
    error = DatasetError(tmp_path / "run.jsonl", 7, "no 'ranking'")
    assert str(error) == f"{tmp_path / 'run.jsonl'}, line 7: no 'ranking'"
    assert (error.path, error.line, error.reason) == (str(tmp_path / "run.jsonl"), 7, "no 'ranking'")


@pytest.mark.parametrize(
    "error",
    [
        InvalidArgument("alpha", 1.5, "a number from 0 to 1"),
        NotGiven("--yes", "where nobody can be asked"),
        AlreadySuperseded("m7", by="m8"),
        MissingExtra("The ONNX embedder", "onnxruntime"),
        DatasetError("run.jsonl", 7, "no 'ranking'"),
        NotEnoughData("labelled pairs", found=5, needed=20),
        DimensionMismatch("static", expected=384, got=768),
        ServiceRefused("No such model.", status=404),
        StoreReadOnly("m.db", "copy it"),
        PoolExhausted("postgresql://localhost/m", 10, 30.0),
        RecallNotFound("r7", "acme/alice"),
        LeaseLost("reembed", "*", "kite, process 7"),
        WorkUnderWay("maintain", "acme", "kite, process 7", None),
        ServiceUnreachable("Nobody answers.", status=503),
        MemoryNotFound("m7", "acme/alice"),
        ExperimentNotFound("shear", "acme/alice", ("share",)),
        VersionConflict("m7", expected=1, found=3),
    ],
)
def test_errors_survive_a_process_boundary(error: MemorataError) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert str(copy) == str(error)
    assert vars(copy) == vars(error)


def test_notes_go_along() -> None:
    error = MemoryNotFound("m7", "default")
    error.add_note("It was purged.")
    assert pickle.loads(pickle.dumps(error)).__notes__ == ["It was purged."]


def test_what_is_not_there_or_not_ones_own_any_more_is_told() -> None:
    assert str(RecallNotFound("r7", "default")) == (
        "no recall 'r7' in the log of namespace 'default'; the log may be off, or so full that it had to go"
    )
    assert str(LeaseLost("reembed", "*", "kite, process 7")) == (
        "'reembed' of all namespaces was taken from kite, process 7, whose lease was not renewed in "
        "time; another worker goes on from where it was"
    )


def test_a_value_is_shown_in_80_characters_at_most() -> None:
    assert shown("x" * 78) == "'" + "x" * 78 + "'"
    assert shown("x" * 79) == "'" + "x" * 79 + "…"
    assert len(str(InvalidArgument("content", "x" * 1_000_000, "shorter"))) < 150


class Unspeakable:
    def __repr__(self) -> str:
        raise RuntimeError("no words")


def test_a_value_without_a_repr_does_not_hide_the_error() -> None:
    assert shown(Unspeakable()) == "a value of type Unspeakable that cannot be shown (RuntimeError)"
    assert shown(10**5000) == "a value of type int that cannot be shown (ValueError)"
