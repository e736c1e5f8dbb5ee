"""Roles of language models and taggers by their specifications: entry points of the core.

Each function takes ``chat:MODEL@ADDRESS``, an extractor also ``spacy:MODEL``, and a key for the service.
A service is called when there is work for it, not before.
"""

from __future__ import annotations

from memorata.extend.embedding import service_address, without_secrets
from memorata.extend.errors import InvalidArgument
from memorata_models.chat import ChatAnchors, ChatClassifier, ChatJudge, ChatWriter
from memorata_models.extraction import ChatExtractor, SpacyExtractor


def chat_address(setting: str, specification: str) -> tuple[str, str]:
    """Return the model and the address of ``chat:MODEL@ADDRESS``, or raise."""
    form, _, location = specification.partition(":")
    model, address = service_address(form, location)
    if form != "chat" or not model or not address:
        default = "none" if setting in ("summaries", "reranker") else "rules"
        raise InvalidArgument(setting, without_secrets(specification), f"{default!r} or 'chat:MODEL@ADDRESS'")
    return model, address


def open_extractor(specification: str, api_key: str | None) -> ChatExtractor | SpacyExtractor:
    """Return the reader of the names in a text."""
    form, _, model = specification.partition(":")
    if form == "spacy" and model:
        return SpacyExtractor(model)
    return ChatExtractor(*chat_address("extractor", specification), api_key=api_key)


def open_anchors(specification: str, api_key: str | None) -> ChatAnchors:
    """Return the reader of the time of a query."""
    return ChatAnchors(*chat_address("anchors", specification), api_key=api_key)


def open_classifier(specification: str, api_key: str | None) -> ChatClassifier:
    """Return the classifier of queries."""
    return ChatClassifier(*chat_address("classifier", specification), api_key=api_key)


def open_writer(specification: str, api_key: str | None) -> ChatWriter:
    """Return the writer of summaries."""
    return ChatWriter(*chat_address("summaries", specification), api_key=api_key)


def open_judge(specification: str, api_key: str | None) -> ChatJudge:
    """Return the judge of contradictions."""
    return ChatJudge(*chat_address("judge", specification), api_key=api_key)
