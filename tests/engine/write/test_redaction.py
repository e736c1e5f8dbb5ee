"""With redaction on, no secret reaches the file; with it off, what was said is kept verbatim."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import memorata
from memorata import Engine
from memorata.engine.write.drafts import cleaned
from memorata.model.memory import Source
from memorata_graph import Graph

CARD = "4111 1111 1111 1111"
SAID = f"My card is {CARD} and my password: swordfish"
KEPT = "My card is [redacted: card number] and my password: [redacted: password]"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Engine]:
    with memorata.open(tmp_path / "m.db", embedder="lexical", config={"redact": True}) as opened:
        yield opened


def bytes_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir())


def test_nothing_that_is_written_holds_a_secret(memory: Engine, tmp_path: Path) -> None:
    said = memory.remember(
        SAID, tags=[f"card {CARD}"], metadata={"deep": [{"x": f"pwd={CARD[:4]}swordfish"}]}, entities=[CARD],
        source=Source(link="https://ada:swordfish@example.org"),
    )  # fmt: skip
    draft = memory.draft(SAID)
    memory.remember_many(
        [SAID, {"content": SAID}, memorata.Memory(id="x", content=SAID, created_at=draft.created_at)]
    )
    memory.remember_many([memorata.Memory(id="y", content=SAID, created_at=draft.created_at)], verbatim=True)
    new = memory.correct(said.id, SAID + "!")
    memory.update(new.id, metadata={"again": SAID}, tags=[SAID])
    assert said.content == draft.content == KEPT
    assert [each.content.rstrip("!") for each in memory.list(hidden=True).memories] == [KEPT] * 6
    assert b"1111 1111" not in bytes_of(tmp_path)
    assert b"swordfish" not in bytes_of(tmp_path)
    assert memory.admin.check() == []


def test_no_secret_is_kept_beside_memories_either(memory: Engine, tmp_path: Path) -> None:
    memory.remember("Anna lives in Rome.", id="rome")
    memory.remember("Anna lives in Paris.", id="paris")
    memory.admin.duplicates.resolve_contradiction("paris", "rome", contradicts=False, because=SAID, by=SAID)
    described = Graph(memory).entities.describe("Anna", description=SAID, aliases=[f"card {CARD}"])
    assert described.description == KEPT
    assert Graph(memory).entities.relate("Anna", "pays_with", CARD).target == "[redacted: card number]"
    memory.recall(SAID)
    memory.recall("Where does Anna live?")
    asked = {each.query for each in memory.admin.feedback.recalls()}
    assert asked == {KEPT, "Where does Anna live?"}
    assert b"1111 1111" not in bytes_of(tmp_path)
    assert b"swordfish" not in bytes_of(tmp_path)


def test_it_is_off_unless_it_is_asked_for() -> None:
    with memorata.open(":memory:", embedder=None) as memory:
        assert memory.remember(SAID).content == SAID


def test_a_memory_without_secrets_stays_the_same_object(memory: Engine) -> None:
    draft = memory.draft("Anna prefers green tea.", metadata={"room": 12})
    assert memory._writer.drafts.clean(draft) is draft


def test_values_keep_their_types() -> None:
    assert cleaned(("password=swordfish", 1, None, 2.5)) == ("password=[redacted: password]", 1, None, 2.5)
