"""Long work: what it reports while it runs, and what it leaves behind."""

from collections.abc import Iterator

import pytest

import memorata
from memorata.model.errors import NotEnoughData
from memorata.service import work
from memorata.service.schemas import DuplicatesJob, MaintenanceJob, ReembedJob, TuningJob

Step = tuple[int, int | None, str]


@pytest.fixture
def engine() -> Iterator[memorata.Engine]:
    with memorata.open(":memory:", embedder="lexical", duplicates="off") as opened:
        opened.remember_many(
            [{"id": "a", "content": "Anna likes tea"}, {"id": "b", "content": "Anna likes tea"}]
        )
        yield opened


def test_duplicates_are_found_and_superseded_only_if_asked_for(engine: memorata.Engine) -> None:
    steps: list[Step] = []

    def progress(done: int, total: int | None, note: str) -> None:
        steps.append((done, total, note))

    def request(keep: list[str]) -> DuplicatesJob:
        return DuplicatesJob.model_validate({"apply": True, "keep": keep})

    found = work.find_duplicates(engine, "default", DuplicatesJob.model_validate({}), progress)
    assert (found["count"], found["run"]) == (1, None)
    assert steps
    kept = found["groups"][0]["keep"]
    none = work.find_duplicates(engine, "default", request(keep=["nobody"]), progress)
    assert none["count"] == 0
    done = work.find_duplicates(engine, "default", request(keep=[kept]), progress)
    assert (done["run"]["repeats"], len(engine.list().memories)) == (1, 1)


def test_maintenance_names_memories_by_their_ids_alone(engine: memorata.Engine) -> None:
    done = work.maintain(engine, "default", MaintenanceJob.model_validate({"dry_run": True}), lambda *_: None)
    assert "tea" not in str(done)


def test_tuning_without_feedback_says_that_it_takes_some(engine: memorata.Engine) -> None:
    steps: list[Step] = []
    with pytest.raises(NotEnoughData):
        work.tune_grid(engine, "default", TuningJob.model_validate({}), lambda *step: steps.append(step))
    assert next(note for _, _, note in steps) == "reading feedback"


def test_everything_is_embedded_again(engine: memorata.Engine) -> None:
    assert work.reembed(engine, ReembedJob.model_validate({"dry_run": True}), lambda *_: None)["failed"] == 0
