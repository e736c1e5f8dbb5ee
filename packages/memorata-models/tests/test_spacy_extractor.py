import sys
from collections.abc import Iterator, Sequence
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from memorata.model import InvalidArgument
from memorata.model.entity import Entity
from memorata.model.errors import MissingExtra
from memorata.text import EntityExtractor, Gazetteer
from memorata_models.extraction import SpacyExtractor


class Pipeline:
    """Tags what it is told to; the shape is that of a spaCy pipeline."""

    meta = {"version": "3.8.0"}  # noqa: RUF012 - as spaCy has it
    tags = {"Ada": "PERSON", "Rome": "GPE", "today": "DATE", "Acme": "ORG"}  # noqa: RUF012

    def pipe(self, texts: Sequence[str], batch_size: int) -> Iterator[Any]:
        assert batch_size == 2
        for text in texts:
            found = [(text.find(name), name, label) for name, label in self.tags.items() if name in text]
            yield SimpleNamespace(
                ents=[
                    SimpleNamespace(text=name, label_=label, start_char=at, end_char=at + len(name))
                    for at, name, label in sorted(found)
                ]
            )


@pytest.fixture
def spacy(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(model: str) -> Pipeline:
        if model != "en_core_web_sm":
            raise OSError("no such model")
        return Pipeline()

    module = ModuleType("spacy")
    module.load = load  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "spacy", module)


@pytest.mark.usefixtures("spacy")
def test_tags_become_kinds_and_dates_are_left_out() -> None:
    reader = SpacyExtractor(batch=2)
    first, second = reader.extract(["Ada flew to Rome today", "nothing here"])
    assert [(mention.text, mention.kind, mention.start) for mention in first.mentions] == [
        ("Ada", "person", 0),
        ("Rome", "location", 12),
    ]
    assert second.mentions == ()
    assert reader.name == "spacy:en_core_web_sm@3.8.0"
    assert isinstance(reader, EntityExtractor)


@pytest.mark.usefixtures("spacy")
def test_what_taggers_do_not_know_is_read_too() -> None:
    known = Gazetteer([Entity("tea house")])
    (read,) = SpacyExtractor(batch=2).extract(["Acme met @ben at the Tea House"], known)
    kinds = [(mention.text, mention.kind) for mention in read.mentions]
    assert kinds == [("Acme", "organisation"), ("@ben", "handle"), ("Tea House", "known")]


@pytest.mark.usefixtures("spacy")
def test_a_model_that_is_not_there_says_how_to_get_it() -> None:
    with pytest.raises(MissingExtra, match="pip install spacy && python -m spacy download de_core_news_sm"):
        SpacyExtractor("de_core_news_sm")


def test_without_spacy_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(
        MissingExtra,
        match=r"The spaCy entity extractor needs .*: pip install './packages/memorata-models\[spacy\]'",
    ):
        SpacyExtractor()


def test_bad_input() -> None:
    with pytest.raises(InvalidArgument, match="batch must be a whole number of at least 1, got 0"):
        SpacyExtractor(batch=0)
