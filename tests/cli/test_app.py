"""The whole: what people see first, what start-up costs, and the exit codes of the real process."""

import inspect
import json
import os
import pkgutil
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import memorata.cli
from memorata import __version__
from memorata.cli.app import COMMANDS, GROUPS, LazyCommands

Run = Callable[..., Any]


def process(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "memorata", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_alone_it_says_what_to_do_first(cli: Run, home: Path) -> None:
    shown = cli()
    assert shown.code == 0
    assert 'memorata remember "' in shown.out
    assert f"Memories are in {home / 'memories.db'} (created with the first memory)" in shown.out
    assert not (home / "memories.db").exists()
    assert cli("--json").json == {
        "version": __version__,
        "db": str(home / "memories.db"),
        "exists": False,
    }


def test_the_version(cli: Run) -> None:
    assert cli("--version").out == f"memorata {__version__}\n"


def test_a_command_that_does_not_exist_is_a_usage_error_with_the_nearest(cli: Run) -> None:
    wrong = cli("remembr", "tea")
    assert wrong.code == 2
    assert "Did you mean" in wrong.err
    assert "'remember'" in wrong.err


def test_a_broken_settings_file_is_one_line_even_alone(cli: Run, home: Path) -> None:
    (home / "memorata.toml").write_text("db =")
    wrong = cli()
    assert wrong.code == 2
    assert re.fullmatch(r"memorata: the settings file .* must be readable TOML, .*\n", wrong.err)


def test_help_imports_nothing_heavy() -> None:
    code = "import atexit, sys; atexit.register(lambda: print('\\n'.join(sys.modules), file=sys.stderr)); "
    code += "sys.argv[1:] = ['--help']; import memorata.cli; memorata.cli.main()"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in found.stderr.split()}
    assert "typer" in loaded
    assert not loaded & {"numpy", "onnxruntime", "tokenizers", "pydantic", "sqlite3"}


def test_the_real_process_remembers_recalls_and_leaves_with_its_code(home: Path) -> None:
    assert process("remember", "Anna prefers green tea").returncode == 0
    found = process("recall", "tea")
    assert found.returncode == 0
    assert re.fullmatch(r"0\.\d\d\t[0-9a-f-]{36}\tAnna prefers green tea\n", found.stdout)
    assert "\x1b" not in found.stdout + found.stderr
    nothing = process("recall", "--json", "zebra")
    assert (nothing.returncode, '"hits": []' in nothing.stdout) == (1, True)


@pytest.mark.untraced
def test_a_reader_that_has_had_enough_is_no_error(cli: Run, home: Path) -> None:
    (home / "many.txt").write_text("".join(f"number {number} {'x' * 400}\n" for number in range(2000)))
    assert cli("import", "many.txt", "--split", "lines", "-q").code == 0
    line = f"set -o pipefail; {sys.executable} -m memorata list --limit 2000 | head -1"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr, done.stdout.count("\n")) == (0, "", 1)


@pytest.mark.parametrize(
    ("closed", "command", "code"),
    [
        ("<&- >&- 2>&-", "remember 'Anna prefers green tea'", 0),
        (">&-", "list --json", 0),
        ("2>&-", "show nobody", 1),
        ("<&-", "remember -", 2),
        ("<&-", "purge nobody", 1),
    ],
)
def test_a_stream_that_was_closed_is_no_reason_to_fail(
    cli: Run, closed: str, command: str, code: int
) -> None:
    assert cli("remember", "Bob prefers coffee").code == 0
    line = f"{sys.executable} -m memorata {command} {closed}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)
    assert (done.returncode, "Traceback" in done.stderr) == (code, False)
    assert cli("admin", "check").out == "sound\n"


def test_ctrl_c_leaves_cleanly(home: Path) -> None:
    # A shell's background ignores Ctrl-C, and what is started there does unless it says otherwise.
    code = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from memorata.cli import main; main()"
    )
    running = subprocess.Popen(
        [sys.executable, "-c", code, "import", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert running.stdin is not None
    # More than a pipe holds: it has been written once the process, with everything loaded, reads.
    running.stdin.write("tea " * 100_000)
    running.stdin.flush()
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=120)
    assert (running.returncode, out, err) == (130, "", "memorata: interrupted\n")


@pytest.mark.parametrize(("answer", "left"), [("y", 0), ("n", 1)])
def test_at_a_terminal_purge_shows_what_it_would_remove_and_asks(cli: Run, answer: str, left: int) -> None:
    id_ = cli("remember", "Anna prefers green tea").out.strip()
    controller, terminal = pty.openpty()
    running = subprocess.Popen(
        [sys.executable, "-m", "memorata", "purge", id_[-12:]],
        stdin=terminal,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.write(controller, f"{answer}\n".encode())
    _, err = running.communicate(timeout=120)
    os.close(terminal)
    os.close(controller)
    assert running.returncode == 0
    assert "Anna prefers green tea" in err
    assert "Remove 1 memory for good?" in err
    assert len(cli("list").lines) == left


PLAIN = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0", "PYTHONIOENCODING": ""}
"""A locale that knows ASCII alone, and nobody to help it."""


def test_in_any_locale_utf_8_is_read_and_json_is_json(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in PLAIN.items():
        monkeypatch.setenv(name, value)
    line = f"{sys.executable} -m memorata remember"
    for said in (f"{line} 'Anna is Zoë 🍵'", f"printf 'Zoë\\r\\nMüller' | {line} -"):
        assert subprocess.run(["bash", "-c", said], capture_output=True, check=False).returncode == 0
    listed = json.loads(process("list", "--json").stdout)
    assert [memory["content"] for memory in listed["memories"]] == ["Zoë\nMüller", "Anna is Zoë 🍵"]
    for command in (("export",), ("graph", "about", "Anna")):
        rows = [json.loads(row) for row in process(*command).stdout.splitlines()]
        assert rows[0]["content"] == "Anna is Zoë 🍵"


def test_a_terminal_of_no_columns_is_of_unknown_width(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    cli("remember", "Anna prefers green tea")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "0")
    assert "Anna prefers green tea" in process("list").stdout


LOADED = """
import atexit, sys
atexit.register(lambda: print("\\n", *sys.modules))
from memorata.cli import main
main()
"""


_TABLES: tuple[Mapping[str, Mapping[Any, str]], ...] = (
    COMMANDS,
    *(commands for _, _, commands in GROUPS.values()),
)
TABLES: dict[str, list[str]] = {}
"""By module, its commands at the top and in groups."""
for _table in _TABLES:
    for _home, _panels in _table.items():
        TABLES.setdefault(_home, []).extend(name for names in _panels.values() for name in names.split())


def homes_loaded(*arguments: str, **variables: str) -> set[str]:
    """Return the modules with commands that a process has loaded when it ends."""
    command = [sys.executable, "-c", LOADED, *arguments]
    environment = os.environ | variables
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    loaded = done.stdout.splitlines()[-1].split()
    assert "memorata.cli.app" in loaded
    return {home for home in TABLES if f"memorata.cli.{home}" in loaded}


def test_the_table_has_every_module_with_commands() -> None:
    names = [module.name for module in pkgutil.iter_modules(memorata.cli.__path__)]
    with_commands = {name for name in names if _commands(name)}
    assert with_commands == set(TABLES)


@pytest.mark.parametrize("home", TABLES)
def test_the_tables_have_every_command_of_a_module(home: str) -> None:
    assert sorted(TABLES[home]) == sorted(_commands(home))


def test_the_help_shows_about_twenty_commands() -> None:
    plain = [name for panels in COMMANDS.values() for names in panels.values() for name in names.split()]
    assert len(plain) + len(GROUPS) <= 22


def _commands(module: str) -> list[str]:
    """Return the names of the public functions of a module that are run with a session."""
    commands = []
    for name, value in vars(import_module(f"memorata.cli.{module}")).items():
        # Those of the data sets are one function, whose first argument is filled in.
        function = value.func if isinstance(value, partial) else value
        if (
            inspect.isfunction(function)
            and not name.startswith("_")
            and function.__module__ == f"memorata.cli.{module}"
            and function.__annotations__.get("return") == "None"
            and next(iter(inspect.signature(value).parameters), "") == "session"
            and name != "guarded"
        ):
            commands.append(name.rstrip("_").replace("_", "-"))
    return commands


def test_a_command_is_made_once() -> None:
    commands = LazyCommands("memorata.cli", memorata.cli.app)
    assert commands["show"] is commands["show"]
    assert len(dict(commands)) == len(commands)
    with pytest.raises(KeyError, match="shwo"):
        commands["shwo"]


def test_a_process_loads_the_module_of_its_command_alone(home: Path) -> None:
    assert homes_loaded("remember", "Anna prefers green tea") == {"memories"}
    assert homes_loaded("list") == {"memories"}
    assert homes_loaded("recall", "tea") == {"recall"}
    assert homes_loaded("namespace", "--help") == {"namespaces"}
    assert homes_loaded("--help") == set(COMMANDS)


def test_the_shell_completes_a_command_from_those_that_begin_so(home: Path) -> None:
    asked = {"_MEMORATA_COMPLETE": "complete_bash", "COMP_CWORD": "1"}
    assert homes_loaded(COMP_WORDS="memorata reca", **asked) == {"recall"}


def test_commands_are_listed_before_they_are_made() -> None:
    commands = LazyCommands("memorata.cli", memorata.cli.app)
    assert (list(commands)[:2], commands.get("recal")) == (["remember", "correct"], None)
    assert not any(commands.data.values())
    assert commands["recall"].name == "recall"
