"""How tests are run: hypothesis without a deadline, the long ones first, and what coverage is measured by.

Coverage is measured of every package, by the short tests that are worked by hand: a tracer makes these three
quarters longer. It would make property tests twice as long, which go over the same lines a hundred times,
and tells nothing of programs that tests start in processes of their own; so it is off while properties, long
tests and pages of the documentation run, in tests of a third of a second and more that are marked `untraced`
because shorter ones go over their lines, and while tests are collected. The packages are imported before, for
lines that run at import count too.
"""

import gc
import os
import sys
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager, nullcontext
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import walk_packages
from typing import cast

import pytest
from coverage import Coverage
from hypothesis import settings

from memorata.store.sqlite import connection
from memorata.store.sqlite.session import SqliteSession

if sys.platform != "win32":
    import fcntl

# Fixtures of several distributions, each of them once: a server is started and stopped by one of its name.
pytest_plugins = ["memorata.testing.commands"]
if find_spec("memorata_postgres") is not None:
    pytest_plugins.append("memorata_postgres.testing")

# These machines are shared, and a slow example is not a wrong one.
# Each run draws other examples, so many short runs find what a long one finds.
settings.register_profile("here", deadline=None, max_examples=20)
settings.register_profile("ci", deadline=None, max_examples=20, derandomize=True)
settings.register_profile("thorough", deadline=None, max_examples=300)
settings.load_profile(os.environ.get("MEMORATA_TEST_PROFILE") or ("ci" if os.environ.get("CI") else "here"))

UNTRACED = ("hypothesis", "long", "untraced")
"""Markers of tests that run without a tracer."""
TRACED_CASES = 3
"""How many cases of a parametrised test are traced: the others go over the same lines."""
BYTECODE_LOCK = pytest.StashKey[int]()
"""Held by a worker while it imports: see `lock_bytecode`."""


def lock_bytecode() -> int:
    """Wait until the first worker has imported everything, or be the first.

    In a new clone, that one writes bytecode, with asserts rewritten, and the others read it: 30 s of
    processor for the first and 11 s for each of the others, instead of 30 s for each.
    """
    file = os.open(__file__, os.O_RDONLY)
    if sys.platform != "win32":
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            fcntl.flock(file, fcntl.LOCK_SH)
    return file


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Import every module while it is traced; a worker begins to trace in this hook.

    The process that hands the tests out to workers runs none, and they all wait for it to begin.
    """
    if "PYTEST_XDIST_WORKER" in os.environ:
        session.stash[BYTECODE_LOCK] = lock_bytecode()
    tracer = Coverage.current()
    if tracer is not None and not session.config.pluginmanager.hasplugin("dsession"):
        # Adapters of frameworks are imported by their own tests, where the frameworks are installed.
        omitted = cast("list[str]", tracer.get_option("run:omit"))
        for package in cast("list[str]", tracer.get_option("run:source")):
            for module in walk_packages(import_module(package).__path__, f"{package}."):
                file = f"src/{module.name.replace('.', '/')}.py"
                if not module.name.endswith("__main__") and not any(path.endswith(file) for path in omitted):
                    import_module(module.name)


@pytest.fixture(scope="session", autouse=True)
def own_data_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep what tests agree to, and what they would find in a person's data folder, out of that folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
        yield


@pytest.fixture(scope="session", autouse=True)
def tables_are_made_once() -> Iterator[None]:
    """Begin stores that no file holds as copies of an empty one: half of opening one is making tables."""
    opened = connection._opened_to_write
    with closing(connection.connect(connection.IN_MEMORY)) as empty, pytest.MonkeyPatch.context() as patch:

        def copied(name: str, key: str | None) -> SqliteSession:
            session = opened(name, key)
            if name == connection.IN_MEMORY:
                empty.backup(session)
            return session

        patch.setattr(connection, "_opened_to_write", copied)
        yield


@pytest.fixture(autouse=True)
def nothing_is_trusted(own_data_folder: None) -> None:
    """Begin without what the test before agreed to."""
    Path(os.environ["XDG_DATA_HOME"], "memorata", "trust.json").unlink(missing_ok=True)


@contextmanager
def untraced() -> Iterator[None]:
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
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Collect without looking for garbage: millions of objects are made here, and all of them stay."""
    gc.disable()
    try:
        with untraced():
            return (yield)
    finally:
        gc.freeze()
        gc.enable()
        if BYTECODE_LOCK in session.stash:
            os.close(session.stash[BYTECODE_LOCK])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Run a test without a tracer where a marker says so."""
    with untraced() if any(map(item.get_closest_marker, UNTRACED)) else nullcontext():
        return (yield)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the long ones first: begun last, one of them would run alone while the other workers idle."""
    cases: Counter[str] = Counter()
    for item in items:
        function = item.nodeid.partition("[")[0]
        cases[function] += 1
        if cases[function] > TRACED_CASES or item.path.suffix == ".md":
            item.add_marker("untraced")
    items.sort(key=lambda item: item.get_closest_marker("long") is None)
