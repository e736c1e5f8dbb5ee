"""CrewAI: the storage of its memory; nobody is asked, since every field is given and recall is shallow."""

from __future__ import annotations

import two_processes
from crewai.memory.unified_memory import Memory

import memorata
from memorata_agents.crewai import MemorataStorage


def answer(engine: memorata.Engine, prompt: str) -> str:
    storage = MemorataStorage(engine)
    memory = Memory(storage=storage, embedder=storage.embed)
    found = memory.recall(prompt, depth="shallow")
    said: str = two_processes.reply([prompt, *(match.record.content for match in found)])
    memory.remember(prompt, scope="/team", categories=["said"], importance=0.5)
    return said


if __name__ == "__main__":
    two_processes.run(__file__, answer)
