"""What a first minute takes: size of a plain install, packages, start and first recall, beside others.

Run ``python -m benchmarks.first_minute [--folder FOLDER]``. Each is installed from the package index into an
environment of its own; sizes are without pip and setuptools. Start is the processor time of a process that
imports the package, the best of three; first recall that of one that opens an empty store, adds three texts
and asks, with what the install brings.
Where a model has to be fetched from a hub, or a service asked, the last column says so.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
TEXTS = ("Anna lives in Rome.", "Tom drinks green tea.", "The server is called heron.")
MEMORATA = f"""
import memorata
with memorata.open(":memory:") as memory:
    memory.remember_many({TEXTS!r})
    assert memory.recall("where does Anna live?").hits[0].content == {TEXTS[0]!r}
"""
CHROMA = f"""
import chromadb
collection = chromadb.EphemeralClient().create_collection("m")
collection.add(ids=["1", "2", "3"], documents=list({TEXTS!r}))
assert collection.query(query_texts=["where does Anna live?"], n_results=1)["ids"] == [["1"]]
"""
TXTAI = f"""
from txtai import Embeddings
embeddings = Embeddings(content=True)
embeddings.index({TEXTS!r})
assert embeddings.search("where does Anna live?", 1)[0]["text"] == {TEXTS[0]!r}
"""
MEM0 = """
from mem0 import Memory
Memory()
"""
CONTENDERS = (
    ("Memorata", (str(ROOT),), "memorata", MEMORATA),
    ("Chroma", ("chromadb",), "chromadb", CHROMA),
    ("mem0", ("mem0ai",), "mem0", MEM0),
    ("txtai", ("torch==2.13.0", "txtai"), "txtai", TXTAI),
)


def main() -> int:
    """Install, measure, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--folder", type=Path, help="where the environments are made, and kept")
    options = parser.parse_args()
    folder = options.folder or Path(tempfile.mkdtemp())
    print("| | MB | packages | start, s | first recall, s |\n|---|--:|--:|--:|---|")
    for name, requirements, module, first in CONTENDERS:
        environment = folder / name
        if not (environment / "done").exists():
            subprocess.run([sys.executable, "-m", "venv", "--clear", environment], check=True)
            pip = [environment / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check"]
            for requirement in requirements:
                subprocess.run([*pip, requirement], check=True, stderr=subprocess.DEVNULL)
            (environment / "done").touch()
        size, packages = installed(environment)
        start = min(filter(None, (seconds(environment, f"import {module}") for _ in range(3))), default=None)
        recall = seconds(environment, first)
        shown = "needs a model from a hub or a service" if recall is None else f"{recall:.2f}"
        print(f"| {name} | {size:.0f} | {packages} | {start or 0:.2f} | {shown} |", flush=True)
    return 0


def installed(environment: Path) -> tuple[float, int]:
    """Return megabytes and packages of an environment, without pip and setuptools."""
    (packages,) = environment.glob("lib/python*/site-packages")
    own = ("pip", "setuptools", "pkg_resources", "_distutils_hack")
    files = (
        file
        for entry in packages.iterdir()
        if not entry.name.startswith(own)
        for file in ([entry] if entry.is_file() else entry.rglob("*"))
        if file.is_file() and "__pycache__" not in file.parts
    )
    names = [entry for entry in packages.glob("*.dist-info") if not entry.name.startswith(own)]
    return sum(file.stat().st_size for file in files) / 1e6, len(names)


def seconds(environment: Path, program: str) -> float | None:
    """Return the processor time of a new process; None if it fails or does not end within two minutes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as home:
        try:
            subprocess.run(
                [environment / "bin" / "python", "-c", program],
                check=True,
                cwd=home,
                env={"HOME": home, "PATH": "/usr/bin:/bin"},
                timeout=120,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
            return None
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    sys.exit(main())
