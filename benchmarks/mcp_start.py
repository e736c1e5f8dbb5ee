"""How long an agent waits for its tools: from starting ``memorata server mcp`` to the list of tools.

Run ``python -m benchmarks.mcp_start``. Beside it stands the least server that the SDK can be, which is the
floor, and the first recall, which loads the engine and the embedder. The processor's time is told as well,
since others may be using the machine.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import IO, Any, NamedTuple

_STARTS = 9
_LEAST = """
import asyncio
import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server

async def listed(context, params):
    return types.ListToolsResult(tools=[])

async def main():
    server = Server("least", on_list_tools=listed)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())

asyncio.run(main())
"""
_HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "benchmark", "version": "1"},
}
_RECALL = {"name": "recall", "arguments": {"query": "what tea does Anna like?"}}


class Start(NamedTuple):
    """Seconds until the list of tools, by the clock and by the processor, and until the first recall."""

    listed: float
    processor: float
    recalled: float


def start(command: list[str], *, recall: bool) -> Start:
    """Return how long one start took."""
    begun = time.perf_counter()
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        _asked(process.stdin, process.stdout, "initialize", _HELLO)
        _sent(process.stdin, {"method": "notifications/initialized"})
        _asked(process.stdin, process.stdout, "tools/list", {})
        listed, processor = time.perf_counter() - begun, _processor_seconds(process.pid)
        if recall:
            _asked(process.stdin, process.stdout, "tools/call", _RECALL)
        recalled = time.perf_counter() - begun
        process.stdin.close()
    return Start(listed, processor, recalled)


def _asked(to: IO[bytes], by: IO[bytes], method: str, params: dict[str, Any]) -> None:
    _sent(to, {"id": 1, "method": method, "params": params})
    answer = json.loads(by.readline())
    if "result" not in answer:
        raise RuntimeError(f"{method}: {answer}")


def _sent(to: IO[bytes], message: dict[str, Any]) -> None:
    to.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    to.flush()


def _processor_seconds(process: int) -> float:
    """Return the processor's time of a process so far; NaN where there is no ``/proc``."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return float("nan")
    ticks: int = os.sysconf("SC_CLK_TCK")
    return (int(fields[11]) + int(fields[12])) / ticks


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        ours = [sys.executable, "-m", "memorata", "server", "mcp", "--db", str(Path(folder) / "memories.db")]
        start(ours, recall=True)  # makes the database, and fills the caches of files
        for name, command, recall in (
            ("the least server of the SDK", [sys.executable, "-c", _LEAST], False),
            ("memorata server mcp", ours, True),
        ):
            starts = [start(command, recall=recall) for _ in range(_STARTS)]
            told = f"{name}: tools listed after {median(each.listed for each in starts):.2f} s"
            told += f" (fastest {min(each.listed for each in starts):.2f} s,"
            told += f" processor {min(each.processor for each in starts):.2f} s)"
            if recall:
                told += f"; first recall answered after {median(each.recalled for each in starts):.2f} s"
            print(told)


if __name__ == "__main__":
    main()
