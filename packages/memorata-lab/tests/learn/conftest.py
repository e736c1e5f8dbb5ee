"""A small memory whose meaning misleads: its words know better, and its feedback says so."""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import numpy.typing as npt
import pytest

from memorata.embed.port import Prompts
from memorata.engine import Engine
from memorata.engine import open as open_engine
from memorata.engine.recipes import Recipe

NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)
COUNT = 40
THINGS = [f"thing{first}{second}" for first in "abcdefgh" for second in "vwxyz"]
PLAIN = Recipe(name="plain", vector_weight=0.9, vector_pool=20, lexical_pool=20, least_match=0.0)


class Misleading:
    """Takes a question about a thing for one about the next thing, and is not quite sure."""

    name = "misleading"
    dimension = COUNT
    max_tokens = None
    prompts = Prompts()
    similarity_threshold = 0.35

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        place = _place(text)
        vector = np.zeros(COUNT, np.float32)
        vector[(place + 1) % COUNT], vector[place] = 0.8, 0.6
        return vector

    def embed_documents(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        return np.concatenate(self.embed_passages(texts))

    def passages(self, text: str) -> list[str]:
        return [text]

    def embed_passages(self, texts: Sequence[str]) -> list[npt.NDArray[np.float32]]:
        return [np.eye(COUNT, dtype=np.float32)[[_place(text)]] for text in texts]


def _place(text: str) -> int:
    return next((place for place, thing in enumerate(THINGS) if thing in text), 0)


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now

    def wait(self, **time: float) -> None:
        self.now += timedelta(**time)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def engine(clock: Clock) -> Iterator[Engine]:
    """Forty memories, one about each thing, named after it."""
    with open_engine(":memory:", embedder=Misleading(), recipe=PLAIN, clock=clock) as memory:
        memory.remember_many([{"id": thing, "content": f"A note about {thing}."} for thing in THINGS])
        yield memory


@pytest.fixture
def ask(engine: Engine) -> Callable[..., None]:
    """Ask about some things, and say that the note about each was relevant and the first other hit not."""

    def asked(things: Sequence[str] = THINGS, *, negative: bool = True) -> None:
        for thing in things:
            found = engine.recall(f"what of {thing}?", limit=5)
            engine.admin.feedback.record(found.id, thing, "thumbs", "up")
            other = next(hit.memory.id for hit in found if hit.memory.id != thing)
            if negative:
                engine.admin.feedback.record(found.id, other, "thumbs", "down")

    return asked
