"""Files that are damaged, and orders that cannot be carried out: a clear report each, and a sound store."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import memorata
from memorata.cli.app import app
from memorata.embed import LexicalEmbedder
from memorata.embed.port import Vectors
from memorata.model.errors import AlreadySuperseded, InvalidArgument

Run = Callable[..., tuple[int, str, str]]

CHAT = {"id": "c", "mapping": {"a": {"parent": None, "message": None}}, "current_node": "a"}
GOOD = [json.dumps({"id": f"m{number}", "content": f"thought {number}"}) for number in range(300)]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command in an empty folder; whatever it does, the store is sound afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MEMORATA_DB", str(tmp_path / "m.db"))
    monkeypatch.setenv("MEMORATA_EMBEDDER", "lexical")

    def ran(*arguments: str) -> tuple[int, str, str]:
        done = CliRunner().invoke(app, list(arguments))
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        checked = CliRunner().invoke(app, ["admin", "check"])
        assert (checked.exit_code, checked.stdout) == (0, "sound\n"), checked.stderr
        return done.exit_code, done.stdout, done.stderr

    return ran


@pytest.mark.untraced
@pytest.mark.parametrize(
    ("name", "data", "out", "report"),
    [
        (
            "cut.jsonl",
            "\n".join(GOOD).encode()[:-20],
            "imported 299 memories, 1 could not be read\n",
            "cut.jsonl, line 300: not JSON: Unterminated string",
        ),
        (
            "line.jsonl",
            "\n".join([*GOOD[:250], "{oops}", *GOOD[250:]]).encode(),
            "imported 300 memories, 1 could not be read\n",
            "line.jsonl, line 251: not JSON",
        ),
        (
            "latin.md",
            "Café au lait".encode("latin-1"),
            "imported 0 memories, 1 could not be read\n",
            "latin.md, line 1: not UTF-8 at byte 4 of the file; nothing of it was read",
        ),
        (
            "latin.jsonl",
            '"fine"\n"Café"\n'.encode("latin-1"),
            "imported 1 memory, 1 could not be read\n",
            "latin.jsonl, line 2: not UTF-8",
        ),
        (
            "utf16.txt",
            "tea\n\nmilk".encode("utf-16"),
            "imported 0 memories, 1 could not be read\n",
            "not UTF-8 at byte 1 of the file",
        ),
        (
            "conversations.json",
            json.dumps([CHAT, CHAT]).encode()[:-9],
            "imported 0 memories, 1 could not be read\n",
            "the file may be cut short, and nothing of it was read",
        ),
        (
            "mem0.json",
            b'{"results": [{"id": "1", "memory": "tea',
            "imported 0 memories, 1 could not be read\n",
            "the file may be cut short, and nothing of it was read",
        ),
        (
            "graph.jsonl",
            b'{"type": "entity", "name": "Anna", "observations": ["tea"]}\n{"type": "rel',
            "imported 1 memory, 1 entity, 1 could not be read\n",
            "graph.jsonl, line 2: not JSON: Unterminated string",
        ),
    ],
)
def test_a_damaged_file_is_reported_and_what_can_be_read_of_it_comes_in(
    run: Run, name: str, data: bytes, out: str, report: str
) -> None:
    Path(name).write_bytes(data)
    code, said, error = run("import", name)
    assert (code, said) == (2, out)
    assert report in error
    # Mended, or not, it can be run again.
    assert run("import", name)[0] == 2


def test_a_loop_of_corrections_does_not_come_in(run: Run) -> None:
    loop = [
        {"id": "a", "content": "first", "supersedes": ["b"]},
        {"id": "b", "content": "second", "supersedes": ["a"]},
        {"id": "c", "content": "itself", "supersedes": ["c"]},
        {"id": "d", "content": "fine"},
        {"id": "e", "content": "after it", "supersedes": ["d"]},
        {"id": "f", "content": "too late", "supersedes": ["d"], "superseded_by": "d"},
    ]
    Path("loop.jsonl").write_text("\n".join(map(json.dumps, loop[:5])))
    code, said, error = run("import", "loop.jsonl")
    assert (code, said) == (2, "imported 2 memories, 3 could not be read\n")
    assert "line 1: supersedes must be a memory that is there or comes earlier, got 'b'" in error
    assert "line 2: supersedes must be a memory that is there or comes earlier, got 'a'" in error
    assert "line 3: supersedes must be other memories than this one, got 'c'" in error
    Path("late.jsonl").write_text("\n".join(map(json.dumps, [loop[5], {"id": "g", "content": "fine"}])))
    code, said, error = run("import", "late.jsonl")
    assert (code, said) == (2, "imported 1 memory, 1 could not be read\n")
    assert f"line 1: {AlreadySuperseded('d', 'e')}" in error
    both = [json.dumps({"id": id_, "content": id_, "supersedes": ["g"]}) for id_ in ("h", "i")]
    Path("twice.jsonl").write_text("\n".join(both))
    code, said, error = run("import", "twice.jsonl")
    assert (code, said) == (2, "imported 1 memory, 1 could not be read\n")
    assert f"line 2: {AlreadySuperseded('g', 'h')}" in error
    # Run again, it is known who took whose place.
    assert run("import", "twice.jsonl")[1] == "imported 0 memories, 1 known already, 1 could not be read\n"


def test_corrections_through_the_library_cannot_form_a_loop(tmp_path: Path) -> None:
    with memorata.open(tmp_path / "m.db", embedder="lexical") as memory:
        memory.remember("first", id="a")
        memory.remember("second", id="b", supersedes=("a",))
        with pytest.raises(InvalidArgument, match="id must be an id that is not taken yet"):
            memory.remember("third", id="a", supersedes=("b",))
        with pytest.raises(
            InvalidArgument, match="supersedes must be a memory that was added before this one"
        ):
            memory.remember_many(
                [
                    {"id": "x", "content": "x", "supersedes": ("y",)},
                    {"id": "y", "content": "y", "supersedes": ("x",)},
                ]
            )
        assert [each.id for each in memory.history("a")] == ["a", "b"]
        assert memory.admin.check() == []


def test_a_purge_of_an_unknown_id_removes_nothing(run: Run) -> None:
    run("import", "-")
    Path("good.jsonl").write_text("\n".join(GOOD[:3]))
    run("import", "good.jsonl")
    code, said, error = run("purge", "m0", "nobody", "--yes")
    assert (code, said) == (1, "")
    assert "no memory 'nobody' in namespace 'default'" in error
    assert len(run("export")[1].splitlines()) == 3


class Wrong(LexicalEmbedder):
    """An embedder that gives vectors of another length than it says, or of no numbers."""

    def __init__(self, fault: Callable[[Vectors], Vectors]) -> None:
        super().__init__(dimension=32)
        self.fault: Callable[[Vectors], Vectors] | None = fault

    def embed_passages(self, texts: Sequence[str]) -> list[Vectors]:
        rows = super().embed_passages(texts)
        return rows if self.fault is None else [self.fault(each) for each in rows]


@pytest.mark.parametrize(
    "fault",
    [
        lambda rows: rows[:, :31],
        lambda rows: np.full_like(rows, np.nan),
        lambda rows: rows[0],
        lambda rows: rows[:0],
    ],
)
def test_a_vector_of_the_wrong_size_costs_the_vector_and_not_the_memory(
    tmp_path: Path, fault: Callable[[Vectors], Vectors], caplog: pytest.LogCaptureFixture
) -> None:
    embedder = Wrong(fault)
    with memorata.open(tmp_path / "m.db", embedder=embedder) as memory:
        memory.remember_many(f"thought {number}" for number in range(300))
        assert "300 memories are stored without vectors for now" in caplog.text
        assert memory.admin.check() == []
        assert memory.recall("thought 7").hits[0].memory.content == "thought 7"
        embedder.fault = None
        assert memory.admin.embed_pending().embedded == 300
        assert memory.admin.check() == []
        assert memory.recall("thought 7").degraded == ()
