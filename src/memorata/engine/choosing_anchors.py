"""From a specification, one line of a settings file, to what reads the time of a question.

========================  ==============================================================
``rules``                 the rules of :mod:`memorata.text.dates`: offline, at once
``chat:MODEL@ADDRESS``    a language model behind an OpenAI-compatible service
========================  ==============================================================
"""

from __future__ import annotations

from memorata.model import checks
from memorata.model.errors import InvalidArgument
from memorata.text.dates import AnchorExtractor, RuleAnchors


def open_anchors(specification: str, api_key: str | None = None) -> AnchorExtractor:
    """Return what reads the time of a question; a service is asked when there is a question, not before.

    Parameters
    ----------
    specification
        ``"rules"``, or ``"chat:MODEL@ADDRESS"``.
    api_key
        For a service that asks for one.

    Examples
    --------
    >>> open_anchors("rules")
    RuleAnchors(language=None)
    >>> open_anchors("guess")
    Traceback (most recent call last):
    ...
    memorata.model.errors.InvalidArgument: anchors must be 'rules' or 'chat:MODEL@ADDRESS', got 'guess'
    """
    if checks.text("anchors", specification) == "rules":
        return RuleAnchors()
    form, _, rest = specification.partition(":")
    model, _, address = rest.partition("@")
    if form != "chat" or not model or not address:
        raise InvalidArgument("anchors", specification, "'rules' or 'chat:MODEL@ADDRESS'")
    # Not before it is needed: it knows how to talk to services.
    from memorata.engine.chat_anchors import ChatAnchors

    return ChatAnchors(model, address, api_key=api_key)
