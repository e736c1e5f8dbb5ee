from collections import Counter
from pathlib import Path

import pytest

from memorata.evaluate.collection import Document, Question
from memorata.evaluate.datasets.judgements import Judgements
from memorata.model.errors import DatasetError

FILE = Path("test.tsv")
DOCUMENTS = {
    "one": Document("d-1", "x", session="s-1"),
    "two": Document("d-2", "y", session="s-1"),
    "three": Document("d-3", "z"),
}


def judged(*triples: tuple[str, str, float]) -> Judgements:
    judgements = Judgements()
    for line, (query, document, gain) in enumerate(triples, 1):
        judgements.add(FILE, line, query, document, gain)
    return judgements


def test_a_question_gets_gains_by_document_and_the_best_of_each_session() -> None:
    judgements = judged(("q", "one", 1.0), ("q", "two", 2.0), ("q", "three", 3.0))
    (question,) = judgements.label([Question("q", "?")], DOCUMENTS, Counter())
    assert question.relevant == {"d-1": 1.0, "d-2": 2.0, "d-3": 3.0}
    assert question.relevant_sessions == {"s-1": 2.0}


def test_no_gain_and_missing_documents_are_no_labels_and_such_questions_are_dropped() -> None:
    judgements = judged(("q", "one", 0.0), ("q", "two", -1.0), ("q", "gone", 1.0), ("r", "one", 1.0))
    dropped: Counter[str] = Counter()
    labelled = list(judgements.label([Question("q", "?"), Question("r", "?")], DOCUMENTS, dropped))
    assert [question.id for question in labelled] == ["r"]
    assert dropped == {"no relevant document": 1}
    assert judgements.queries() == {"q", "r"}


def test_a_question_that_cannot_be_answered_needs_no_label() -> None:
    asked = Question("q", "?", answerable=False)
    assert list(judged(("q", "one", 1.0)).label([asked], DOCUMENTS, Counter())) == [asked]


def test_a_pair_may_be_judged_twice_but_not_differently() -> None:
    with pytest.raises(
        DatasetError, match=r"test\.tsv, line 3: query 'q' and document 'one' are judged 2, and 1 before"
    ):
        judged(("q", "one", 1.0), ("q", "one", 1.0), ("q", "one", 2.0))
