"""Packages whose names load when first used."""

import subprocess
import sys
from types import ModuleType

import pytest

from memorata import dedupe, embed, engine, model, rank, text
from memorata._on_demand import on_demand


@pytest.mark.parametrize("package", [dedupe, embed, engine, model, rank, text])
def test_every_name_of_a_package_that_loads_on_demand_is_what_its_module_defines(package: ModuleType) -> None:
    for name in package.__all__:
        value = getattr(package, name)
        assert not isinstance(value, ModuleType), f"{name} is hidden by the module of that name"
    assert dir(package) == sorted(package.__all__)


@pytest.mark.parametrize(
    ("load", "ask"),
    [
        ("memorata.dedupe.contradiction", "from memorata import dedupe; named = dedupe.contradiction"),
        ("memorata.rank.fusion.legs", "from memorata.rank import fusion as named"),
        ("memorata.engine.recipes", "from memorata.engine import recipe as named"),
    ],
)
def test_a_function_is_not_hidden_by_a_module_of_its_name_that_was_loaded_first(load: str, ask: str) -> None:
    code = f"import {load}; {ask}; print(type(named).__name__)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "function\n"


def test_a_name_is_looked_up_once() -> None:
    load, _ = on_demand("memorata.text", {".tokens": ["folded"]})
    assert load("folded") is vars(text)["folded"]


def test_a_name_that_is_not_there_says_what_is() -> None:
    with pytest.raises(
        AttributeError, match=r"module 'memorata.text' has no attribute 'sterns'; it has .*words"
    ):
        text.sterns  # noqa: B018


def test_reading_words_does_not_load_what_reads_names() -> None:
    code = "import sys, memorata.text.analysers; print('memorata.text.entities' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"
