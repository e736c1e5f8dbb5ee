"""MinHash by rensa, a library in Rust, behind our port; without it, our own in numpy takes its place.

Both hash the same shingles; rensa permutes them about ten times as fast, which on 100,000 texts saves seconds
out of about twenty. So it is an extra (``pip install 'memorata[duplicates]'``), and nothing depends on it.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from typing import Final

import numpy as np

from memorata.dedupe.minhash import ShingleSigner, Signatures, Signer, shingle_hashes
from memorata.model import checks

_AT_ONCE: Final = 1_000


class RensaSigner:
    """Makes signatures with rensa's R-MinHash.

    Parameters
    ----------
    size
        Characters per shingle.
    seed
        Chooses the permutations.
    """

    def __init__(self, size: int = 3, seed: int = 1) -> None:
        self._size = checks.whole("size", size, 1)
        self._seed = checks.whole("seed", seed)

    def sign(self, texts: Sequence[str], permutations: int) -> Signatures:
        """Return one row for each text; see :class:`~memorata.dedupe.minhash.ShingleSigner`."""
        from rensa import RMinHash

        given, count = checks.texts("texts", texts), checks.whole("permutations", permutations, 1)
        rows = np.full((len(given), count), 2**32 - 1, np.uint32)
        for start in range(0, len(given), _AT_ONCE):
            hashes, firsts, owners = shingle_hashes(given[start : start + _AT_ONCE], self._size)
            if owners.size:
                offsets = np.append(firsts, hashes.size).astype(np.uint64)
                found = RMinHash.digest_matrix_from_flat_token_hashes(hashes, offsets, count, self._seed)
                rows[start + owners] = np.array(found.to_rows(), np.uint32)
        return rows


def usual_signer() -> Signer:
    """Return the faster signer that is installed."""
    return RensaSigner() if importlib.util.find_spec("rensa") is not None else ShingleSigner()
