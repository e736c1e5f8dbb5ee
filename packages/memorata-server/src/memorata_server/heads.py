"""A bound on the heads of requests: what a parser keeps before anything can ask who sends it.

uvicorn's parser collects the lines of a head, and of the trailers of a body, however many there are. Here a
request with more is answered 431 while it is read, and its connection is closed.
"""

from __future__ import annotations

from typing import Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from memorata import MemorataError

MAX_HEAD_BYTES: Final = 64 * 1024
MAX_HEAD_LINES: Final = 100
_MESSAGE: Final = f"the head of a request has at most {MAX_HEAD_BYTES // 1024} KB and {MAX_HEAD_LINES} lines"
_TOO_LONG: Final = (
    "HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-type: text/plain; charset=utf-8\r\n"
    f"content-length: {len(_MESSAGE)}\r\nconnection: close\r\n\r\n{_MESSAGE}"
).encode()


class HeadTooLong(MemorataError):  # noqa: N818 - named after what went wrong
    """The head of a request has more bytes or lines than are read."""


class BoundedHeads(HttpToolsProtocol):
    """uvicorn's protocol, with a bound on the head and the trailers of every request."""

    _bytes = 0
    _lines = 0
    _unparsed = 0
    """The bytes since the parser last had something whole to tell: of a line that does not end."""

    def data_received(self, data: bytes) -> None:
        """Parse what has arrived, as far as the bound."""
        self._unparsed += len(data)
        super().data_received(data)
        if self._unparsed + self._bytes > MAX_HEAD_BYTES and not self.transport.is_closing():
            self.send_400_response("")

    def on_message_begin(self) -> None:
        """Begin to count."""
        self._bytes = self._lines = self._unparsed = 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """Take a part of the address."""
        self._count(len(url), 0)
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a line of the head, or of the trailers."""
        self._count(len(name) + len(value), 1)
        super().on_header(name, value)

    def on_body(self, body: bytes) -> None:
        """Take a part of the body, whose length is bounded elsewhere."""
        self._unparsed = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End the request."""
        self._bytes = self._unparsed = 0
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse what the parser refused, or what is too long."""
        if self._unparsed + self._bytes <= MAX_HEAD_BYTES and self._lines <= MAX_HEAD_LINES:
            super().send_400_response(msg)
            return
        self.transport.write(_TOO_LONG)
        self.transport.close()

    def _count(self, size: int, lines: int) -> None:
        self._unparsed = 0
        self._bytes += size
        self._lines += lines
        if self._bytes > MAX_HEAD_BYTES or self._lines > MAX_HEAD_LINES:
            raise HeadTooLong(_MESSAGE)
