"""The tools that write: remember, correct, forget, relate, feedback."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memorata.mcp.answers import DEFAULT_BUDGET, Answer, memory_row, plain, told
from memorata.mcp.arguments import Correct, Feedback, Forget, Relate, Remember
from memorata.mcp.tool import Tool

if TYPE_CHECKING:
    from memorata.engine import Engine

_CONTRADICTED: Final = 3
"""How many memories that a new one may contradict are shown: these are hints, and tokens cost."""


def remember(engine: Engine, given: Remember) -> Answer:
    """Write a memory down, and say its id, whether it was known, and what it may contradict."""
    details: dict[str, Any] = {
        "category": given.category,
        "tags": tuple(given.tags),
        "entities": tuple(given.about),
        "importance": given.importance,
        "source": {"speaker": given.speaker, "session": given.session},
        "valid_from": given.happened_at,
        "expires_at": given.expires_at,
    }
    known = {name: value for name, value in details.items() if value is not None}
    memory = engine.remember(given.content, **known)
    if memory.mentions > 1:
        said = f"That was known already, with the id {memory.id}. It counts as said {memory.mentions} times."
    else:
        said = f"Remembered, with the id {memory.id}."
    older = [hint.older for hint in engine.duplicates.contradictions(memory.id) if hint.newer == memory.id]
    if not older:
        return plain(said)
    advice = "It may contradict what follows: if that is no longer true, forget it."
    return told(
        f"{said} {advice}", [memory_row(engine.get(id_)) for id_ in older[:_CONTRADICTED]], DEFAULT_BUDGET
    )


def correct(engine: Engine, given: Correct) -> Answer:
    """Put a new memory in the place of an old one."""
    memory = engine.correct(given.id, given.content)
    return plain(
        f"Corrected. The new memory has the id {memory.id}; the old one answers no more, but is kept."
    )


def forget(engine: Engine, given: Forget) -> Answer:
    """Hide memories."""
    ids = list(dict.fromkeys(given.ids))
    engine.forget(*ids)
    count = "1 memory" if len(ids) == 1 else f"{len(ids)} memories"
    return plain(f"Forgot {count}. A person can bring back what was forgotten with `memorata restore`.")


def relate(engine: Engine, given: Relate) -> Answer:
    """Say that a relation holds; one that is known already stays as it is."""
    from memorata.model.errors import EntityNotFound
    from memorata.text.folding import folded

    wanted = (folded(given.subject), given.relation, folded(given.object), given.memory, given.since)
    try:
        around = engine.entities.relations(given.subject)
    except EntityNotFound:
        around = ()
    known = any(
        (folded(each.source), each.type, folded(each.target), each.asserted_by, each.valid_from) == wanted
        for each in around
    )
    if known:
        return plain("That is known already; nothing was changed.")
    engine.entities.relate(
        given.subject, given.relation, given.object, memory=given.memory, valid_from=given.since
    )
    return plain("Noted. explore shows it with everything else that is known about either.")


def feedback(engine: Engine, given: Feedback) -> Answer:
    """Note what a recalled memory was worth."""
    if given.kind == "rating":
        engine.feedback.record(given.recall_id, given.id, "rating", given.value)
    elif given.value is not None:
        from memorata.model.errors import InvalidArgument

        raise InvalidArgument("value", given.value, "left out unless the kind is rating")
    else:
        engine.feedback.record(given.recall_id, given.id, "relevant", given.kind == "relevant")
    return plain("Thank you; it is noted, and later recalls can learn from it.")


WRITING: Final = (
    Tool(
        name="remember",
        title="Remember something",
        description=(
            "Keep something for later conversations: what the person tells you about themselves, what they "
            "prefer, what was decided, what happened. One thing a call, in a sentence that is understood "
            "without this conversation. Call recall first when it may be known already; if it changed, call "
            "correct instead. Never for secrets such as passwords."
        ),
        arguments=Remember,
        run=remember,
    ),
    Tool(
        name="correct",
        title="Correct a memory",
        description=(
            "Replace a memory that is wrong or no longer true. The old one stops answering; it stays in the "
            "history. Needs the id that recall showed."
        ),
        arguments=Correct,
        run=correct,
        destroys=True,
    ),
    Tool(
        name="forget",
        title="Forget memories",
        description=(
            "Hide memories from every later recall, when the person asks for it or when they should never "
            "have been kept. Something that merely changed is corrected instead. Needs the ids that recall "
            "showed."
        ),
        arguments=Forget,
        run=forget,
        destroys=True,
        repeats=True,
    ),
    Tool(
        name="relate",
        title="Relate two things",
        description=(
            "Say how two people, places or things relate: Anna works_at Bank of England. Worth it for ties "
            "that will be asked about by way of others; a plain memory is enough for everything else."
        ),
        arguments=Relate,
        run=relate,
        repeats=True,
    ),
    Tool(
        name="feedback",
        title="Say what a memory was worth",
        description=(
            "After you answered: say which of the recalled memories helped, and which did not belong. Recall "
            "learns from it. The memories themselves stay as they are; what is wrong is corrected instead."
        ),
        arguments=Feedback,
        run=feedback,
    ),
)
"""In the order in which they are listed."""
