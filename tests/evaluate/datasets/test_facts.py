import gzip
from pathlib import Path

import pytest

from memorata.evaluate.datasets.facts import Facts
from memorata.model.errors import DatasetError


def test_the_answer_to_each_question_is_the_fact_on_its_line(tmp_path: Path) -> None:
    path = tmp_path / "facts.tsv.gz"
    text = "Я пью чай\tчто ты пьёшь?\n\nI run.\tDo you run?\nI run.\tWho runs?\n"
    path.write_bytes(gzip.compress(text.encode()))
    dataset = Facts(path)
    (haystack,) = dataset.haystacks()
    tea, run = haystack.documents
    assert (tea.text, run.text) == ("Я пью чай", "I run.")
    assert [(asked.id, asked.text, asked.relevant) for asked in haystack.questions] == [
        ("1", "что ты пьёшь?", {tea.id: 1.0}),
        ("3", "Do you run?", {run.id: 1.0}),
        ("4", "Who runs?", {run.id: 1.0}),
    ]
    assert (dataset.name, len(dataset), dict(dataset.dropped)) == ("facts/facts", 1, {})


@pytest.mark.parametrize("line", ["no tab", "a fact\t", "\ta question?", "a fact\ta question?\tmore"])
def test_a_line_that_is_not_a_fact_and_a_question_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "facts.tsv"
    path.write_text(f"I run.\tWho runs?\nI swim.\tWho swims?\n{line}\n")
    with pytest.raises(
        DatasetError, match=r"facts\.tsv, line 3: expected a fact, a tab and a question, got "
    ):
        list(Facts(path).haystacks())


def test_an_empty_file_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "facts.tsv"
    path.write_text("\n")
    with pytest.raises(DatasetError, match=r"facts\.tsv: holds no records"):
        list(Facts(path).haystacks())
