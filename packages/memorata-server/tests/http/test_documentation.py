"""docs/http.md and the interface say the same: every command in it works, every problem is listed."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from memorata.model.errors import MissingExtra, StoreReadOnly
from memorata_server.http.errors import error_response, problem

DOCS = (Path(__file__).parents[4] / "docs" / "http.md").read_text("utf-8")
COMMANDS = "\n".join(re.findall(r"^```sh\n(.*?)^```", DOCS, re.M | re.S))


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """The address of a server on a database of its own."""
    settings = {
        "MEMORATA_DB": str(tmp_path / "memories.db"),
        "MEMORATA_EMBEDDER": "lexical",
        "MEMORATA_MODELS": str(tmp_path),
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "memorata", "server", "start", "--port", "0", "--json", "--no-pages"],
        cwd=tmp_path,
        env={**os.environ, **settings},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())["address"]
    finally:
        process.kill()
        process.communicate()


def test_every_command_works_as_it_stands(address: str, tmp_path: Path) -> None:
    checked = COMMANDS.replace("curl -sS", "curl -sS --fail-with-body -w '\\n'")
    ran = subprocess.run(
        ["bash", "-euc", checked],
        cwd=tmp_path,
        env={**os.environ, "MEMORATA": address},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    answers = [json.loads(line) for line in ran.stdout.splitlines() if line]
    elsewhere = 2  # one answer goes to a variable, the export to a file
    assert len(answers) == COMMANDS.count("curl -sS") - elsewhere
    assert answers[2]["hits"][0]["memory"]["id"] == "tea"
    assert answers[-3]["failed"] == 0
    assert answers[-2] == answers[-1]


def test_every_problem_is_listed() -> None:
    listed = re.findall(r"^\| (\d+) \| `(memorata:[\w-]+)`", DOCS, re.M)
    answers = [problem(status) for status in range(400, 600)]
    # One status, and another word: what no key may do, and what is not installed.
    answers.append(error_response(StoreReadOnly("m.db", "it may not be written"), ""))
    answers.append(error_response(MissingExtra("The server", "server"), ""))
    known = {(str(answer.status_code), json.loads(bytes(answer.body))["type"]) for answer in answers}
    assert len(set(listed)) == len(listed)
    assert set(listed) == {(status, word) for status, word in known if word != "memorata:error"}
