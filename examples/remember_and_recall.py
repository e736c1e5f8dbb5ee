"""Remember, recall, correct, forget: the verbs of the engine on one file."""

from __future__ import annotations

import tempfile
from pathlib import Path

import memorata


def main(path: Path) -> None:
    with memorata.open(path) as memory:
        home = memory.remember(
            "Lea lives in Bergen.", category="personal_fact", source={"speaker": "Lea", "role": "user"}
        )
        coffee = memory.remember("Lea takes her coffee with oat milk.", tags=("drinks",))
        memory.remember("The boiler in the cellar was serviced in March.", category="event")
        if memory.embedder is not None:
            print("meaning by:", memory.embedder.name)

        for hit in memory.recall("What does Lea drink?", limit=1):
            print("recalled:", hit.memory.content)
            print(hit.explanation)

        memory.correct(home.id, "Lea lives in Tromsø now.")
        print("corrected:", [hit.memory.content for hit in memory.recall("Where does Lea live?", limit=1)])
        print("history:", [each.content for each in memory.history(home.id)])

        drinks = {"tags": "drinks"}
        print("filtered:", [hit.memory.content for hit in memory.recall("Lea", filter=drinks)])
        memory.forget(coffee.id)
        print("forgotten:", [hit.memory.content for hit in memory.recall("Lea", filter=drinks)])
        memory.restore(coffee.id)
        print("restored:", [hit.memory.content for hit in memory.recall("Lea", filter=drinks)])

    # Everything is in the file: another process, or this one later, goes on where we stopped.
    with memorata.open(path) as memory:
        print("kept:", len(memory.list(hidden=True).memories))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(Path(folder) / "lea.db")
