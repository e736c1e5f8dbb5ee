"""Every declared parameter has a control, and what a form sends is what the engine is told to change."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from memorata.engine.recipes import GROUPS, PARAMETERS, RECIPES, Recipe
from memorata.model.errors import InvalidArgument
from memorata.model.parameter import Parameter
from memorata_server.web.forms import controls, read_changes, written

MINE = Recipe(name="mine")


def test_every_parameter_but_the_analyser_has_one_control() -> None:
    names = [control.name for group in controls(MINE, {}) for control in group.controls]
    assert sorted(names) == sorted(each.name for each in PARAMETERS if each.name != "analyser")


def test_the_balance_of_meaning_and_words_comes_first() -> None:
    first = controls(MINE, {})[0]
    assert (first.title, first.controls[0].name) == ("", "vector_weight")


def test_kinds_follow_the_declarations() -> None:
    kinds = {control.name: control for group in controls(MINE, {}) for control in group.controls}
    assert (kinds["fusion"].kind, kinds["deduplicate"].kind, kinds["k1"].kind) == (
        "choice",
        "switch",
        "range",
    )
    assert (kinds["k1"].low, kinds["k1"].high, kinds["k1"].step) == ("0", "3", "0.03")
    assert kinds["vector_pool"].step == "1"


def test_a_change_is_counted_in_its_group() -> None:
    groups = {group.title: group.changed for group in controls(MINE, {"k1": 1.2, "b": 0.75})}
    assert (groups["Words"], groups["Fusion"]) == (2, 0)


def test_a_value_between_two_steps_is_left_where_it_is() -> None:
    memento = {c.name: c for group in controls(RECIPES["memento"], {}) for c in group.controls}
    assert (memento["graph_weight"].value, memento["graph_weight"].step) == ("0.428571", "any")


@pytest.mark.parametrize("recipe", sorted(RECIPES))
def test_a_form_as_it_was_shown_changes_nothing(recipe: str) -> None:
    chosen = RECIPES[recipe]
    sent = {control.name: [control.value] for group in controls(chosen, {}) for control in group.controls}
    assert read_changes(chosen, sent) == {}


def test_types_are_those_of_the_parameters() -> None:
    sent = {"vector_weight": ["0.25"], "vector_pool": ["7"], "deduplicate": ["false"], "fusion": ["rrf"]}
    changes = read_changes(MINE, sent)
    assert changes == {"vector_weight": 0.25, "vector_pool": 7, "deduplicate": False, "fusion": "rrf"}
    assert replace(MINE, **changes).vector_pool == 7


def test_a_ticked_switch_wins_over_the_hidden_field_before_it() -> None:
    assert read_changes(MINE, {"anchored": ["false", "true"]}) == {"anchored": True}
    assert read_changes(MINE, {"anchored": ["false"]}) == {}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("vector_weight", "much"),
        ("vector_weight", "1.5"),
        ("vector_weight", "nan"),
        ("vector_pool", "1.5"),
        ("vector_pool", "-1"),
        ("deduplicate", "perhaps"),
        ("fusion", "magic"),
    ],
)
def test_what_a_parameter_cannot_have_is_refused_by_name(name: str, text: str) -> None:
    with pytest.raises(InvalidArgument, match=name):
        read_changes(MINE, {name: [text]})


def test_numbers_are_written_as_people_write_them() -> None:
    assert (written(15.0), written(0.18), written(100_000.0)) == ("15", "0.18", "100000")


def test_a_new_parameter_is_in_the_group_it_declares(monkeypatch: pytest.MonkeyPatch) -> None:
    new = Parameter("novelty", float, 0.5, "How new.", 0, 1, (), GROUPS[-1])
    monkeypatch.setattr("memorata_server.web.forms.PARAMETERS", (*PARAMETERS, new))
    last = controls(SimpleNamespace(**MINE.as_dict(), novelty=0.5), {})[-1]  # type: ignore[arg-type]
    assert (last.title, last.controls[-1].name) == (GROUPS[-1], "novelty")


def test_a_control_shows_its_value_beside_that_of_the_recipe() -> None:
    first = controls(Recipe(name="mine"), {"vector_weight": 0.7})[0].controls[0]
    assert (first.label, first.kind, first.value, first.default) == ("Vector weight", "range", "0.7", "0.5")
    assert first.changed
    fields = {"vector_weight": ["0.7"], "trade": ["0.7"], "q": ["tea"]}
    assert read_changes(Recipe(name="mine"), fields) == {"vector_weight": 0.7}
    assert [written(value) for value in (0.25, True, 3, "rrf")] == ["0.25", "true", "3", "rrf"]
