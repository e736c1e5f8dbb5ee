"""Facts, each with a question about it: lines of fact, tab, question.

The plainest data set there is, for a language or a domain that no public set covers: the haystack is all the
facts, and the one right answer to a question is the fact on its own line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from memorata.evaluate.collection import Document, Haystack, Question, opaque
from memorata.evaluate.datasets.reader import Reader
from memorata.evaluate.datasets.source import numbered_lines
from memorata.model.errors import DatasetError, shown


class Facts(Reader):
    r"""A file of facts and questions, as one haystack; a fact that comes twice is one document.

    Parameters
    ----------
    path
        The file, plain or gzip, without a header.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "facts.tsv"
    >>> _ = path.write_text("I drink oolong.\tWhich tea do I drink?\n")
    >>> (haystack,) = Facts(path).haystacks()
    >>> haystack.documents[0].text, haystack.questions[0].id, haystack.questions[0].text
    ('I drink oolong.', '1', 'Which tea do I drink?')
    """

    def __init__(self, path: str | Path) -> None:
        self._file = Path(path)
        super().__init__("facts", self._file, {self._file.name: self._file})

    def _read(self, dropped: Counter[str]) -> Iterator[Haystack]:
        documents: dict[str, Document] = {}
        questions: list[Question] = []
        for number, line in numbered_lines(self._file):
            cells = [cell.strip() for cell in line.split("\t")]
            if len(cells) != 2 or not all(cells):
                raise DatasetError(
                    self._file, number, f"expected a fact, a tab and a question, got {shown(line)}"
                )
            fact, question = cells
            document = Document(opaque("document", fact), fact)
            documents[document.id] = document
            questions.append(Question(id=str(number), text=question, relevant={document.id: 1.0}))
        if not documents:
            raise DatasetError(self._file, None, "holds no records")
        yield Haystack(opaque("haystack", "facts"), tuple(documents.values()), tuple(questions))
