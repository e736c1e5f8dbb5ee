"""A form that narrows down becomes a filter the engine understands."""

import pytest

from memorata.engine import Engine
from memorata.model.errors import InvalidArgument
from memorata.web.filtering import FIELDS, filled, filter_of, kept, spellings
from memorata.web.values import Values


@pytest.mark.parametrize(
    ("form", "found"),
    [
        ("", ["coffee", "lisbon", "script", "tea"]),
        ("category=preference", ["coffee", "tea"]),
        ("text=TEA", ["coffee", "tea"]),
        ("speaker=Anna&tag=travel", ["lisbon"]),
        ("entity=Anna,+Boris", ["lisbon"]),
        ("session=attack", ["script"]),
        ("tier=working", []),
        ("since=2026-05-11", []),
        ("since=2026-05-10&until=2026-05-10", ["coffee", "lisbon", "script", "tea"]),
        ('filter={"place": {"exists": true}}', ["lisbon"]),
    ],
)
def test_a_form_finds_what_it_says(engine: Engine, form: str, found: list[str]) -> None:
    page = engine.list(filter=filter_of(Values.of(form)))
    assert sorted(memory.id for memory in page.memories) == found


def test_a_name_is_found_however_it_is_written(engine: Engine) -> None:
    engine.entities.merge("Anna", "Boris")
    engine.entities.describe("Anna", aliases=["Annie, the cook"])
    engine.remember("She cooked.", id="cook", entities=["Annie, the cook"])
    spelt = spellings(engine, "default")
    for name in ("anna", "Boris", "Annie\\, the cook"):
        page = engine.list(filter=filter_of(Values({"entity": [name]}), spelt))
        assert sorted(memory.id for memory in page.memories) == ["coffee", "cook", "lisbon", "tea"], name
    assert engine.list(filter=filter_of(Values({"entity": ["Nobody"]}), spelt)).memories == ()


@pytest.mark.parametrize("text", ["{", "[]", '"x"', "[" * 100_000])
def test_a_filter_that_is_no_object_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgument, match="filter"):
        filter_of(Values({"filter": [text]}))


def test_what_was_filled_in_is_kept() -> None:
    values = Values.of("tag=tea&q=x&speaker=")
    assert kept(values) == {"tag": "tea"}
    assert filled(values) == {**dict.fromkeys(FIELDS, ""), "tag": "tea"}
