"""What a person has agreed to on this machine: settings files, sources of embedders, and what keys are for.

To send texts to a service, or to load what is in a folder, is what a person has to agree to before a database
that somebody else made may ask for it. A specification names such a source, or none (:func:`source_of`).

It is kept in the person's data folder, readable by them alone, and never beside what it is about: a folder or
a foreign database cannot bring its own consent. A settings file is known by its path and
the hash of its content, so that one that was changed has to be agreed to again. A key is kept as its hash.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from memorata._environment import data_folder, make_folder
from memorata.embed.port import split_specification
from memorata.model.errors import InvalidArgument

_FILES: Final = "settings_files"
_SOURCES: Final = "sources"
_KEYS: Final = "keys"


def user_trust() -> Trust:
    """Return what the user of this process has agreed to."""
    return Trust(data_folder(os.environ, sys.platform, Path.home()) / "trust.json")


class Trust:
    """Consent in a file; one that is missing, or cannot be read, is consent to nothing."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def agrees_to_file(self, path: Path, content: bytes) -> bool:
        """Return whether a settings file was agreed to, with this content."""
        return self._table(_FILES).get(_key_of(path)) == _digest(content)

    def agree_to_file(self, path: Path, content: bytes) -> None:
        """Agree to a settings file as it is."""
        self._change(_FILES, lambda files: files.update({_key_of(path): _digest(content)}))

    def agrees_to_source(self, source: str) -> bool:
        """Return whether a service may be sent texts, or a folder's model be loaded, where a file asks."""
        return source in self._table(_SOURCES)

    def agree_to_source(self, source: str) -> None:
        """Agree to a source of embedders."""
        if not self.agrees_to_source(source):
            self._change(_SOURCES, lambda sources: sources.update({source: True}))

    def key_is_for(self, key: str, origin: str) -> bool:
        """Return whether a key was given for a service before."""
        return self._table(_KEYS).get(origin) == _digest(key.encode())

    def bind_key(self, key: str, origin: str) -> None:
        """Note that a key is for a service, in place of another that was before."""
        if not self.key_is_for(key, origin):
            self._change(_KEYS, lambda keys: keys.update({origin: _digest(key.encode())}))

    def withdraw(self, name: str) -> bool:
        """Take back consent to a settings file, by its path, or to a source; return whether there was any."""
        names = {name, _key_of(Path(name))}
        agreed = any(names & self._table(table).keys() for table in (_FILES, _SOURCES, _KEYS))
        for table in (_FILES, _SOURCES, _KEYS) if agreed else ():
            self._change(table, lambda entries: [entries.pop(entry, None) for entry in names])
        return agreed

    @property
    def files(self) -> tuple[str, ...]:
        """The settings files that were agreed to, as they were then."""
        return tuple(self._table(_FILES))

    @property
    def sources(self) -> tuple[str, ...]:
        """The services and folders that were agreed to."""
        return tuple(self._table(_SOURCES))

    def _table(self, name: str) -> dict[str, Any]:
        table = self._read().get(name)
        return table if isinstance(table, dict) else {}

    def _read(self) -> dict[str, Any]:
        try:
            content = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return {}
        return content if isinstance(content, dict) else {}

    def _change(self, table: str, change: Callable[[dict[str, Any]], object]) -> None:
        entries = self._table(table)
        change(entries)
        content = json.dumps(self._read() | {table: entries}, indent=2, ensure_ascii=False)
        make_folder(self.path.parent)
        partial = self.path.with_name(f"{self.path.name}.{os.getpid()}.partial")
        try:
            with open(partial, "w", encoding="utf-8", opener=_private) as file:
                file.write(content + "\n")
            partial.replace(self.path)
        finally:
            partial.unlink(missing_ok=True)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _key_of(path: Path) -> str:
    return str(path.absolute().resolve())


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


OPENAI = "https://api.openai.com/v1"
OLLAMA = "http://127.0.0.1:11434"
_DEFAULT_ADDRESSES = {"openai": OPENAI, "ollama": OLLAMA}
_PORTS = {"http": 80, "https": 443}


def source_of(specification: str) -> str | None:
    """Return the origin of the service that a specification names, or, with a folder or the like, all of it.

    None for models by their name, and for those of the hub's cache.
    """
    bare, _ = split_specification(specification)
    form, _, rest = bare.partition(":")
    if not rest or form == "hub":
        return None
    return origin_of(service_address(form, rest)[1]) if form in _DEFAULT_ADDRESSES else bare


def is_service(source: str) -> bool:
    """Return whether a source is a service, to which texts are sent."""
    return source.startswith(("http://", "https://"))


def service_address(form: str, rest: str) -> tuple[str, str]:
    """Return the model and the address in ``MODEL@ADDRESS``, or the usual address of the form."""
    # A model may be called @cf/baai/bge-m3; addresses begin alike.
    model, at, address = rest.partition("@http")
    if at:
        address = f"http{address}"
    else:
        model, _, address = rest.partition("@")
    return model, address or _DEFAULT_ADDRESSES.get(form, "")


def origin_of(address: str) -> str:
    """Return the scheme, host and port of an address: what identifies a service."""
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
        parts = urlsplit("")
    if parts.scheme not in _PORTS or not host or parts.username is not None:
        # Not shown: it may hold a password.
        raise InvalidArgument("address", "one that is not shown", "an address such as https://example.org")
    host = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{host}" + ("" if port in (None, _PORTS[parts.scheme]) else f":{port}")


def without_secrets(specification: str) -> str:
    """Return a specification as people may see it, though its address hold what no address should."""
    return re.sub(r"\?.*", "?***", re.sub(r"://[^/?#]*@", "://***@", specification))
