"""Relevance judgements: which documents answer which query, and how well, in the manner of TREC.

Voorhees & Harman, "TREC: Experiment and Evaluation in Information Retrieval", 2005. Collections with one list
of documents and one of queries (BEIR, SMART, our own JSON Lines) label their queries with these.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from memorata.evaluate.collection import Document, Question
from memorata.model.errors import DatasetError


class Judgements:
    """Gains by query and document, as the collection names both.

    Examples
    --------
    >>> judgements = Judgements()
    >>> judgements.add(Path("test.tsv"), 2, "q1", "MED-10", 1.0)
    >>> documents = {"MED-10": Document("d-1", "Statins lower cholesterol.")}
    >>> (question,) = judgements.label([Question("q1", "Do statins help?")], documents, Counter())
    >>> question.relevant
    {'d-1': 1.0}
    """

    def __init__(self) -> None:
        self._gains: dict[str, dict[str, float]] = {}

    def queries(self) -> set[str]:
        """Return the queries that have been judged, be it that nothing is relevant."""
        return set(self._gains)

    def add(self, path: Path, line: int | None, query: str, document: str, gain: float) -> None:
        """Note a judgement that was read at this place; a gain of 0 or less says "not relevant".

        Raises
        ------
        DatasetError
            If the same pair has been judged otherwise before.
        """
        known = self._gains.setdefault(query, {}).setdefault(document, gain)
        if known != gain:
            reason = f"query {query!r} and document {document!r} are judged {gain:g}, and {known:g} before"
            raise DatasetError(path, line, reason)

    def label(
        self, questions: Iterable[Question], documents: Mapping[str, Document], dropped: Counter[str]
    ) -> Iterator[Question]:
        """Yield the questions with their labels, without those for which no document is relevant.

        A judgement about a document that is not there (collections have a few, and a few empty documents)
        counts as none: nobody could find it.

        Parameters
        ----------
        questions
            The questions under the ids the judgements name them by.
        documents
            The documents by the names the judgements have for them.
        dropped
            Counts the questions that are left out.
        """
        for question in questions:
            found = {
                documents[name]: gain
                for name, gain in self._gains.get(question.id, {}).items()
                if gain > 0 and name in documents
            }
            if not question.answerable:
                yield question
            elif not found:
                dropped["no relevant document"] += 1
            else:
                sessions: dict[str, float] = {}
                for document, gain in found.items():
                    if document.session:
                        sessions[document.session] = max(gain, sessions.get(document.session, gain))
                gains = {document.id: gain for document, gain in found.items()}
                yield replace(question, relevant=gains, relevant_sessions=sessions)
