import hashlib
import json
import math
from pathlib import Path
from typing import Any

import pytest

from memorata.embed.port import Prompts
from memorata.model.errors import InvalidArgument, ModelCorrupt, ModelNotInstalled
from memorata_models.hub import (
    MAX_WINDOW,
    cached_snapshot,
    describe_hub_folder,
    describe_hub_reranker,
    hub_cache,
    hub_weights,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder as sentence-transformers writes it; the graph is not looked into."""
    home = tmp_path / "some-model"
    for part in ("onnx", "1_Pooling"):
        (home / part).mkdir(parents=True)
    (home / "onnx" / "model.onnx").write_bytes(b"graph")
    (home / "tokenizer.json").write_bytes(b"tokens")
    write(home, "config.json", {"hidden_size": 24, "max_position_embeddings": 512, "model_type": "bert"})
    write(home, "sentence_bert_config.json", {"max_seq_length": 128, "do_lower_case": False})
    pooling = {
        "word_embedding_dimension": 24,
        "pooling_mode_cls_token": False,
        "pooling_mode_mean_tokens": True,
    }
    write(home, "1_Pooling/config.json", pooling)
    prompts = {"query": "query: ", "document": "passage: "}
    write(home, "config_sentence_transformers.json", {"prompts": prompts, "default_prompt_name": None})
    return home


def write(folder: Path, name: str, content: Any) -> None:
    (folder / name).write_text(json.dumps(content), encoding="utf-8")


def test_facts_are_gathered_from_their_files(folder: Path) -> None:
    found = describe_hub_folder(folder)
    assert (found.id, found.dimension, found.max_tokens, found.pooling) == ("some-model", 24, 128, "mean")
    assert found.prompts == Prompts(query="query: ", document="passage: ")
    assert found.files == {
        "onnx/model.onnx": hashlib.sha256(b"graph").hexdigest(),
        "tokenizer.json": hashlib.sha256(b"tokens").hexdigest(),
    }


@pytest.mark.parametrize("beside", ["model.onnx_data", "model.onnx.data"])
def test_weights_beside_the_graph_are_part_of_its_name(folder: Path, beside: str) -> None:
    before = describe_hub_folder(folder).name
    (folder / "onnx" / beside).write_bytes(b"weights")
    assert describe_hub_folder(folder).name != before


def test_a_window_of_eight_thousand_tokens_is_not_filled(folder: Path) -> None:
    # Twelve heads that compare 8,192 tokens with each other in float32 need 3.2 GB for each layer.
    config = {"hidden_size": 24, "max_position_embeddings": 8194, "model_type": "xlm-roberta"}
    write(folder, "config.json", config)
    write(folder, "sentence_bert_config.json", {"max_seq_length": 8192})
    assert describe_hub_folder(folder).max_tokens == MAX_WINDOW == 2048


def test_a_known_commit_saves_the_hashing(folder: Path) -> None:
    found = describe_hub_folder(folder, model_id="org/some-model", revision="abc")
    assert (found.id, found.revision, dict(found.files)) == ("org/some-model", "abc", {})
    assert found.name != describe_hub_folder(folder, model_id="org/some-model", revision="abd").name


def test_cls_pooling_is_seen(folder: Path) -> None:
    write(
        folder, "1_Pooling/config.json", {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}
    )
    assert describe_hub_folder(folder).pooling == "cls"


@pytest.mark.parametrize(
    ("said", "pooling"), [("cls", "cls"), ("mean", "mean"), (["cls"], "cls"), ([], "mean")]
)
def test_pooling_may_be_one_word(folder: Path, said: Any, pooling: str) -> None:
    # As sentence-transformers 6 writes it, with the flags of before gone.
    config = {"embedding_dimension": 24, "pooling_mode": said, "include_prompt": True}
    write(folder, "1_Pooling/config.json", config)
    assert describe_hub_folder(folder).pooling == pooling


def test_distilbert_calls_its_width_otherwise(folder: Path) -> None:
    write(folder, "config.json", {"dim": 24, "max_position_embeddings": 512, "model_type": "distilbert"})
    assert describe_hub_folder(folder).dimension == 24


def test_steps_that_change_nothing_are_passed_over(folder: Path) -> None:
    types = [
        "sentence_transformers.models.Transformer",
        "sentence_transformers.sentence_transformer.modules.pooling.Pooling",
        "sentence_transformers.base.modules.normalize.Normalize",
    ]
    write(folder, "modules.json", [{"idx": place, "type": type_} for place, type_ in enumerate(types)])
    assert describe_hub_folder(folder).pooling == "mean"


def test_settings_that_are_not_there_have_their_usual_values(folder: Path) -> None:
    for name in ("sentence_bert_config.json", "1_Pooling/config.json", "config_sentence_transformers.json"):
        (folder / name).unlink()
    found = describe_hub_folder(folder)
    assert (found.max_tokens, found.pooling, found.prompts) == (512, "mean", Prompts())


def test_roberta_reads_two_tokens_fewer_than_it_has_positions(folder: Path) -> None:
    (folder / "sentence_bert_config.json").unlink()
    write(folder, "config.json", {"hidden_size": 24, "max_position_embeddings": 514, "model_type": "roberta"})
    assert describe_hub_folder(folder).max_tokens == 512


def test_prompts_for_passages_are_prompts_for_documents(folder: Path) -> None:
    write(folder, "config_sentence_transformers.json", {"prompts": {"query": "q: ", "passage": "p: "}})
    assert describe_hub_folder(folder).prompts == Prompts("q: ", "p: ")


@pytest.mark.parametrize(
    ("config", "prompts"),
    [
        ({"prompts": {"query": "q: ", "corpus": "c: "}}, Prompts("q: ", "c: ")),
        ({"prompts": {"about": "a: "}, "default_prompt_name": "about"}, Prompts("a: ", "a: ")),
        (
            {"prompts": {"query": "q: ", "about": "a: "}, "default_prompt_name": "about"},
            Prompts("q: ", "a: "),
        ),
        ({"prompts": {"query": "", "about": "a: "}, "default_prompt_name": "about"}, Prompts("", "a: ")),
        ({"prompts": {"query": None, "about": "a: "}, "default_prompt_name": None}, Prompts()),
        ({"prompts": None}, Prompts()),
        ({"prompts": {"about": "a: "}, "default_prompt_name": ["about"]}, Prompts()),
    ],
)
def test_prompts_are_chosen_as_sentence_transformers_does(
    folder: Path, config: dict[str, Any], prompts: Prompts
) -> None:
    write(folder, "config_sentence_transformers.json", config)
    assert describe_hub_folder(folder).prompts == prompts


def test_the_graph_may_lie_at_the_top(folder: Path) -> None:
    (folder / "onnx" / "model.onnx").rename(folder / "model.onnx")
    assert hub_weights(folder) == "model.onnx"
    assert "model.onnx" in describe_hub_folder(folder).files


@pytest.mark.parametrize("name", ["onnx/model.onnx", "tokenizer.json", "config.json"])
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(ModelNotInstalled, match=name):
        describe_hub_folder(folder)


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("1_Pooling/config.json", {"pooling_mode_max_tokens": True}, "max_tokens is not supported"),
        (
            "1_Pooling/config.json",
            {"pooling_mode_cls_token": 1, "pooling_mode_mean_tokens": 1},
            "not supported",
        ),
        ("config.json", {"max_position_embeddings": 512}, "hidden_size"),
        ("config.json", {"hidden_size": 0, "max_position_embeddings": 512}, "dimension must be"),
        ("config.json", {"hidden_size": 24, "max_position_embeddings": "many"}, "sentence encoder"),
        ("config.json", {"hidden_size": 24, "max_position_embeddings": None}, "sentence encoder"),
        ("config.json", {"hidden_size": 24, "max_position_embeddings": math.inf}, "sentence encoder"),
        ("config.json", ["hidden_size"], "should hold a JSON object"),
        ("modules.json", [{"type": "sentence_transformers.models.Dense"}], "dense layer"),
        ("modules.json", [{"type": "sentence_transformers.base.modules.dense.Dense"}], "dense layer"),
        ("modules.json", [{"type": "sentence_transformers.models.LSTM"}], "a step 'LSTM'"),
        ("modules.json", [{"idx": 0}], "a step ''"),
        ("modules.json", {}, "should hold a JSON array"),
        ("sentence_bert_config.json", 128, "should hold a JSON object"),
        ("1_Pooling/config.json", {"pooling_mode": "lasttoken"}, "lasttoken is not supported"),
        ("1_Pooling/config.json", {"pooling_mode": ["cls", "mean"]}, "cls and mean is not supported"),
        ("1_Pooling/config.json", {"pooling_mode": {"cls": 1}}, "given by a name"),
        ("1_Pooling/config.json", {"pooling_mode": "mean", "include_prompt": False}, "out of the mean"),
        ("config_sentence_transformers.json", {"prompts": ["query: "]}, "prompts have names"),
        ("config_sentence_transformers.json", {"prompts": {"query": 1}}, "prompts.query must be"),
    ],
)
def test_what_is_not_supported_is_said(folder: Path, name: str, content: Any, says: str) -> None:
    write(folder, name, content)
    with pytest.raises(ModelCorrupt, match=says):
        describe_hub_folder(folder)


def test_a_file_that_is_not_json_is_corrupt(folder: Path) -> None:
    (folder / "config.json").write_text("{")
    with pytest.raises(ModelCorrupt, match="not JSON"):
        describe_hub_folder(folder)


def test_a_file_that_cannot_be_read_is_corrupt(folder: Path) -> None:
    (folder / "modules.json").mkdir()
    with pytest.raises(ModelCorrupt, match=r"modules\.json cannot be read"):
        describe_hub_folder(folder)


def cached(cache: Path, *commits: str, main: str | None = None) -> Path:
    home = cache / "models--org--name"
    for commit in commits:
        (home / "snapshots" / commit).mkdir(parents=True)
    if main is not None:
        (home / "refs").mkdir(parents=True)
        (home / "refs" / "main").write_text(main + "\n")
    return home / "snapshots"


def test_the_commit_that_main_names_is_found(tmp_path: Path) -> None:
    snapshots = cached(tmp_path, "aaa", "bbb", main="bbb")
    assert cached_snapshot("org/name", tmp_path) == (snapshots / "bbb", "bbb")


def test_a_single_commit_needs_no_name(tmp_path: Path) -> None:
    snapshots = cached(tmp_path, "aaa")
    assert cached_snapshot("org/name", tmp_path) == (snapshots / "aaa", "aaa")


@pytest.mark.parametrize(("commits", "main"), [((), None), (("aaa", "bbb"), None), (("aaa",), "ccc")])
def test_what_is_not_in_the_cache_is_not_guessed(
    tmp_path: Path, commits: tuple[str, ...], main: str | None
) -> None:
    cached(tmp_path, *commits, main=main)
    with pytest.raises(ModelNotInstalled, match="hf download org/name"):
        cached_snapshot("org/name", tmp_path)


def test_a_name_of_a_commit_that_is_no_text_names_none(tmp_path: Path) -> None:
    snapshots = cached(tmp_path, "aaa", main="bbb")
    (snapshots.parent / "refs" / "main").write_bytes(b"\xff\xfe")
    with pytest.raises(ModelNotInstalled, match="is not in the hub cache"):
        cached_snapshot("org/name", tmp_path)


@pytest.mark.parametrize("repository", ["name", "a/b/c", "../x", "a/..", "/x", "a\\b/c", ""])
def test_a_repository_has_an_owner_and_a_name(tmp_path: Path, repository: str) -> None:
    with pytest.raises(InvalidArgument, match="organisation/name"):
        cached_snapshot(repository, tmp_path)


def test_the_cache_is_where_the_hub_s_own_tools_keep_it() -> None:
    home = Path("/home/ada")
    assert hub_cache({"HF_HUB_CACHE": "/a", "HF_HOME": "/b"}, home) == Path("/a")
    assert hub_cache({"HF_HOME": "/b", "XDG_CACHE_HOME": "/c"}, home) == Path("/b/hub")
    assert hub_cache({"XDG_CACHE_HOME": "/c"}, home) == Path("/c/huggingface/hub")
    assert hub_cache({"HF_HOME": "~/hf"}, home) == home / "hf/hub"
    assert hub_cache({"HF_HUB_CACHE": "~/cached"}, home) == home / "cached"


RERANKER = {"max_position_embeddings": 512, "architectures": ["BertForSequenceClassification"]}


@pytest.mark.parametrize(
    ("labels", "output"),
    [
        ({"num_labels": 1}, "logit"),
        ({"id2label": {"0": "LABEL_0"}}, "logit"),
        ({"num_labels": 2}, "difference"),
        ({"id2label": {"0": "NO", "1": "YES"}}, "difference"),
        ({}, "difference"),
    ],
)
def test_a_re_ranker_s_score_follows_from_its_labels(
    folder: Path, labels: dict[str, Any], output: str
) -> None:
    write(folder, "config.json", RERANKER | labels)
    found = describe_hub_reranker(folder)
    assert (found.id, found.max_tokens, found.template) == ("some-model", 512, "pair")
    assert found.output == output
    assert set(found.files) == {"onnx/model.onnx", "tokenizer.json"}
    assert describe_hub_reranker(folder, model_id="org/x").id == "org/x"


@pytest.mark.parametrize(
    ("config", "says"),
    [
        (RERANKER | {"num_labels": 3}, "3 classes"),
        (RERANKER | {"architectures": ["BertModel"]}, "no re-ranker but a BertModel"),
        ({"num_labels": 1}, "says nothing about 'max_position_embeddings'"),
        (RERANKER | {"max_position_embeddings": 8}, "do not describe a re-ranker"),
        (RERANKER | {"num_labels": 1, "max_position_embeddings": "many"}, "do not describe a re-ranker"),
        (RERANKER | {"architectures": 7}, "do not describe a re-ranker"),
        (RERANKER | {"id2label": 7}, "do not describe a re-ranker"),
    ],
)
def test_what_is_no_re_ranker_is_refused(folder: Path, config: dict[str, Any], says: str) -> None:
    write(folder, "config.json", config)
    with pytest.raises(ModelCorrupt, match=says):
        describe_hub_reranker(folder)


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "onnx/model.onnx"])
def test_a_re_ranker_without_a_file_is_not_installed(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(ModelNotInstalled):
        describe_hub_reranker(folder)
