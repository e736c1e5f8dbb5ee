"""Labels beside the runs: what is written is read again, and a bad line is named."""

from pathlib import Path

import pytest

from memorata.evaluate.collection import Question
from memorata.evaluate.labels_file import read_labels, write_labels
from memorata.model.errors import DatasetError

ASKED = (
    Question("q1", "Which tea?", "food", None, {"d1": 2.0}, {"s1": 1.0}),
    Question("q2", "Где чай?", answerable=False),
)


def test_what_is_written_is_read_again_without_the_texts(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    write_labels(path, ASKED)
    assert read_labels(path) == (
        Question("q1", "", "food", None, {"d1": 2.0}, {"s1": 1.0}),
        Question("q2", "", answerable=False),
    )
    assert "tea" not in path.read_text("utf-8")


def test_writing_again_replaces_and_leaves_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    write_labels(path, ASKED)
    write_labels(path, ASKED[:1])
    assert [question.id for question in read_labels(path)] == ["q1"]
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "line 2: not JSON"),
        ("[]", "line 2: must be an object with question, kind"),
        ('{"question": "q"}', "line 2: must be an object with question, kind"),
        (
            '{"question": "q", "kind": "", "answerable": 1, "relevant": {}, "relevant_sessions": {}}',
            "line 2: answerable must be True or False",
        ),
        (
            '{"question": "q", "kind": "", "answerable": true, "relevant": [], "relevant_sessions": {}}',
            "line 2: relevant must be an object",
        ),
        (
            '{"question": "q", "kind": "", "answerable": true, "relevant": {"d": NaN}, '
            '"relevant_sessions": {}}',
            "line 2: relevant\\['d'\\] must be a finite number",
        ),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: str, reason: str) -> None:
    path = tmp_path / "labels.jsonl"
    write_labels(path, ASKED[:1])
    path.write_text(path.read_text("utf-8") + line + "\n", "utf-8")
    with pytest.raises(DatasetError, match=reason):
        read_labels(path)
