"""Packages whose names load when first used."""

import subprocess
import sys

import pytest

from recollect import text
from recollect._on_demand import on_demand


def test_every_name_of_a_package_that_loads_on_demand_is_what_its_module_defines() -> None:
    for name in text.__all__:
        value = getattr(text, name)
        assert not isinstance(value, type(sys)), f"{name} is hidden by the module of that name"
    assert dir(text) == sorted(text.__all__)


def test_a_name_is_looked_up_once() -> None:
    load, _ = on_demand("recollect.text", {".folding": ["folded"]})
    assert load("folded") is vars(text)["folded"]


def test_a_name_that_is_not_there_says_what_is() -> None:
    with pytest.raises(
        AttributeError, match=r"module 'recollect.text' has no attribute 'sterns'; it has .*words"
    ):
        text.sterns  # noqa: B018


def test_reading_words_does_not_load_what_reads_names() -> None:
    code = "import sys, recollect.text.analysers; print('recollect.text.entities' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"
