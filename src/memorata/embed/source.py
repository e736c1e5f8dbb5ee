"""Where an embedder comes from: the service or the folder that its specification names."""

from __future__ import annotations

from urllib.parse import urlsplit

from memorata.embed.prompting import split
from memorata.model.errors import InvalidArgument

OPENAI = "https://api.openai.com/v1"
OLLAMA = "http://127.0.0.1:11434"
_USUAL = {"openai": OPENAI, "ollama": OLLAMA}
_PORTS = {"http": 80, "https": 443}


def source_of(specification: str) -> str | None:
    """Return the origin of the service, or the folder, that a specification names; None for other models.

    To send texts to a service, or to load what is in a folder, is what a person has to agree to before a
    database that somebody else made may ask for it.

    Examples
    --------
    >>> source_of("openai:small@https://Example.org/v1#none"), source_of("ollama:small")
    ('https://example.org', 'http://127.0.0.1:11434')
    >>> source_of("onnx:/srv/model"), source_of("builtin"), source_of("hub:org/name")
    ('onnx:/srv/model', None, None)
    """
    named, _ = split(specification)
    form, _, rest = named.partition(":")
    if form in ("onnx", "static") and rest:
        return named
    if form not in _USUAL or not rest:
        return None
    return origin_of(service_address(form, rest)[1])


def is_service(source: str) -> bool:
    """Return whether a source is a service, to which texts are sent."""
    return source.startswith(("http://", "https://"))


def service_address(form: str, rest: str) -> tuple[str, str]:
    """Return the model and the address in ``MODEL@ADDRESS``; the usual address of the form if there is none.

    Examples
    --------
    >>> service_address("openai", "@cf/baai/bge-m3@http://localhost/v1")
    ('@cf/baai/bge-m3', 'http://localhost/v1')
    """
    # A model may be called @cf/baai/bge-m3; addresses begin alike.
    model, at, address = rest.partition("@http")
    if at:
        address = f"http{address}"
    else:
        model, _, address = rest.partition("@")
    return model, address or _USUAL[form]


def origin_of(address: str) -> str:
    """Return the scheme, host and port of an address: all that says who is asked.

    Examples
    --------
    >>> origin_of("HTTPS://Example.org:443/v1/embeddings"), origin_of("http://[::1]:8080")
    ('https://example.org', 'http://[::1]:8080')
    """
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
