"""Consent is kept by its person alone, and a file that cannot be read is none."""

import json
from pathlib import Path

import pytest

from memorata.embed.trust import Trust, is_service, origin_of, source_of, user_trust
from memorata.model.errors import InvalidArgument


@pytest.fixture
def trust(tmp_path: Path) -> Trust:
    return Trust(tmp_path / "data" / "trust.json")


def test_nothing_is_agreed_to_before_somebody_does(trust: Trust, tmp_path: Path) -> None:
    assert not trust.agrees_to_file(tmp_path / "memorata.toml", b"")
    assert not trust.agrees_to_source("https://example.org")
    assert not trust.key_is_for("sk-1", "https://example.org")
    assert (trust.files, trust.sources) == ((), ())
    assert not trust.path.exists()


def test_a_file_is_known_by_its_path_and_its_content(trust: Trust, tmp_path: Path) -> None:
    path = tmp_path / "memorata.toml"
    trust.agree_to_file(path, b"a")
    assert trust.agrees_to_file(path, b"a")
    assert trust.agrees_to_file(tmp_path / "data" / ".." / "memorata.toml", b"a")
    assert not trust.agrees_to_file(path, b"b")
    assert not trust.agrees_to_file(tmp_path / "other.toml", b"a")
    assert trust.withdraw(str(path))
    assert not trust.agrees_to_file(path, b"a")
    assert not trust.withdraw(str(path))


def test_a_key_is_for_one_service_at_a_time_and_kept_as_a_hash(trust: Trust) -> None:
    trust.bind_key("sk-1", "https://example.org")
    assert trust.key_is_for("sk-1", "https://example.org")
    assert not trust.key_is_for("sk-2", "https://example.org")
    assert not trust.key_is_for("sk-1", "https://evil.example")
    assert "sk-1" not in trust.path.read_text()
    trust.bind_key("sk-2", "https://example.org")
    assert not trust.key_is_for("sk-1", "https://example.org")


def test_all_of_it_is_kept_together_and_for_its_owner_alone(trust: Trust, tmp_path: Path) -> None:
    trust.agree_to_source("https://example.org")
    trust.agree_to_file(tmp_path / "memorata.toml", b"a")
    trust.bind_key("sk-1", "https://example.org")
    assert trust.agrees_to_source("https://example.org")
    assert trust.path.stat().st_mode & 0o077 == 0
    assert trust.path.parent.stat().st_mode & 0o077 == 0
    assert [path.name for path in trust.path.parent.iterdir()] == ["trust.json"]
    assert trust.withdraw("https://example.org")
    assert not trust.agrees_to_source("https://example.org")
    assert not trust.key_is_for("sk-1", "https://example.org")
    assert trust.agrees_to_file(tmp_path / "memorata.toml", b"a")


@pytest.mark.parametrize("content", ["", "{", "[]", '{"sources": ["https://example.org"]}', "[" * 100_000])
def test_what_cannot_be_read_is_consent_to_nothing(trust: Trust, content: str) -> None:
    trust.path.parent.mkdir()
    trust.path.write_text(content)
    assert not trust.agrees_to_source("https://example.org")
    trust.agree_to_source("https://example.org")
    assert trust.agrees_to_source("https://example.org")
    assert isinstance(json.loads(trust.path.read_text()), dict)


def test_a_person_s_consent_is_in_their_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr("sys.platform", "linux")
    assert user_trust().path == tmp_path / "memorata" / "trust.json"


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
        ("of-another-package:model", "of-another-package:model"),
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
