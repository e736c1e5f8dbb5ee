"""Which service or folder a specification names, however it is written."""

import pytest

from memorata.embed.source import is_service, origin_of, source_of
from memorata.model.errors import InvalidArgument


@pytest.mark.parametrize(
    ("specification", "source"),
    [
        ("auto", None),
        ("lexical", None),
        ("arctic-embed-s#none", None),
        ("hub:org/name", None),
        ("openai:", None),
        ("openai:small", "https://api.openai.com"),
        ("ollama:small#none", "http://127.0.0.1:11434"),
        ("openai:@cf/baai/bge-m3@https://example.org:8443/v1", "https://example.org:8443"),
        ("onnx:/srv/model#retrieval", "onnx:/srv/model"),
        ("static:model", "static:model"),
    ],
)
def test_the_source_of_a_specification(specification: str, source: str | None) -> None:
    assert source_of(specification) == source
    assert source is None or is_service(source) == source.startswith("http")


@pytest.mark.parametrize(
    "same", ["https://example.org", "HTTPS://EXAMPLE.org/v1/", "https://example.org:443/x?y#z"]
)
def test_one_origin_however_it_is_written(same: str) -> None:
    assert origin_of(same) == "https://example.org"


@pytest.mark.parametrize(
    "other", ["http://example.org", "https://example.org:8443", "https://example.org.evil.example"]
)
def test_another_scheme_port_or_host_is_another_origin(other: str) -> None:
    assert origin_of(other) != "https://example.org"


@pytest.mark.parametrize(
    "wrong",
    ["", "example.org", "ftp://example.org", "http://", "http://[::1", "http://x:port", "https://a:s3@b"],
)
def test_what_is_no_address_is_refused_and_not_shown(wrong: str) -> None:
    with pytest.raises(
        InvalidArgument, match=r"address must be an address such as https://example\.org"
    ) as e:
        origin_of(wrong)
    assert "s3" not in str(e.value)
