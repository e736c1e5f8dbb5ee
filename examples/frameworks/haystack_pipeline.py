"""Haystack: a pipeline of a retriever, a prompt and a scripted generator."""

from __future__ import annotations

import sys

import two_processes
from haystack import Document, Pipeline, component
from haystack.components.builders import PromptBuilder

import memorata
from haystack_integrations.components.retrievers.memorata import MemorataRetriever
from haystack_integrations.document_stores.memorata import MemorataDocumentStore

TEMPLATE = "{% for document in documents %}{{ document.content }}\n{% endfor %}{{ query }}"


@component
class ScriptedGenerator:
    """Answers from its prompt."""

    @component.output_types(reply=str)
    def run(self, prompt: str) -> dict[str, str]:
        return {"reply": two_processes.reply(prompt)}


def answer(memory: memorata.Engine, prompt: str) -> str:
    # A component opens its database itself, so that a pipeline can be written to a file.
    store = MemorataDocumentStore(sys.argv[1], embedder="lexical")
    pipeline = Pipeline()
    pipeline.add_component("retriever", MemorataRetriever(store))
    pipeline.add_component("prompt", PromptBuilder(TEMPLATE, required_variables="*"))
    pipeline.add_component("model", ScriptedGenerator())
    pipeline.connect("retriever.documents", "prompt.documents")
    pipeline.connect("prompt.prompt", "model.prompt")
    result = pipeline.run({"retriever": {"query": prompt}, "prompt": {"query": prompt}})
    store.write_documents([Document(content=prompt)])
    store.engine.close()
    return str(result["model"]["reply"])


if __name__ == "__main__":
    two_processes.run(__file__, answer)
