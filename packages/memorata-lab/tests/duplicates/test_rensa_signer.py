"""MinHash by a library, held to the same promise as our own."""

import importlib.util

import numpy as np
import pytest

from memorata.extend.errors import InvalidArgument
from memorata_lab.duplicates.minhash import (
    RensaSigner,
    ShingleSigner,
    Signer,
    character_shingles,
    jaccard,
    usual_signer,
)

TEXTS = ["green tea and milk in the morning", "green tea and milk in the evening", "coffee", "", "hi", "hi!"]


@pytest.mark.parametrize("signer", [RensaSigner(), ShingleSigner()])
def test_signatures_estimate_the_jaccard_index(signer: Signer) -> None:
    rows = signer.sign(TEXTS, 2_048)
    assert rows.shape == (6, 2_048)
    for a, one in enumerate(TEXTS):
        for b, other in enumerate(TEXTS):
            exact = jaccard(character_shingles(one), character_shingles(other))
            assert abs((rows[a] == rows[b]).mean() - exact) <= 4 * 0.5 / np.sqrt(2_048)


def test_a_row_does_not_depend_on_its_company(monkeypatch: pytest.MonkeyPatch) -> None:
    together = RensaSigner().sign(TEXTS, 16)
    monkeypatch.setattr("memorata_lab.duplicates.minhash._TEXTS_PER_STEP", 2)
    assert np.array_equal(RensaSigner().sign(TEXTS, 16), together)
    assert RensaSigner().sign([], 4).shape == (0, 4)


def test_without_the_library_our_own_takes_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(usual_signer(), RensaSigner)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert isinstance(usual_signer(), ShingleSigner)


def test_bad_input_is_refused() -> None:
    for call in (
        lambda: RensaSigner(0),
        lambda: RensaSigner().sign("x", 4),
        lambda: RensaSigner().sign(["x"], 0),
    ):
        with pytest.raises(InvalidArgument):
            call()
