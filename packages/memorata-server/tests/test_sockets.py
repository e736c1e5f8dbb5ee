"""Listening; the life of a whole server is in packages/memorata-server/tests/test_commands.py."""

import socket

import pytest

from memorata.model.errors import InvalidArgument
from memorata_server.sockets import address_of, is_loopback, listening


def test_a_free_port_is_found_and_told() -> None:
    with listening("127.0.0.1", 0) as sock:
        address = address_of(sock)
        assert address == f"http://127.0.0.1:{sock.getsockname()[1]}"
        with pytest.raises(InvalidArgument, match="in use"), listening("127.0.0.1", sock.getsockname()[1]):
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


def test_what_is_loopback() -> None:
    assert all(map(is_loopback, ("127.0.0.1", "localhost", "LOCALHOST", "::1")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "", "10.0.0.1", "localhost.example")))
