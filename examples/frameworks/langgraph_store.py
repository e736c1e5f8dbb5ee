"""LangGraph: a store that nodes search and put into."""

from __future__ import annotations

import uuid
from typing import Any, TypedDict

import two_processes
from langgraph.graph import END, START, StateGraph
from langgraph.store.base import BaseStore

import memorata
from memorata_agents.langgraph import MemorataStore


class State(TypedDict):
    """What goes through the graph."""

    prompt: str
    said: str


def model(state: State, *, store: BaseStore) -> dict[str, Any]:
    found = store.search(("anna",), query=state["prompt"])
    said = two_processes.reply([state["prompt"], *(item.value for item in found)])
    store.put(("anna",), str(uuid.uuid4()), {"text": state["prompt"]})
    return {"said": said}


def answer(memory: memorata.Engine, prompt: str) -> str:
    graph = StateGraph(State)
    graph.add_node("model", model)
    graph.add_edge(START, "model")
    graph.add_edge("model", END)
    compiled = graph.compile(store=MemorataStore(memory))
    return str(compiled.invoke({"prompt": prompt, "said": ""})["said"])


if __name__ == "__main__":
    two_processes.run(__file__, answer)
