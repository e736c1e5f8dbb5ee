"""How all tests are run: hypothesis without a deadline, the long ones first, and what coverage is taken of.

Coverage is taken of the pure core, by its own tests that are worked by hand. A tracer would make every other
test half as long again and tell nothing, and properties twice as long, which go over the same lines a hundred
times; so it is off while they run, and while tests are collected. The core is imported before, for lines that
run at its import count as well.
"""

import gc
import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager, nullcontext
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import pytest
from coverage import Coverage
from hypothesis import settings

# These machines are shared, and a slow example is not a wrong one.
settings.register_profile("here", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")

HERE = Path(__file__).parent
CORE = ("model", "text", "rank", "graph", "geo", "dedupe")
WATCHED = {
    HERE / "test_bad_input.py",
    *(folder / name for folder in (HERE, HERE.parent / "src" / "memorata") for name in CORE),
}


@pytest.hookimpl(trylast=True)
def pytest_sessionstart() -> None:
    """Import the whole core while it is watched; a worker begins to watch in this hook."""
    if Coverage.current() is not None:
        for name in CORE:
            package = import_module(f"memorata.{name}")
            for found in walk_packages(package.__path__, f"{package.__name__}."):
                import_module(found.name)


@pytest.fixture(scope="session", autouse=True)
def own_data_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep what tests agree to, and what they would find in a person's data folder, out of that folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
        yield


@pytest.fixture(autouse=True)
def nothing_is_trusted(own_data_folder: None) -> None:
    """Begin without what the test before agreed to."""
    Path(os.environ["XDG_DATA_HOME"], "memorata", "trust.json").unlink(missing_ok=True)


@contextmanager
def unwatched() -> Iterator[None]:
    """Run the block without a tracer."""
    tracer = Coverage.current()
    if tracer is not None:
        tracer.stop()
    try:
        yield
    finally:
        if tracer is not None:
            tracer.start()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect without looking for garbage: millions of objects are made here, and all of them stay."""
    gc.disable()
    try:
        with unwatched():
            return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    of_core = WATCHED.intersection((item.path, *item.path.parents))
    with nullcontext() if of_core and item.get_closest_marker("hypothesis") is None else unwatched():
        return (yield)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the long ones first: begun last, one of them would run alone while the other workers idle."""
    items.sort(key=lambda item: item.get_closest_marker("long") is None)
