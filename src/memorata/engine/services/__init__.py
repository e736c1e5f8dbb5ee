"""Language models and taggers behind the names of settings: ``chat:MODEL@ADDRESS``, ``spacy:MODEL``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memorata.embed.circuit_breaker import QUERY_SECONDS
from memorata.embed.port import Reranker
from memorata.embed.trust import service_address
from memorata.model import checks
from memorata.model.errors import InvalidArgument
from memorata.text.dates import AnchorExtractor, RuleAnchors
from memorata.text.entities import EntityExtractor
from memorata.text.queries import QueryClassifier, RuleClassifier

if TYPE_CHECKING:
    from memorata.embed.selection import Resources
    from memorata.engine.consolidation import Writer as SummaryWriter


def open_extractor(specification: str, api_key: str | None = None) -> EntityExtractor | None:
    """Return the reader of names: ``rules``, ``spacy:MODEL`` or ``chat:MODEL@ADDRESS``; None for ``none``."""
    form, _, model = checks.text("extractor", specification).partition(":")
    if specification == "none":
        return None
    if specification == "rules":
        from memorata.text.entities import RuleExtractor

        return RuleExtractor()
    # It knows how to talk to services, which few processes do.
    from memorata.engine.services.extraction import ChatExtractor, SpacyExtractor

    if form == "spacy" and model:
        return SpacyExtractor(model)
    if form != "chat":
        raise InvalidArgument("extractor", specification, "rules, none, spacy:MODEL or chat:MODEL@ADDRESS")
    return ChatExtractor(*chat_address("extractor", specification), api_key=api_key)


def open_reranker(specification: str, resources: Resources) -> Reranker | None:
    """Return the re-ranker that is named: a model, a service, or ``chat:MODEL@ADDRESS``; None for none."""
    if specification.startswith("chat:"):
        from memorata.engine.services.chat import ChatReranker

        model, address = chat_address("reranker", specification)
        key, retry, seconds = resources.reranker_key, resources.retry, resources.query_seconds
        return ChatReranker(model, address, api_key=key, retry=retry, seconds=seconds or QUERY_SECONDS)

    from memorata.embed import selection

    return selection.open_reranker(specification, resources)


def chat_address(setting: str, specification: str) -> tuple[str, str]:
    """Return the model and the address of ``chat:MODEL@ADDRESS``, or raise."""
    form, _, location = specification.partition(":")
    model, address = service_address(form, location)
    if form != "chat" or not model or not address:
        from memorata.embed.selection import without_secrets

        default = "none" if setting == "summaries" else "rules"
        raise InvalidArgument(setting, without_secrets(specification), f"{default!r} or 'chat:MODEL@ADDRESS'")
    return model, address


def open_classifier(specification: str, api_key: str | None = None) -> QueryClassifier:
    """Return what tells the type of a query; a service is asked when there is a query, not before."""
    if checks.text("classifier", specification) == "rules":
        return RuleClassifier()
    from memorata.engine.services.chat import ChatClassifier

    model, address = chat_address("classifier", specification)
    return ChatClassifier(model, address, api_key=api_key)


def open_summaries(specification: str, api_key: str | None = None) -> SummaryWriter | None:
    """Return what writes about communities; a service is asked when they are, not before."""
    if checks.text("summaries", specification) == "none":
        return None
    model, address = chat_address("summaries", specification)
    from memorata.engine.services.chat import ChatWriter

    return ChatWriter(model, address, api_key=api_key)


def open_anchors(specification: str, api_key: str | None = None) -> AnchorExtractor:
    """Return what reads the time of a query; a service is asked when there is a query, not before."""
    if checks.text("anchors", specification) == "rules":
        return RuleAnchors()
    model, address = chat_address("anchors", specification)
    # It knows how to talk to services, which few processes do.
    from memorata.engine.services.chat import ChatAnchors

    return ChatAnchors(model, address, api_key=api_key)
