"""A recipe is data: write your own, change one number of a shipped one, and see what it does to the order."""

from __future__ import annotations

import memorata
from memorata.engine import RECIPES

MINE = memorata.Recipe(
    name="mine",
    doc="Mostly words, tags as good as the text itself, and first the best hit of every session.",
    vector_weight=0.3,
    tags_weight=1.0,
    per_session=1,
)
SAID = (
    ("monday", "The release is on Tuesday.", ("work",)),
    ("monday", "The release notes are written by whoever releases.", ("work",)),
    ("friday", "We celebrate every release with cake.", ("cake",)),
    ("friday", "Nobody likes the cake with raisins.", ("cake",)),
)


def main() -> None:
    with memorata.open(":memory:", recipe=MINE) as memory:
        memory.remember_many(
            {"content": content, "tags": tags, "source": {"session": session}}
            for session, content, tags in SAID
        )
        question = "release"
        for recipe in (MINE, RECIPES["balanced"], RECIPES["balanced"].changed({"vector_weight": 1.0})):
            found = memory.recall(question, recipe=recipe, limit=3)
            print(f"{recipe.name} (meaning {recipe.vector_weight:g}):")
            for hit in found:
                print(f"  {hit.score:.3f}  {hit.memory.content}")
        # Or change one number for one question, without a recipe of one's own.
        plain = memory.recall(question, limit=3, recipe={"per_session": 0})
        print("mine, whatever the session:", [hit.memory.source.session for hit in plain])


if __name__ == "__main__":
    main()
