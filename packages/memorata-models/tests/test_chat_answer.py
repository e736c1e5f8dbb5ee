import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.model.entity import Entity, Relation
from memorata.model.errors import ServiceAnswerInvalid
from memorata.text import Gazetteer
from memorata_models.extraction import Reading, readings

JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["entities", "relations", "name", "type", "source", "target"]), inner
        )
    ),
    max_leaves=12,
)


def message(content: object) -> object:
    return {"choices": [{"message": {"role": "assistant", "content": content}}]}


def test_an_answer_in_a_fence_is_read_too() -> None:
    said = {"texts": [{"entities": [{"name": "Ada", "type": "Person"}], "relations": []}]}
    for content in (json.dumps(said), f"```json\n{json.dumps(said)}\n```"):
        assert readings(message(content), 1) == [Reading((Entity("Ada", type="person"),))]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ({}, "without a message"),
        ({"choices": []}, "without a message"),
        ([], "without a message"),
        (message(None), "where text was expected"),
        (message("Sure! Here are the entities"), "did not answer in JSON"),
        (message('{"texts": ['), "did not answer in JSON"),
        (message("[]"), r"gave \[\] for 1 texts"),
        (message('{"texts": []}'), "gave 0 items for 1 texts"),
        (message('{"texts": ["Ada"]}'), "where an object was expected"),
    ],
)
def test_an_answer_that_cannot_be_used_is_refused(answer: object, why: str) -> None:
    with pytest.raises(ServiceAnswerInvalid, match=why):
        readings(answer, 1)


def test_what_can_be_used_of_an_item_is() -> None:
    said = {
        "entities": [
            {"name": " Ada  Byron ", "type": "wizard"},
            {"name": ""},
            {"name": "x" * 300},
            "Ada",
            {},
        ],
        "relations": [
            {"source": "Ada", "type": "Works at!", "target": "Acme"},
            {"source": "Ada", "type": "??", "target": "Acme"},
            {"source": "Ada", "type": "knows"},
        ],
    }
    assert Reading.parsed(said) == Reading(
        (Entity("Ada Byron", type="other"),), (Relation("Ada", "works_at", "Acme"),)
    )


@given(JSON)
def test_no_item_is_so_odd_that_it_raises(said: Any) -> None:
    if isinstance(said, dict):
        reading = Reading.parsed(said)
        entities = [{"name": entity.name, "type": entity.type} for entity in reading.entities]
        relations = [{"source": r.source, "type": r.type, "target": r.target} for r in reading.relations]
        assert Reading.parsed({"entities": entities, "relations": relations}) == reading


def test_only_what_stands_in_the_text_is_believed() -> None:
    reading = Reading(
        (Entity("Ada", type="person"), Entity("Zeus", type="person")),
        (
            Relation("Ada", "likes", "Rome"),
            Relation("Ada", "likes", "Zeus"),
            Relation("ada", "likes", "tea house"),
        ),
    )
    spans, relations = reading.grounded("Ada and ADA at the Tea House", Gazetteer([Entity("tea house")]))
    assert spans == [(0, 3, "person"), (8, 11, "person")]
    assert relations == (Relation("ada", "likes", "tea house"),)


def test_pieces_are_put_together() -> None:
    one = Reading((Entity("Ada", type="person"),), (Relation("Ada", "likes", "Rome"),))
    two = Reading((Entity("ADA", type="other"), Entity("Rome")), (Relation("Ada", "likes", "Rome"),))
    assert Reading.joined([one, two]) == Reading(
        (Entity("Ada", type="person"), Entity("Rome")), one.relations
    )
