"""Anthropic's memory tool: what Claude notes under ``/memories`` can be recalled, and has a history.

A file is a memory under its path (:meth:`memorata.Engine.put`). Texts and errors are those of the SDK's
``BetaLocalFilesystemMemoryTool``, which models know. What differs: a directory is there as long as a file is
in it, and counts as 4K.
"""

from __future__ import annotations

import asyncio
import posixpath
from typing import TYPE_CHECKING, Any, Final

from memorata.extend.errors import MemorataError, MemoryNotFound, MissingExtra
from memorata.extend.transfer import listed

try:
    from anthropic.lib.tools import ToolError
    from anthropic.tools.memory import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool
except ImportError as error:
    raise MissingExtra("Anthropic's memory tool", "anthropic") from error

if TYPE_CHECKING:
    from memorata import Engine
    from memorata.extend.model import Memory

NAMESPACE: Final = "claude"
_ROOT: Final = "/memories"
_NUMBER_WIDTH: Final = 6
_DIRECTORY_SIZE: Final = 4096
# A memory has a text; a file may be blank.
_BLANK: Final = "(blank file)"
_MISSING: Final = "The path {} does not exist. Please provide a valid path."


class MemorataMemoryTool(BetaAbstractMemoryTool):
    """A tool for ``client.beta.messages.tool_runner(tools=[…])``.

    Parameters
    ----------
    engine
        An open memory.
    namespace
        Where in it the files are; ``engine.recall(…, namespace=…)`` searches them.
    cache_control
        That of the SDK.
    """

    def __init__(self, engine: Engine, *, namespace: str = NAMESPACE, cache_control: Any = None) -> None:  # noqa: ANN401
        super().__init__(cache_control=cache_control)
        self.engine = engine
        self.namespace = namespace

    def execute(self, command: Any) -> Any:  # noqa: ANN401 - of six types
        """Carry out a command; errors of the memory are returned to the model."""
        try:
            return super().execute(command)
        except MemorataError as error:
            raise ToolError(str(error)) from error

    def view(self, command: Any) -> str:  # noqa: ANN401
        """Return a file with line numbers, or what is in a directory."""
        path = _path(command.path)
        text = self._read(path)
        if text is None:
            below = self._below(path)
            if not below and path != _ROOT:
                raise ToolError(_MISSING.format(command.path))
            return _listing(command.path, path, below)
        lines, start = text.split("\n"), 1
        if command.view_range and len(command.view_range) == 2:
            start = max(1, command.view_range[0])
            end = len(lines) if command.view_range[1] == -1 else command.view_range[1]
            lines = lines[start - 1 : end]
        return f"Here's the content of {command.path} with line numbers:\n{_numbered(lines, start)}"

    def create(self, command: Any) -> str:  # noqa: ANN401
        """Make a file."""
        path = _path(command.path)
        if self._exists(path):
            raise ToolError(f"File {command.path} already exists")
        self._write(path, command.file_text)
        return f"File created successfully at: {command.path}"

    def str_replace(self, command: Any) -> str:  # noqa: ANN401
        """Replace a text that occurs once."""
        path, text = self._file(command.path)
        first = text.find(command.old_str)
        if first < 0:
            raise ToolError(
                f"No replacement was performed, old_str `{command.old_str}` did not appear verbatim "
                f"in {command.path}."
            )
        if text.count(command.old_str) > 1:
            starts = [at for at in range(len(text)) if text.startswith(command.old_str, at)]
            numbers = ", ".join(str(text.count("\n", 0, at) + 1) for at in starts)
            raise ToolError(
                f"No replacement was performed. Multiple occurrences of old_str `{command.old_str}` "
                f"in lines: {numbers}. Please ensure it is unique"
            )
        changed = text.replace(command.old_str, command.new_str)
        self._write(path, changed)
        around = max(0, text.count("\n", 0, first) - 2)
        lines = changed.split("\n")[around : text.count("\n", 0, first) + 3]
        return (
            "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n"
            + _numbered(lines, around + 1)
        )

    def insert(self, command: Any) -> str:  # noqa: ANN401
        """Insert lines after a line."""
        path, text = self._file(command.path)
        lines = text.removesuffix("\n").split("\n") if text else []
        if not 0 <= command.insert_line <= len(lines):
            raise ToolError(
                f"Invalid `insert_line` parameter: {command.insert_line}. "
                f"It should be within the range [0, {len(lines)}]."
            )
        lines.insert(command.insert_line, command.insert_text.rstrip("\n"))
        changed = "\n".join(lines)
        self._write(path, changed if changed.endswith("\n") else changed + "\n")
        return f"The file {command.path} has been edited."

    def delete(self, command: Any) -> str:  # noqa: ANN401
        """Forget a file, or all in a directory."""
        path = _path(command.path)
        if path == _ROOT:
            raise ToolError("Cannot delete the /memories directory itself")
        ids = [memory.id for memory in self._at_or_below(path)]
        if not ids:
            raise ToolError(f"The path {command.path} does not exist")
        self.engine.forget(*ids, namespace=self.namespace)
        return f"Successfully deleted {command.path}"

    def rename(self, command: Any) -> str:  # noqa: ANN401
        """Move a file or a directory; each is there under one of the names at any time."""
        old, new = _path(command.old_path), _path(command.new_path)
        if old == _ROOT:
            raise ToolError("Cannot rename the /memories directory itself")
        if self._exists(new):
            raise ToolError(f"The destination {command.new_path} already exists")
        memories = self._at_or_below(old)
        if not memories:
            raise ToolError(f"The path {command.old_path} does not exist")
        for memory in memories:
            self._write(new + str(memory.metadata["path"])[len(old) :], _text(memory))
        self.engine.forget(*(memory.id for memory in memories), namespace=self.namespace)
        return f"Successfully renamed {command.old_path} to {command.new_path}"

    def clear_all_memory(self) -> str:
        """Forget every file."""
        self.engine.forget(filter={"category": "file"}, namespace=self.namespace)
        return "All memory cleared"

    def _read(self, path: str) -> str | None:
        try:
            return _text(self.engine.get(key=path, namespace=self.namespace))
        except MemoryNotFound:
            return None

    def _file(self, address: str) -> tuple[str, str]:
        path = _path(address)
        text = self._read(path)
        if text is None:
            directory = path == _ROOT or self._below(path)
            raise ToolError(f"The path {address} is not a file." if directory else _MISSING.format(address))
        return path, text

    def _write(self, path: str, text: str) -> None:
        parents = [path[:at] for at in range(len(_ROOT) + 1, len(path)) if path[at] == "/"]
        if file_parent := next((parent for parent in parents if self._read(parent) is not None), None):
            raise ToolError(f"File {file_parent} already exists")
        about = {"path": path} if text.strip() else {"path": path, "text": text}
        self.engine.put(
            path, text if text.strip() else _BLANK, namespace=self.namespace, category="file", metadata=about
        )

    def _exists(self, path: str) -> bool:
        return path == _ROOT or bool(self._at_or_below(path))

    def _below(self, path: str) -> list[Memory]:
        return [memory for memory in self._at_or_below(path) if memory.metadata["path"] != path]

    def _at_or_below(self, path: str) -> list[Memory]:
        # "0" comes next after "/".
        inside = {"metadata.path": {">=": path + "/", "<": path + "0"}}
        condition = {"category": "file", "or": [{"metadata.path": path}, inside]}
        return list(listed(self.engine, condition, namespace=self.namespace))


class MemorataAsyncMemoryTool(BetaAsyncAbstractMemoryTool):
    """The same for an asynchronous client; the parameters are those of :class:`MemorataMemoryTool`."""

    def __init__(self, engine: Engine, *, namespace: str = NAMESPACE, cache_control: Any = None) -> None:  # noqa: ANN401
        super().__init__(cache_control=cache_control)
        self._tool = MemorataMemoryTool(engine, namespace=namespace)

    async def execute(self, command: Any) -> Any:  # noqa: ANN401 - of six types
        """Carry out a command, on a thread."""
        return await asyncio.to_thread(self._tool.execute, command)

    # The base class wants each command; all go through `execute`.
    view = create = str_replace = insert = delete = rename = execute

    async def clear_all_memory(self) -> str:
        """Forget every file."""
        return await asyncio.to_thread(self._tool.clear_all_memory)


def _path(address: str) -> str:
    """Return a path without detours, or raise."""
    if not address.startswith(_ROOT):
        raise ToolError(f"Path must start with /memories, got: {address}")
    inside = posixpath.normpath(address[len(_ROOT) :].lstrip("/") or ".")
    if inside == ".." or inside.startswith("../"):
        raise ToolError(f"Path {address} would escape /memories directory")
    return _ROOT if inside == "." else f"{_ROOT}/{inside}"


def _text(memory: Memory) -> str:
    return str(memory.metadata.get("text", memory.content))


def _numbered(lines: list[str], start: int) -> str:
    return "\n".join(f"{number:>{_NUMBER_WIDTH}}\t{line}" for number, line in enumerate(lines, start))


def _listing(shown: str, path: str, below: list[Memory]) -> str:
    """Return what is in a directory, two levels deep, without hidden items."""
    sizes: dict[tuple[str, ...], int] = {}
    for memory in below:
        parts = tuple(str(memory.metadata["path"])[len(path) + 1 :].split("/"))
        if not any(part.startswith(".") for part in parts[:2]):
            sizes[parts] = len(_text(memory).encode())
    names = {parts[:depth] for parts in sizes for depth in (1, 2)}
    rows = [f"{_size(_DIRECTORY_SIZE)}\t{shown}"]
    for parts in sorted(names):
        directory = parts not in sizes
        size = _size(_DIRECTORY_SIZE if directory else sizes[parts])
        rows.append(f"{size}\t{shown}/{'/'.join(parts)}{'/' if directory else ''}")
    header = f"Here're the files and directories up to 2 levels deep in {shown}, excluding hidden items:"
    return "\n".join([header, *rows])


def _size(count: int) -> str:
    unit = min(max(count.bit_length() - 1, 0) // 10, 3)
    size = count / 1024**unit
    return f"{int(size) if size == int(size) else format(size, '.1f')}{'BKMG'[unit]}"
