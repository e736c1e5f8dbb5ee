"""The ranking formulas on their own: no engine, no database, no model, only functions on arrays.

Five texts with hand-made vectors are ranked by words (BM25) and by meaning (cosine), the two lists become one
(reciprocal rank fusion), near repeats are spread out (MMR), and the first score is explained.
"""

from __future__ import annotations

import numpy as np

from memorata.rank import Leg, Postings, best_first, cosines, mmr, rrf

TEXTS = (
    "the ferry leaves at noon",
    "the boat departs at twelve",
    "tickets for the ferry are sold on board",
    "the museum is closed on mondays",
    "the last ferry leaves at midnight",
)
# Made by hand: boats, times, opening hours. A real program takes them from an embedder.
VECTORS = np.array([[0.9, 0.8, 0.0], [0.9, 0.7, 0.1], [0.8, 0.1, 0.2], [0.0, 0.3, 0.9], [0.9, 0.8, 0.2]])
QUESTION, MEANING = "when does the ferry leave", np.array([0.9, 0.9, 0.0])


def main() -> None:
    postings = Postings([text.split() for text in TEXTS])
    rows, scores = postings.search(QUESTION.split())
    by_words: Leg[int] = Leg(rows, scores, "words")
    print("by words:   ", [TEXTS[row] for row in rows])

    similar = cosines(VECTORS, MEANING)
    order = best_first(similar, len(TEXTS))
    by_meaning: Leg[int] = Leg(order, similar[order], "meaning")
    print("by meaning: ", [TEXTS[row] for row in order])

    fused = rrf([by_words, by_meaning])
    print("together:   ", [TEXTS[row] for row in fused.ids])
    print(fused.parts.explain(0, TEXTS[fused.ids[0]]))

    picked = mmr(fused.scores, VECTORS[list(fused.ids)], trade=0.5, limit=3)
    print("diverse:    ", [TEXTS[fused.ids[place]] for place in picked])


if __name__ == "__main__":
    main()
