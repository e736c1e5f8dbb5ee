"""What the server writes down: one JSON object a line, on standard error.

No line holds what a memory says, what was asked, or the name of an entity: a path is written as its template,
and an error by its type and place. Only where the operator asks for it are the words of an error written too.
"""

from __future__ import annotations

import json
import logging
import sys
import threading
import traceback
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TextIO

NAME: Final = "memorata.http"
LOG: Final = logging.getLogger(NAME)
_FRAMES: Final = 8
_TOP: Final = ("memorata", "uvicorn", "asyncio")


class JsonLines(logging.Formatter):
    """Writes a record as one line of JSON.

    Parameters
    ----------
    contents
        Whether the words of an error are written, which may repeat what somebody said.
    """

    def __init__(self, *, contents: bool = False) -> None:
        super().__init__()
        self._contents = contents

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        fields = getattr(record, "fields", None)
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage() if fields is not None or self._contents else _without_words(record),
            "logger": record.name,
        }
        if isinstance(fields, Mapping):
            line |= fields
        if record.exc_info is not None and record.exc_info[1] is not None:
            line |= told(record.exc_info[1], contents=self._contents)
        return json.dumps(line, ensure_ascii=True, default=str)


def told(error: BaseException, *, contents: bool = False) -> dict[str, Any]:
    """Return what a log says about an error: its type and where it came from.

    Examples
    --------
    >>> told(KeyError("what somebody said"))
    {'error': 'KeyError', 'at': []}
    """
    frames = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
    at = [f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames]
    words = {"message": str(error)} if contents else {}
    return {"error": type(error).__name__, "at": at, **words}


def _without_words(record: logging.LogRecord) -> str:
    """Return what a library says, before anything is put in; asyncio puts all of it in before."""
    return "event loop" if record.name == "asyncio" else str(record.msg)


def set_up(level: str = "info", *, contents: bool = False, stream: TextIO | None = None) -> logging.Handler:
    """Send what the server and its libraries log to standard error; return what does it."""
    handler = logging.StreamHandler(sys.stderr if stream is None else stream)
    handler.setFormatter(JsonLines(contents=contents))
    for name in (*_TOP, "uvicorn.error", "uvicorn.access"):
        logger = logging.getLogger(name)
        logger.handlers = [handler] if name in _TOP else []
        logger.propagate = name not in _TOP
        logger.setLevel(level.upper() if name == "memorata" else logging.WARNING)
    threading.excepthook = _broken
    return handler


def write(event: str, level: int = logging.INFO, error: BaseException | None = None, **fields: Any) -> None:  # noqa: ANN401
    """Write a line about the server."""
    LOG.log(level, event, extra={"fields": fields}, exc_info=error)


def _broken(args: threading.ExceptHookArgs) -> None:
    """Write down that a thread came to a bad end; Python itself would print all of its words."""
    if args.exc_type is not SystemExit:
        name = "" if args.thread is None else args.thread.name
        write("thread failed", logging.ERROR, args.exc_value, thread=name)
