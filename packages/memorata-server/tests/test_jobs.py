import threading
from collections.abc import Iterator

import pytest

import memorata
from memorata.model.errors import InvalidArgument, NotEnoughData, StoreUnavailable
from memorata.service.errors import Overloaded
from memorata_lab.jobs import tune_grid
from memorata_server import jobs as long_work
from memorata_server import jobs as module
from memorata_server.jobs import Job, Jobs, TooManyJobs, Work
from memorata_server.schemas import DuplicatesJob, MaintenanceJob, ReembedJob, TuningJob


@pytest.fixture
def jobs() -> Iterator[Jobs]:
    opened = Jobs()
    yield opened
    opened.close()


def test_a_job_tells_how_far_it_is_and_what_came_of_it(jobs: Jobs) -> None:
    half, go_on = threading.Event(), threading.Event()

    def work(job: Job) -> dict[str, int]:
        job.progress("half-way", 5, 10)
        half.set()
        go_on.wait(60)
        return {"found": 3}

    job = jobs.start("look", "acme", "k1", work)
    assert half.wait(60)
    assert (job.state, job.done, job.total, job.note) == ("running", 5, 10, "half-way")
    go_on.set()
    assert job.wait(60)
    assert (job.state, job.as_dict()["result"]) == ("done", {"found": 3})
    assert jobs.find(job.id) is job
    assert jobs.find("nobody") is None


def test_errors_of_ours_are_told_and_others_are_only_logged(jobs: Jobs) -> None:
    def refused(job: Job) -> dict[str, int]:
        raise InvalidArgument("seed", -1, "at least 0")

    def broken(job: Job) -> dict[str, int]:
        raise KeyError("the vault opens with marmalade")

    def locked(job: Job) -> dict[str, int]:
        raise StoreUnavailable("/srv/marmalade.db is locked")

    told = ((refused, "seed must be at least 0, got -1"), (broken, "log says more"), (locked, "log says why"))
    for work, words in told:
        job = jobs.start("look", "acme", "k1", work)
        assert job.wait(60)
        assert job.state == "failed"
        assert words in job.problem
        assert "marmalade" not in job.problem


def test_a_job_stops_at_its_next_step(jobs: Jobs) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def work(job: Job) -> dict[str, int]:
        begun.set()
        go_on.wait(60)
        job.progress("", 1)
        return {}

    running, waiting = (jobs.start("look", "acme", "k1", work) for _ in range(2))
    assert begun.wait(60)
    running.stop()
    waiting.stop()
    go_on.set()
    assert running.wait(60)
    assert waiting.wait(60)
    assert (running.state, waiting.state) == ("stopped", "stopped")
    assert [job.id for job in jobs.all()] == [waiting.id, running.id]


def test_there_is_an_end_to_how_many_wait_and_are_kept(jobs: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_KEPT", 2)
    for _ in range(4):
        assert jobs.start("look", "acme", "k1", lambda job: {}).wait(60)
    assert len(jobs.all()) == 2
    monkeypatch.setattr(module, "MAX_IN_HAND", 0)
    with pytest.raises(Overloaded):
        jobs.start("look", "acme", "k1", lambda job: {})


@pytest.fixture
def blocked(jobs: Jobs) -> Iterator[threading.Event]:
    """A job of `k1` runs until the event is set."""
    begun, go_on = threading.Event(), threading.Event()

    def work(job: Job) -> dict[str, int]:
        begun.set()
        go_on.wait(60)
        return {}

    jobs.start("block", "acme", "k1", work)
    assert begun.wait(60)
    yield go_on
    go_on.set()


def test_one_key_has_few_jobs_in_hand_and_leaves_room_for_others(
    jobs: Jobs, blocked: threading.Event
) -> None:
    for _ in range(3):
        jobs.start("look", "acme", "k1", lambda job: {})
    with pytest.raises(TooManyJobs):
        jobs.start("look", "acme", "k1", lambda job: {})
    other = jobs.start("look", "bolt", "k2", lambda job: {})
    # Who needs no key is alone, and may have more.
    mine = [jobs.start("look", "acme", "local", lambda job: {}) for _ in range(8)]
    blocked.set()
    assert all(job.wait(60) for job in (other, *mine))
    assert jobs.start("look", "acme", "k1", lambda job: {}).wait(60)


def test_callers_take_turns(jobs: Jobs, blocked: threading.Event) -> None:
    order: list[str] = []

    def told(name: str) -> Work:
        def work(job: Job) -> dict[str, int]:
            order.append(name)
            return {}

        return work

    last = [jobs.start("look", "acme", key, told(key)) for key in ("k1", "k1", "k1", "k2", "k2", "k3")]
    blocked.set()
    assert all(job.wait(60) for job in last)
    assert order == ["k2", "k3", "k1", "k2", "k1", "k1"]


def test_a_job_that_waits_is_over_as_soon_as_it_is_stopped(jobs: Jobs, blocked: threading.Event) -> None:
    began: list[str] = []

    def work(job: Job) -> dict[str, int]:
        began.append(job.id)
        return {}

    first, second = (jobs.start("look", "acme", "k1", work) for _ in range(2))
    jobs.stop(first)
    assert (first.state, first.wait(0), second.state) == ("stopped", True, "waiting")
    blocked.set()
    assert second.wait(60)
    assert began == [second.id]


def test_the_results_of_whoever_left_most_go_first(jobs: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_KEPT", 3)
    quiet = jobs.start("look", "bolt", "k2", lambda job: {})
    assert quiet.wait(60)
    for _ in range(9):
        assert jobs.start("look", "acme", "k1", lambda job: {}).wait(60)
    assert jobs.find(quiet.id) is quiet
    assert len(jobs.all()) == 3


def test_nothing_begins_once_the_server_is_about_to_stop() -> None:
    jobs = Jobs()
    jobs.close()
    with pytest.raises(Overloaded):
        jobs.start("look", "acme", "k1", lambda job: {})
    jobs.open()
    assert jobs.start("look", "acme", "k1", lambda job: {}).wait(60)
    jobs.close()


def test_one_of_a_kind_at_a_time_in_a_namespace() -> None:
    jobs, go_on = Jobs(threads=4), threading.Event()
    first = jobs.start_once("a", "x", "local", lambda job: go_on.wait(5))
    assert jobs.start_once("a", "x", "local", lambda job: None) is first
    assert jobs.start_once("a", "y", "local", lambda job: None) is not first
    assert jobs.start_once("b", "x", "local", lambda job: None) is not first
    go_on.set()
    jobs.wait()
    assert jobs.start_once("a", "x", "local", lambda job: None) is not first
    jobs.close()


def test_a_failure_keeps_its_error_for_those_who_may_see_it(jobs: Jobs) -> None:
    job = jobs.start("a", "x", "local", lambda job: 1 / 0)
    assert job.wait(60)
    assert (job.running, str(job.error)) == (False, "division by zero")
    assert "division" not in job.problem


def test_what_has_ended_can_be_dropped_and_what_runs_cannot(jobs: Jobs) -> None:
    go_on = threading.Event()
    jobs.start("a", "x", "local", lambda job: go_on.wait(5))
    jobs.drop("a", "x")
    assert jobs.last("a", "x") is not None
    go_on.set()
    jobs.wait()
    jobs.drop("a", "x")
    jobs.drop("a", "never")
    assert jobs.last("a", "x") is None


Step = tuple[int, int | None, str]


@pytest.fixture
def engine() -> Iterator[memorata.Engine]:
    with memorata.open(":memory:", embedder="lexical", config={"duplicates": "off"}) as opened:
        opened.remember_many(
            [{"id": "a", "content": "Anna likes tea"}, {"id": "b", "content": "Anna likes tea"}]
        )
        yield opened


def test_duplicates_are_found_and_superseded_only_if_asked_for(engine: memorata.Engine) -> None:
    steps: list[Step] = []

    def progress(step: str, done: int, total: int | None = None) -> None:
        steps.append((done, total, step))

    def request(keep: list[str]) -> DuplicatesJob:
        return DuplicatesJob.model_validate({"apply": True, "keep": keep})

    found = long_work.find_duplicates(engine, "default", DuplicatesJob.model_validate({}), progress)
    assert (found["count"], found["run"]) == (1, None)
    assert steps
    kept = found["groups"][0]["keep"]
    none = long_work.find_duplicates(engine, "default", request(keep=["nobody"]), progress)
    assert none["count"] == 0
    done = long_work.find_duplicates(engine, "default", request(keep=[kept]), progress)
    assert (done["run"]["repeats"], len(engine.list().memories)) == (1, 1)


def test_maintenance_names_memories_by_their_ids_alone(engine: memorata.Engine) -> None:
    done = long_work.maintain(
        engine, "default", MaintenanceJob.model_validate({"dry_run": True}), lambda *_: None
    )
    assert "tea" not in str(done)


def test_tuning_without_feedback_says_that_it_takes_some(engine: memorata.Engine) -> None:
    steps: list[str] = []
    with pytest.raises(NotEnoughData):
        tune_grid(engine, "default", TuningJob.model_validate({}), lambda step, *_: steps.append(step))
    assert steps[0] == "reading feedback"


def test_everything_is_embedded_again(engine: memorata.Engine) -> None:
    assert (
        long_work.reembed(engine, "*", ReembedJob.model_validate({"dry_run": True}), lambda *_: None)[
            "failed"
        ]
        == 0
    )


def test_an_example_of_jobs() -> None:
    jobs = Jobs()
    job = jobs.start("count", "default", "local", lambda job: {"counted": 3})
    assert (job.wait(10), job.state, job.result) == (True, "done", {"counted": 3})
    jobs.close()
