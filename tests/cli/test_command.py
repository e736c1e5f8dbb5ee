"""Options of every command, before and after its name; errors as one line and an exit code."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memorata.cli import admin
from memorata.cli.command import Session
from memorata.model import errors
from memorata.service.errors import kind_of

Run = Callable[..., Any]


def test_shared_options_work_before_and_after_the_command(cli: Run, home: Path) -> None:
    cli("--db", "a.db", "-n", "ada", "remember", "tea")
    assert cli("namespace", "list", "--db", "a.db", "--json").json == {"namespaces": {"ada": 1}}
    assert len(cli("list", "--db", "a.db", "-n", "ada").lines) == 1


def test_after_the_command_wins(cli: Run, tea: str) -> None:
    assert cli("-n", "nobody", "list", "-n", "default", "--json").json["memories"][2]["id"] == tea


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--db", ".", "recall", "tea"), 3, "is a folder; name a file in it"),
        (("--db", "none.db", "recall", "tea"), 3, "there is no database at none.db yet"),
        (("--db", "no/folder.db", "remember", "tea"), 3, "the folder no does not exist"),
        (("--db", "notes.txt", "recall", "tea"), 3, "damaged or not a database"),
        (("--db", "notes.txt", "remember", "tea"), 3, "damaged or not a database"),
        (("--db", "other.db", "list"), 3, "not one of Memorata's"),
        (("--embedder", "lexcal", "recall", "tea"), 4, "there is no embedder 'lexcal'"),
        (("--embedder", "lexcal", "recall", "tea"), 4, "(did you mean lexical?)"),
        (("recall", "tea", "--reranker", "mini-rerank"), 4, "(did you mean mini-reranker?)"),
        (("--embedder", "arctic-embed-s", "recall", "tea"), 4, "memorata model install arctic-embed-s"),
        (("-n", "a//b", "list"), 2, "namespace must be a path such as 'acme/alice'"),
        (("show", "0123456789"), 1, "no memory '0123456789' in namespace 'default'"),
    ],
)
def test_an_error_is_one_line_and_a_code(
    cli: Run, home: Path, tea: str, arguments: tuple[str, ...], code: int, words: str
) -> None:
    (home / "notes.txt").write_text("These are notes, and certainly not a database.\n" * 20)
    with sqlite3.connect(home / "other.db") as other:
        other.execute("CREATE TABLE things (name)")
    other.close()
    wrong = cli(*arguments)
    assert (wrong.code, wrong.out) == (code, "")
    assert wrong.err.startswith("memorata: ")
    assert wrong.err.count("\n") == 1
    assert words in wrong.err
    assert cli(*arguments, "--quiet").err == wrong.err


def test_debug_shows_where_it_came_from(cli: Run, tea: str) -> None:
    wrong = cli("show", "0123456789", "--debug")
    assert wrong.code == 1
    assert "Traceback (most recent call last)" in wrong.err
    assert wrong.err.endswith("memorata: no memory '0123456789' in namespace 'default'\n")


def test_an_error_nobody_foresaw_is_not_hidden(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: Session, **_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(Session, "memory", broken)
    with pytest.raises(ZeroDivisionError):
        cli("list")


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (sqlite3.OperationalError("disk I/O error"), 3, "the database says: disk I/O error"),
        (PermissionError(13, "Permission denied", "x.md"), 2, "x.md: Permission denied"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
)
def test_what_the_system_refuses_is_one_line_too(
    cli: Run, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, words: str
) -> None:
    def refused(self: Session, **_: object) -> None:
        raise error

    monkeypatch.setattr(Session, "memory", refused)
    wrong = cli("list")
    assert (wrong.code, wrong.err) == (code, f"memorata: {words}\n")


def test_quiet_leaves_only_results(cli: Run, tea: str) -> None:
    assert cli("recall", "tea").err
    assert cli("recall", "tea", "-q").err == ""
    assert cli("recall", "tea", "-q").out == cli("recall", "tea").out


def test_the_decorator_leaves_the_function_as_it_was(cli: Run, tea: str) -> None:
    with pytest.raises(TypeError):
        admin.stats()  # type: ignore[call-arg]


CODES = {
    errors.MemorataError: 2,
    errors.InvalidArgument: 2,
    errors.AlreadySuperseded: 2,
    errors.NotGiven: 2,
    errors.MissingExtra: 4,
    errors.DatasetError: 2,
    errors.NotEnoughData: 2,
    errors.StoreError: 3,
    errors.StoreCorrupt: 3,
    errors.NotSupportedHere: 3,
    errors.ServerUnsuitable: 3,
    errors.PoolExhausted: 3,
    errors.ReplyErased: 3,
    errors.AccessDenied: 2,
    errors.NotAdmitted: 2,
    errors.StoreTooNew: 3,
    errors.StoreUnavailable: 3,
    errors.StoreReadOnly: 3,
    errors.StoreReplaced: 3,
    errors.StoreEncrypted: 3,
    errors.PurgeUnfinished: 3,
    errors.IndexCorrupt: 3,
    errors.MemoryNotFound: 1,
    errors.EntityNotFound: 1,
    errors.RecallNotFound: 1,
    errors.ExperimentNotFound: 1,
    errors.VersionConflict: 3,
    errors.WorkUnderWay: 3,
    errors.LeaseLost: 3,
    errors.EmbedderError: 4,
    errors.ConsentNeeded: 4,
    errors.ModelNotInstalled: 4,
    errors.ModelCorrupt: 4,
    errors.DimensionMismatch: 4,
    errors.EmbeddingServiceError: 4,
    errors.ServiceUnreachable: 4,
    errors.ServiceRefused: 4,
    errors.ServiceAnswerInvalid: 4,
}


@pytest.mark.parametrize("kind", CODES, ids=lambda kind: kind.__name__)
def test_every_error_has_its_code(kind: type[Exception]) -> None:
    assert kind_of(kind.__new__(kind)).exit_code == CODES[kind]


def test_no_error_was_left_out() -> None:
    there = {kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)}
    assert there == set(CODES)


@pytest.mark.parametrize(
    "command", [(), ("recall",), ("model",), ("model", "list"), ("lab", "tune", "weights")]
)
def test_no_type_stands_behind_a_flag(cli: Run, command: tuple[str, ...]) -> None:
    shown = cli(*command, "--help")
    assert shown.code == 0
    assert "bool" not in shown.out
    assert "--help" in shown.out


def test_what_takes_a_value_still_says_so(cli: Run) -> None:
    lines = cli("recall", "--help").lines
    assert any("--limit" in line and "int" in line for line in lines)
    assert any("--db" in line and "PATH" in line for line in lines)
