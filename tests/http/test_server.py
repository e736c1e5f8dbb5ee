"""Listening; the life of a whole server is in tests/cli/test_server.py."""

import socket

import pytest

from memorata.http.server import address_of, listening


def test_a_free_port_is_found_and_told() -> None:
    with listening("127.0.0.1", 0) as sock:
        address = address_of(sock)
        assert address == f"http://127.0.0.1:{sock.getsockname()[1]}"
        with pytest.raises(OSError, match="in use"), listening("127.0.0.1", sock.getsockname()[1]):
            pass


def test_no_packet_waits_for_the_one_before() -> None:
    with listening("127.0.0.1", 0) as sock, socket.create_connection(sock.getsockname()):
        accepted, _ = sock.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_an_address_of_version_six_is_in_brackets() -> None:
    if not socket.has_ipv6:
        pytest.skip("this machine has no IPv6")
    with listening("::1", 0) as sock:
        assert address_of(sock).startswith("http://[::1]:")
