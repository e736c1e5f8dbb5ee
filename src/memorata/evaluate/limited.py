"""The beginning of a data set, for a first look that does not take long."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from memorata._frozen import frozen
from memorata.evaluate.collection import Dataset, Haystack
from memorata.model import checks


@frozen
class Limited:
    """A :class:`~memorata.evaluate.collection.Dataset` with the first questions of another.

    Haystacks are whole: what is searched is the same. Those after the last question are not read.

    Parameters
    ----------
    whole
        The data set.
    questions
        How many questions to take, in the order of the file.
    """

    whole: Dataset
    questions: int

    def __post_init__(self) -> None:
        checks.whole("questions", self.questions, 1)

    @property
    def name(self) -> str:
        """The set's name, and that it is not all of it."""
        return f"{self.whole.name}, first {self.questions} questions"

    @property
    def sha256(self) -> str:
        """The hash of the whole set."""
        return self.whole.sha256

    @property
    def dropped(self) -> Mapping[str, int]:
        """How many questions of the whole set were left out."""
        return self.whole.dropped

    def haystacks(self) -> Iterator[Haystack]:
        """Yield haystacks until there are enough questions."""
        left = self.questions
        for haystack in self.whole.haystacks():
            asked = haystack.questions[:left]
            left -= len(asked)
            yield replace(haystack, questions=asked)
            if not left:
                return

    def __len__(self) -> int:
        """How many haystacks it takes."""
        return sum(1 for _ in self.haystacks())
