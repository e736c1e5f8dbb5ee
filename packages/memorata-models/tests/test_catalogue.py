import re

import pytest

from memorata.model.errors import ModelNotInstalled
from memorata_models.catalogue import CATALOGUE, Entry, HubSource, WheelSource, entry_of, recommended

ENTRIES = pytest.mark.parametrize("entry", CATALOGUE.values(), ids=CATALOGUE)


@ENTRIES
def test_every_file_is_pinned(entry: Entry) -> None:
    description = entry.description
    assert set(description.files) == {
        description.weights,
        getattr(description, "tokenizer", "tokenizer.json"),
    }
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in description.files.values())


@ENTRIES
def test_every_source_has_every_file(entry: Entry) -> None:
    assert entry.sources
    for source in entry.sources:
        assert set(source.files) == set(entry.description.files)
        if isinstance(source, WheelSource):
            assert set(source.windows_lines) <= set(source.files)


@ENTRIES
def test_the_hub_is_asked_for_one_commit(entry: Entry) -> None:
    hubs = [source for source in entry.sources if isinstance(source, HubSource)]
    if hubs:
        assert [source.revision for source in hubs] == [entry.description.revision]
        assert re.fullmatch("[0-9a-f]{40}", entry.description.revision)
    else:
        assert entry.description.revision == ""


@ENTRIES
def test_licences_are_free(entry: Entry) -> None:
    assert entry.description.licence in ("Apache-2.0", "MIT")


def test_names_of_vectors_differ() -> None:
    assert len({entry.description.name for entry in CATALOGUE.values()}) == len(CATALOGUE)


def test_a_model_is_an_embedder_or_a_re_ranker() -> None:
    kinds = {entry.name: entry.kind for entry in CATALOGUE.values()}
    assert kinds.pop("minilm-reranker") == kinds.pop("mini-reranker") == "reranker"
    assert set(kinds.values()) == {"embedder"}


def test_an_origin_that_is_one_author_s_word_is_called_so() -> None:
    assert "one author's word" in CATALOGUE["mini-reranker"].summary


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(ModelNotInstalled, match=r"no model 'arctic'.*arctic-embed-s, potion-base-8M"):
        entry_of("arctic")


def test_sources_introduce_themselves() -> None:
    assert [str(source) for source in CATALOGUE["potion-base-8M"].sources] == [
        "the model hub (minishlab/potion-base-8M)",
        "the package index (mostlyai-qa 1.10.11)",
    ]


@pytest.mark.parametrize(
    ("languages", "name"),
    [
        ({"en": 95, "de": 5}, "arctic-embed-s"),
        ({"en": 85, "de": 15}, "use-multilingual"),
        ({"zh": 9, "en": 1}, "bge-small-zh-v1.5"),
        ({"zh": 5, "ja": 5}, "use-multilingual"),
        ({"ru": 3}, "use-multilingual"),
        ({"fi": 3, "": 1}, "potion-multilingual-128"),
        ({"": 7}, "arctic-embed-s"),
    ],
)
def test_the_languages_of_memories_choose_the_embedder(languages: dict[str, int], name: str) -> None:
    names, why = recommended(languages)
    assert names[0] == name
    assert "100 %" in why or len(languages) > 1
    assert set(names) <= {*CATALOGUE, "use-multilingual"}
