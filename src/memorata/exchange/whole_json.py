"""A file that is one JSON value: its value, or what is wrong with it."""

from __future__ import annotations

import json
from typing import Any

from memorata.exchange.record import Record


def parsed(data: bytes) -> tuple[Any, Record | None]:
    r"""Return the value of a file, or why it cannot be read.

    Examples
    --------
    >>> parsed(b"[1, 2]")
    ([1, 2], None)
    >>> parsed(b'[1,\n 2')[1].problem
    "not JSON: Expecting ',' delimiter at character 7; the file may be cut short, and nothing of it was read"
    """
    try:
        return json.loads(data.decode("utf-8-sig")), None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        wrong = f"not UTF-8 at byte {error.start + 1} of the file; nothing of it was read"
        return None, Record(line, problem=wrong)
    except json.JSONDecodeError as error:
        ends = error.pos >= len(error.doc.rstrip()) or error.msg.startswith("Unterminated")
        short = "the file may be cut short, and " if ends else ""
        wrong = f"not JSON: {error.msg} at character {error.pos + 1}; {short}nothing of it was read"
        return None, Record(error.lineno, problem=wrong)
    except (ValueError, RecursionError) as error:
        return None, Record(1, problem=f"not JSON that can be read: {error}; nothing of it was read")
