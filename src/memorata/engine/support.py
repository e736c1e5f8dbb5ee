"""How well the best candidate of a recall stands by itself, whatever the others are like.

The scores of a ranking are relative: the best of a bad lot may have 1. What can be compared from one question
to the next is the evidence the legs give: how far above the noise of its embedder a cosine is, and how much
of the best possible match its words are. The mean of the two is what a fused score would be, were its scales
not those of the question.
"""

from __future__ import annotations

import numpy as np

from memorata.engine.trace import Trace
from memorata.index.neighbours import distinct
from memorata.model.checks import FloatArray


def support(trace: Trace | None) -> float:
    """Return the support of the best candidate, from 0 for none to 1.

    ``max over candidates of the mean of (cosine - noise) / (1 - noise) and match / ceiling``, both cut to
    [0, 1]; of one alone where the question was asked by meaning or by words only.

    Parameters
    ----------
    trace
        What the candidates were ranked by; None if there were none.

    Examples
    --------
    >>> from memorata.engine import open
    >>> memory = open(":memory:", embedder="lexical")
    >>> said = memory.remember("Anna prefers green tea.")
    >>> known, unknown = memory.recall("Which tea does Anna prefer?"), memory.recall("Who stole the moon?")
    >>> known.support > 0.5 > unknown.support
    True
    >>> memory.close()
    """
    if trace is None:
        return 0.0
    told = [leg for leg in trace.legs if leg[0] in ("meaning", "words")]
    everyone = distinct(np.concatenate([slots for _, slots, _ in told]))
    said: list[FloatArray] = []
    for name, slots, scores in told:
        if name == "meaning" and trace.moment.meant:
            noise = max(0.0, trace.moment.noise)
            shares = (scores - noise) / (1.0 - noise)
        elif name == "words" and trace.moment.ceiling > 0:
            shares = scores / trace.moment.ceiling
        else:
            continue
        row = np.zeros(everyone.size)
        row[everyone.searchsorted(slots)] = np.clip(shares, 0.0, 1.0)
        said.append(row)
    return float(np.mean(said, axis=0).max(initial=0.0)) if said else 0.0
