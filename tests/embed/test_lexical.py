import math
import os
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.embed.lexical import LexicalEmbedder, _bucket
from memorata.embed.port import Embedder
from memorata.model.errors import InvalidArgument
from memorata.testing import TEXTS, EmbedderConformance
from memorata.text.analysers import ANALYSERS


class TestLexical(EmbedderConformance):
    @pytest.fixture
    def embedder(self) -> Embedder:
        return LexicalEmbedder()


@dataclass
class Counts:
    """Statistics that notice when they are changed."""

    frequencies: dict[str, int] = field(default_factory=dict)
    document_count: int = 10
    average_length: float = 5.0

    def document_frequency(self, term: str) -> int:
        return self.frequencies.get(term, 0)


@given(st.lists(st.sampled_from(["cat", "dog", "horse", "bird"]), max_size=12))
def test_a_document_is_its_saturated_counts(words: list[str]) -> None:
    embedder = LexicalEmbedder(analyser=ANALYSERS["plain"])
    expected = np.zeros(512)
    for term, count in Counter(words).items():
        bucket, sign = _bucket(term, 512)
        expected[bucket] += sign * count * 2.5 / (count + 1.5)
    length = math.sqrt((expected**2).sum())
    found = embedder.embed_documents([" ".join(words)])[0]
    assert found == pytest.approx(expected / length if length else expected, abs=1e-6)


def test_forms_of_a_word_are_one_term() -> None:
    one, other = LexicalEmbedder().embed_documents(["She planted roses", "planting a rose"])
    assert float(one @ other) == pytest.approx(1.0, abs=1e-6)


def test_rare_terms_weigh_more_in_a_question() -> None:
    statistics = Counts({"garden": 9, "anemone": 1})
    embedder = LexicalEmbedder(analyser=ANALYSERS["plain"], statistics=statistics)
    common, rare = embedder.embed_documents(["garden", "anemone"])
    question = embedder.embed_query("garden anemone")
    # idf(1 of 10) = ln(9.5/1.5 + 1) = 1.9924 and idf(9 of 10) = ln(1.5/9.5 + 1) = 0.1466.
    assert float(question @ rare) / float(question @ common) == pytest.approx(1.99243 / 0.14660, rel=1e-3)


def test_without_statistics_terms_weigh_alike() -> None:
    for statistics in (None, Counts(document_count=0)):
        embedder = LexicalEmbedder(analyser=ANALYSERS["plain"], statistics=statistics)
        common, rare = embedder.embed_documents(["garden", "anemone"])
        question = embedder.embed_query("garden anemone")
        assert float(question @ rare) == pytest.approx(float(question @ common), abs=1e-6)


def test_a_question_of_unknown_terms_has_no_direction() -> None:
    embedder = LexicalEmbedder(statistics=Counts({"garden": 3}))
    assert not embedder.embed_query("anemone").any()
    assert embedder.embed_query("garden").any()


def test_statistics_weigh_questions_only_and_are_not_changed() -> None:
    statistics = Counts({"alic": 1, "lisbon": 2})
    with_them, without = LexicalEmbedder(statistics=statistics), LexicalEmbedder()
    assert np.array_equal(with_them.embed_documents(TEXTS), without.embed_documents(TEXTS))
    with_them.embed_query("Where in Lisbon is Alice?")
    assert statistics == Counts({"alic": 1, "lisbon": 2})


def test_a_text_without_terms_is_zero() -> None:
    rows = LexicalEmbedder().embed_documents(["", "of the", "?!"])
    assert not rows.any()


def test_places_are_the_same_in_every_process() -> None:
    # Python's own hash changes from run to run; this one must not, or stores would be lost.
    program = (
        "from memorata.embed import LexicalEmbedder as L; print(L().embed_query('garden').nonzero()[0][0])"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert found == {f"{_bucket('garden', 512)[0]}\n"}


def test_signs_and_buckets_are_spread_evenly() -> None:
    buckets = [_bucket(f"term{number}", 64) for number in range(6400)]
    counts = Counter(bucket for bucket, _ in buckets)
    assert len(counts) == 64
    # A hundred each on average; six standard deviations of a binomial count are 60.
    assert all(40 < count < 160 for count in counts.values())
    assert abs(sum(sign for _, sign in buckets)) < 480


def test_names_tell_settings_apart() -> None:
    embedders = [
        LexicalEmbedder(),
        LexicalEmbedder(dimension=64),
        LexicalEmbedder(k1=1.2),
        LexicalEmbedder(analyser=ANALYSERS["plain"]),
    ]
    assert len({embedder.name for embedder in embedders}) == 4
    assert LexicalEmbedder(statistics=Counts()).name == embedders[0].name


@pytest.mark.parametrize("settings", [{"dimension": 0}, {"k1": -1}, {"k1": math.nan}])
def test_settings_are_checked(settings: dict[str, float]) -> None:
    with pytest.raises(InvalidArgument):
        LexicalEmbedder(**settings)  # type: ignore[arg-type]
