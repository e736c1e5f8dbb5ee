"""The ranking formulas on their own: no engine, no database, no model, only functions on arrays.

Five texts with hand-made vectors are ranked by shared words (their idf) and by cosine, the two lists become
one (reciprocal rank fusion), near repeats are spread out (MMR), and the first score is explained.
"""

from __future__ import annotations

import numpy as np

from memorata.rank import Leg, best_first, cosines, inverse_document_frequency, mmr, rrf

TEXTS = (
    "the ferry leaves at noon",
    "the boat departs at twelve",
    "tickets for the ferry are sold on board",
    "the museum is closed on mondays",
    "the last ferry leaves at midnight",
)
# Made by hand: boats, times, opening hours. A real program takes them from an embedder.
VECTORS = np.array([[0.9, 0.8, 0.0], [0.9, 0.7, 0.1], [0.8, 0.1, 0.2], [0.0, 0.3, 0.9], [0.9, 0.8, 0.2]])
QUERY, VECTOR = "when does the ferry leave", np.array([0.9, 0.9, 0.0])


def main() -> None:
    words = [set(text.split()) for text in TEXTS]
    idf = {
        term: inverse_document_frequency(sum(term in text for text in words), len(TEXTS))
        for term in QUERY.split()
    }
    shared = np.array([sum(idf[term] for term in idf if term in text) for text in words])
    order = best_first(shared, int(np.count_nonzero(shared)))
    lexical: Leg[int] = Leg(order, shared[order], "lexical")
    print("lexical: ", [TEXTS[row] for row in order])

    similar = cosines(VECTORS, VECTOR)
    order = best_first(similar, len(TEXTS))
    vector: Leg[int] = Leg(order, similar[order], "vector")
    print("vector:  ", [TEXTS[row] for row in order])

    fused = rrf([lexical, vector])
    print("together:", [TEXTS[row] for row in fused.ids])
    print(fused.parts.explain(0, TEXTS[fused.ids[0]]))

    picked = mmr(fused.scores, VECTORS[list(fused.ids)], trade=0.5, limit=3)
    print("diverse: ", [TEXTS[fused.ids[place]] for place in picked])


if __name__ == "__main__":
    main()
