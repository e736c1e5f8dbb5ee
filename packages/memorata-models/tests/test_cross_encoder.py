import json
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memorata.embed.port import Reranker
from memorata.embed.tokens import windows
from memorata.model.errors import (
    EmbedderError,
    InvalidArgument,
    ModelCorrupt,
    ModelNotInstalled,
)
from memorata_models import onnx
from memorata_models.onnx import MAX_CHARACTERS, MAX_PASSAGES, OnnxReranker, OnnxSession, read_model

COLOURS = st.sampled_from(["red", "green", "blue"])


def counted(question: list[str], words: list[str]) -> int:
    """Return what the tiny model computes: pairs of equal colours, one in either."""
    asked, found = Counter(question), Counter(words)
    return sum(asked[colour] * found[colour] for colour in asked)


def oracle(question: list[str], words: list[str]) -> int:
    """Return the slow and obvious way: the best of the four passages that share most with the question."""
    room = 16 - 3 - len(question)
    if len(words) <= room:
        return counted(question, words)
    cut = windows(len(words), np.arange(len(words)), room // 4, 0)
    passages = [words[start:end] for start, end in cut]

    def worth(passage: list[str]) -> float:
        shared = sorted(set(question) & set(passage))
        return sum(1 / sum(colour in other for other in passages) for colour in shared)

    best = sorted(passages, key=worth, reverse=True)[:4]  # stable: of equals the earlier is first
    return max(counted(question, passage) for passage in best)


@pytest.fixture
def judge(tiny_reranker: Callable[..., Path]) -> OnnxReranker:
    return OnnxReranker(tiny_reranker())


def test_a_pair_is_scored_by_its_logit(judge: OnnxReranker) -> None:
    assert isinstance(judge, Reranker)
    assert judge.name == "judge"
    # Two reds asked for: one red gives 2, two give 4; the blue asked for once adds one.
    scores = judge.score("red blue red", ["red", "red green red", "blue red", "green", ""])
    assert scores.tolist() == [2, 4, 3, 0, 0]
    assert scores.dtype == np.float64


def test_a_template_makes_one_text_and_two_logits_a_difference(tiny_reranker: Callable[..., Path]) -> None:
    reranker = OnnxReranker(tiny_reranker(template="query {q} passage {d} red", output="difference"))
    # Greens less reds, over question, text and the template's own red.
    scores = reranker.score("green", ["green green", "red", ""])
    assert scores.tolist() == [1 + 2 - 1, 1 - 1 - 1, 1 - 1]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(COLOURS, max_size=9), st.lists(st.lists(COLOURS, max_size=30), max_size=6))
def test_any_question_and_texts_score_as_the_oracle_s(
    judge: OnnxReranker, question: list[str], texts: list[list[str]]
) -> None:
    scores = judge.score(" ".join(question), [" ".join(words) for words in texts])
    assert scores.tolist() == [oracle(question, words) for words in texts]


def test_the_best_passage_speaks_for_a_long_text(judge: OnnxReranker) -> None:
    # Of 16 tokens [CLS] red [SEP] … [SEP] leave 12 to the text. One that is longer is cut into passages of a
    # quarter of that, of which the best has two reds, or three.
    assert judge.score("red", ["red " * 12, "green " * 12 + "red red", "red " * 13]).tolist() == [12, 2, 3]


def test_what_few_passages_share_with_the_question_counts_more(judge: OnnxReranker) -> None:
    # Passages of two words: every one shares one colour with the question, and only the last its red.
    assert judge.score("red green", ["green blue " * 10 + "red red"]).tolist() == [2]


def test_a_very_long_text_is_read_where_it_shares_most_with_the_question(
    tiny_reranker: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    reranker = OnnxReranker(tiny_reranker())
    read: list[int] = []
    forward = OnnxSession.forward

    def counting(self: OnnxSession, numbers: list[list[int]], types: list[list[int]] | None = None) -> object:
        read.append(len(numbers))
        return forward(self, numbers, types)

    monkeypatch.setattr(OnnxSession, "forward", counting)
    text = "green " * 1000 + "red"
    assert reranker.score("red", [text]).tolist() == [1]
    assert reranker.score("red", [text] * 3).tolist() == [1, 1, 1]
    assert read == [MAX_PASSAGES, 3 * MAX_PASSAGES]


def test_beyond_its_bound_a_text_is_not_read(judge: OnnxReranker) -> None:
    within = "green ".ljust(MAX_CHARACTERS - 3) + "red"
    assert judge.score("red", [within, " " + within]).tolist() == [1, 0]


def test_a_question_is_read_whole_beside_every_passage(judge: OnnxReranker) -> None:
    # Nine words and three special tokens leave a quarter of sixteen to the text, which is enough.
    question = "green " * 8 + "blue"
    assert judge.score(question, ["red red red red red blue"]).tolist() == [1]
    assert judge.score(question, ["red red red red green red"]).tolist() == [8]


def test_a_question_too_long_to_be_read_whole_gets_no_opinion(judge: OnnxReranker) -> None:
    assert judge.score("red " * 10, ["red", "green"]).tolist() == [0, 0]
    assert judge.score("red " * 100_000, ["red", "green"]).tolist() == [0, 0]


def test_nothing_to_score_and_nothing_to_ask(judge: OnnxReranker) -> None:
    assert judge.score("red", []).shape == (0,)
    assert judge.score("", ["red", ""]).tolist() == [0, 0]
    assert judge.score("red \ud83d", ["\ud83d red", "red\x00"]).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("question", "texts", "says"),
    [(7, ["red"], "query"), ("red", "red", "texts"), ("red", ["red", None], r"texts\[1\]")],
)
def test_what_is_no_text_is_refused(
    tiny_reranker: Callable[..., Path], question: str, texts: list[str], says: str
) -> None:
    with pytest.raises(InvalidArgument, match=says):
        OnnxReranker(tiny_reranker()).score(question, texts)


def test_the_model_is_loaded_once_and_only_when_needed(
    tiny_reranker: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    loads: list[Path] = []

    def counting(folder: Path, *rest: object, **named: object) -> object:
        loads.append(folder)
        return read_model(folder, *rest, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(onnx, "read_model", counting)
    reranker = OnnxReranker(tiny_reranker(), threads=2)
    assert loads == []
    found: list[list[float]] = []
    threads = [
        threading.Thread(target=lambda: found.append(reranker.score("red", ["red", "blue"]).tolist()))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    reranker.load()
    assert found == [[1, 0]] * 8
    assert len(loads) == 1


@pytest.mark.parametrize("threads", [1, 3])
def test_many_texts_come_back_in_the_order_given(tiny_reranker: Callable[..., Path], threads: int) -> None:
    texts = ["red " * (place * 7 % 40) for place in range(100)]
    scores = OnnxReranker(tiny_reranker(), threads=threads).score("red", texts)
    assert scores.tolist() == [oracle(["red"], text.split()) for text in texts]


@pytest.mark.parametrize(("output", "graph"), [("logit", "difference"), ("difference", "logit")])
def test_a_model_with_other_outputs_than_described_is_refused(
    tiny_reranker: Callable[..., Path], output: str, graph: str
) -> None:
    with pytest.raises(ModelCorrupt, match=f"numbers per text where output = '{output}' needs"):
        OnnxReranker(tiny_reranker(output=output, graph=graph)).score("red", ["red"])


def test_a_score_that_is_not_finite_is_refused(tiny_reranker: Callable[..., Path]) -> None:
    with pytest.raises(EmbedderError, match="NaN or infinite"):
        OnnxReranker(tiny_reranker(divisor=0.0)).score("red", ["red"])


def test_a_changed_or_missing_file_is_named(tiny_reranker: Callable[..., Path]) -> None:
    folder = tiny_reranker()
    for name in ("model.onnx", "tokenizer.json"):
        content = (folder / name).read_bytes()
        (folder / name).write_bytes(content + b" ")
        with pytest.raises(ModelCorrupt, match=f"{name} has SHA-256"):
            OnnxReranker(folder).load()
        (folder / name).unlink()
        with pytest.raises(ModelNotInstalled, match=f"{name} is missing"):
            OnnxReranker(folder).score("red", ["red"])
        (folder / name).write_bytes(content)
    OnnxReranker(folder).load()


def test_an_embedder_is_no_re_ranker(tiny_folder: Callable[..., Path]) -> None:
    with pytest.raises(InvalidArgument, match="a re-ranker"):
        OnnxReranker(tiny_folder())


def test_a_folder_without_a_model_says_so(tmp_path: Path) -> None:
    with pytest.raises(ModelNotInstalled, match="no ONNX model"):
        OnnxReranker(tmp_path)


@pytest.mark.parametrize("weights", ["model.onnx", "onnx/model.onnx"])
def test_a_folder_from_the_hub_needs_no_description(
    tiny_reranker: Callable[..., Path], tmp_path: Path, weights: str
) -> None:
    made, folder = tiny_reranker(), tmp_path / "org-judge"
    (folder / weights).parent.mkdir(parents=True)
    (folder / weights).write_bytes((made / "model.onnx").read_bytes())
    (folder / "tokenizer.json").write_bytes((made / "tokenizer.json").read_bytes())
    config = {"max_position_embeddings": 16, "num_labels": 1}
    (folder / "config.json").write_text(json.dumps(config))
    reranker = OnnxReranker(folder)
    assert reranker.name == "org-judge"
    assert reranker.score("red", ["red red", "green " * 12 + "red"]).tolist() == [2, 1]
