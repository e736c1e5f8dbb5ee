"""What reads the names in texts is a setting: rules, a real spaCy pipeline, a language model."""

import json
from pathlib import Path
from typing import Any

import pytest

import memorata
from memorata.engine.settings import Settings
from memorata.model.errors import InvalidArgument, MissingExtra
from memorata_models import chat as chat_service

# It shows what was read.
Graph = pytest.importorskip("memorata_graph").Graph
TEXT = "the zorbax unit was repaired in novara by ada"


def names(settings: Settings) -> dict[str, str]:
    """Return the names that are found in a text without any capital, with what they are."""
    with settings.open() as memory:
        memory.remember(TEXT)
        assert (memory.extractor is None) == (settings.extractor == "none")
        return {each.entity.name: each.entity.type for each in Graph(memory).entities.list()}


@pytest.mark.untraced
def test_a_real_pipeline_reads_what_rules_do_not(tmp_path: Path) -> None:
    spacy = pytest.importorskip("spacy")
    pipeline = spacy.blank("en")
    ruler = pipeline.add_pipe("entity_ruler")
    ruler.add_patterns(
        [
            {"label": "PRODUCT", "pattern": "zorbax unit"},
            {"label": "GPE", "pattern": "novara"},
            {"label": "DATE", "pattern": "repaired"},
        ]
    )
    pipeline.to_disk(tmp_path / "pipeline")
    assert names(Settings(db=":memory:", embedder="lexical")) == {}
    found = names(Settings(db=":memory:", embedder="lexical", extractor=f"spacy:{tmp_path / 'pipeline'}"))
    assert set(found) == {"zorbax unit", "novara"}
    with pytest.raises(MissingExtra, match="spacy download"):
        memorata.open(":memory:", embedder=None, config={"extractor": "spacy:no_such_pipeline"})


def test_a_language_model_reads_names_and_relations_with_its_own_key(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = []

    def post(address: str, body: Any, headers: Any, retry: Any) -> Any:
        keys.append(headers)
        texts = json.loads(body["messages"][1]["content"])
        said = {
            "entities": [{"name": "novara", "type": "location"}, {"name": "ada", "type": "person"}],
            "relations": [{"source": "ada", "type": "works_in", "target": "novara"}],
        }
        return {"choices": [{"message": {"content": json.dumps({"texts": [said] * len(texts)})}}]}

    monkeypatch.setattr(chat_service, "post_json", post)
    settings = Settings(
        db=":memory:", embedder="lexical", extractor="chat:m@http://localhost:1/v1", extractor_key="k"
    )
    with settings.open() as memory:
        memory.remember(TEXT)
        assert {each.entity.name for each in Graph(memory).entities.list()} == {"novara", "ada"}
        assert [each.type for each in Graph(memory).entities.relations("ada")] == ["works_in"]
    assert keys == [{"Authorization": "Bearer k"}]


def test_no_names_are_read_where_none_are_wanted() -> None:
    assert names(Settings(db=":memory:", embedder="lexical", extractor="none")) == {}
    for wrong in ("x", "spacy:", "chat:m"):
        with pytest.raises(InvalidArgument, match="extractor"):
            memorata.open(":memory:", embedder=None, config={"extractor": wrong})
