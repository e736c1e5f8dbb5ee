"""Readers of data sets in their official formats, from a path that the user gives."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from memorata.extend.errors import InvalidArgument
from memorata.extend.model import checks
from memorata_lab.evaluate.dataset import Dataset
from memorata_lab.evaluate.datasets.conversations import read_locomo, read_longmemeval
from memorata_lab.evaluate.datasets.document_collections import (
    read_beir,
    read_facts,
    read_jsonl,
    read_multihop,
    read_smart,
)

__all__ = ["READERS", "open_dataset"]

READERS: Mapping[str, Callable[..., Dataset]] = MappingProxyType(
    {
        "longmemeval": read_longmemeval,
        "locomo": read_locomo,
        "multihop": read_multihop,
        "beir": read_beir,
        "smart": read_smart,
        "facts": read_facts,
        "jsonl": read_jsonl,
    }
)
"""The reader of each format; called with a path and the format's own options."""


def open_dataset(name: str, path: str | Path, **options: Any) -> Dataset:  # noqa: ANN401 - each reader has its own
    """Open a data set by the name of its format; the options are those of its reader."""
    reader = READERS[checks.one_of("name", name, list(READERS))]
    if not isinstance(path, str | Path):
        raise InvalidArgument("path", path, "a path")
    names = [option for option in inspect.signature(reader).parameters if option != "path"]
    for option, value in options.items():
        if option not in names:
            raise InvalidArgument(option, value, f"an option of {name} ({', '.join(names) or 'it has none'})")
    return reader(path, **options)
