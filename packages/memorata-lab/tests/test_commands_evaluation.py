"""memorata lab eval: for people, in a pipe, as JSON, interrupted, and with wrong arguments."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memorata.cli.command import GlobalOptions, Session
from memorata.cli.output import Output
from memorata.engine import RECIPES
from memorata.model.errors import DatasetError, InvalidArgument
from memorata_lab.commands.evaluation import (
    DATASETS,
    dataset_of,
    embedders,
    measures_of,
    progress_of,
    recipes_of,
    reranker_of,
    run_files,
)
from memorata_lab.evaluate import runner
from memorata_lab.evaluate.datasets import READERS
from memorata_lab.evaluate.run_file import read_run
from memorata_lab.evaluate.tables import MEASURES

Run = Callable[..., Any]
FACTS = [
    ("Anna drinks green tea.", "What does Anna drink?"),
    ("Bob sails a boat called Heron.", "What is the boat of Bob called?"),
    ("Clara paints in the attic.", "Where does Clara paint?"),
    ("Dan sold his bicycle in May.", "When did Dan sell the bicycle?"),
]


@pytest.fixture
def facts(home: Path) -> str:
    (home / "facts.tsv").write_text("".join(f"{fact}\t{asked}\n" for fact, asked in FACTS), "utf-8")
    return "facts.tsv"


@pytest.fixture
def runs(cli: Run, facts: str, home: Path) -> dict[str, str]:
    """Two runs, by the name of their recipe."""
    assert cli("lab", "eval", "facts", facts, "-r", "bm25", "-r", "vector").code == 0
    return {name: str(next((home / "runs").glob(f"*.{name}.jsonl"))) for name in ("bm25", "vector")}


def test_every_format_that_can_be_read_has_a_command() -> None:
    assert list(DATASETS) == list(READERS)


# --- running ------------------------------------------------------------------------------------------------


@pytest.mark.untraced
def test_every_recipe_that_can_be_measured_is_a_row(cli: Run, facts: str) -> None:
    shown = cli("lab", "eval", "facts", facts)
    assert shown.code == 0
    head, *rows = (line.split("\t") for line in shown.lines)
    assert head[:6] == ["recipe", "any@5", "any@10", "all@5", "mrr", "ndcg@10"]
    assert [row[0] for row in rows] == [n for n in RECIPES if n not in ("confident", "precise", "pinecone")]
    assert all(len(row) == len(head) for row in rows)
    assert "4 of 4 questions are measured" in shown.err
    assert "100 % done" in shown.err


def test_a_person_gets_a_table(cli: Run, facts: str) -> None:
    shown = cli("lab", "eval", "facts", facts, "-r", "bm25", "-r", "balanced", terminal=True)
    plain = [re.sub(r"\x1b\[[\d;]*m", "", line) for line in shown.lines]
    assert [line.split()[0] for line in plain] == ["recipe", "bm25", "balanced"]
    assert "\t" not in shown.out
    assert max(map(len, plain)) <= 100


def test_the_measures_are_those_asked_for(cli: Run, facts: str) -> None:
    shown = cli("lab", "eval", "facts", facts, "-r", "bm25", "-m", "any@1", "-m", "recall@3")
    assert shown.lines[0].split("\t")[:3] == ["recipe", "any@1", "recall@3"]
    assert shown.lines[1].startswith("bm25\t100.0 ±0.0\t100.0 ±0.0")


def test_json_holds_everything(cli: Run, facts: str) -> None:
    data = cli("lab", "eval", "facts", facts, "-r", "bm25", "--json").json
    assert (data["granularity"], data["folder"]) == ("turn", "runs")
    (found,) = data["runs"]
    assert found["measures"]["any@5"]["micro"] == {"mean": 1.0, "low": 1.0, "high": 1.0}
    assert found["counts"]["measured"] == 4
    assert found["latency"]["count"] == 4
    assert Path(found["file"]).exists()


def test_quiet_says_nothing_but_the_result(cli: Run, facts: str) -> None:
    assert cli("lab", "eval", "facts", facts, "-r", "bm25", "-q").err == ""


def test_a_changed_recipe_is_a_row_of_its_own(cli: Run, facts: str) -> None:
    cli("lab", "eval", "facts", facts, "-r", "balanced")
    changed = cli("lab", "eval", "facts", facts, "-r", "balanced", "--set", "vector_weight=0.7")
    assert changed.lines[1].startswith("balanced+vector_weight=0.7\t")
    assert "from before" not in changed.err


def test_a_first_look_takes_the_first_questions(cli: Run, facts: str) -> None:
    data = cli("lab", "eval", "facts", facts, "-r", "bm25", "--limit-questions", "2", "--json").json
    assert data["runs"][0]["counts"]["questions"] == 2
    assert "first 2 questions" in data["dataset"]


def test_a_run_that_does_not_reach_as_far_as_a_measure_says_so(cli: Run, facts: str) -> None:
    shown = cli(
        "lab",
        "eval",
        "facts",
        facts,
        "-r",
        "bm25",
        "--depth",
        "5",
        "-m",
        "any@5",
        "-m",
        "any@10",
        "-m",
        "mrr",
    )
    assert "bm25 has the first 5 results only, which is all that any@10 can see" in shown.err
    assert "results only" not in cli("lab", "eval", "facts", facts, "-r", "bm25", "--runs", "deep").err


def test_sessions_and_user_turns_of_longmemeval(cli: Run, home: Path) -> None:
    said = [
        {"role": "user", "content": "I drink oolong.", "has_answer": True},
        {"role": "assistant", "content": "Oolong is a fine tea, and which do you drink in the evening?"},
    ]
    record = {
        "question_id": "q1",
        "question_type": "single-session-user",
        "question": "Which tea do I drink?",
        "question_date": "2023/04/12 (Wed) 06:37",
        "haystack_session_ids": ["answer_1", "noise"],
        "haystack_dates": ["2023/01/01 (Sun) 00:52", "2023/01/02 (Mon) 00:52"],
        "haystack_sessions": [said, [{"role": "user", "content": "The train was late."}]],
        "answer_session_ids": ["answer_1"],
    }
    (home / "s.json").write_text(json.dumps([record]))
    for turns, documents in (("all", 3), ("user", 2)):
        data = cli(
            "lab", "eval", "longmemeval", "s.json", "--turns", turns, "--granularity", "session",
            "--runs", turns, "-r", "vector", "-m", "all@1", "--json",
        ).json  # fmt: skip
        assert data["granularity"] == "session"
        assert data["runs"][0]["measures"]["all@1"]["micro"]["mean"] == 1.0
        turn = cli("lab", "eval", "longmemeval", "s.json", "--turns", turns, "-r", "vector", "--json").json
        ranking = read_run(turn["runs"][0]["file"]).answers["q1"].ranking
        assert len(ranking) == documents


def test_the_cache_fills_once(cli: Run, facts: str, home: Path) -> None:
    cli("lab", "eval", "facts", facts, "-r", "vector", "--cache", "vectors.db")
    size = (home / "vectors.db").stat().st_size
    assert size > 0
    again = cli("lab", "eval", "facts", facts, "-r", "vector", "--cache", "vectors.db", "--again")
    assert again.code == 0
    assert (home / "vectors.db").stat().st_size == size


# --- interrupted --------------------------------------------------------------------------------------------


def test_ctrl_c_leaves_a_run_that_can_be_gone_on_with(
    cli: Run, facts: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    real = runner._answer

    def impatient(*arguments: Any) -> Any:
        if len(asked) == 2:
            raise KeyboardInterrupt
        asked.append(arguments[2].id)
        return real(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(runner, "_answer", impatient)
        stopped = cli("lab", "eval", "facts", facts, "-r", "bm25")
    assert stopped.code == 130
    assert "run the same again to continue" in stopped.err
    (path,) = (home / "runs").glob("*.bm25.jsonl")
    assert list(read_run(path).answers) == asked
    done = cli("lab", "eval", "facts", facts, "-r", "bm25")
    assert done.code == 0
    assert "2 answers from before" in done.err
    assert len(read_run(path).answers) == 4


def test_a_run_with_other_settings_is_not_mixed_in(cli: Run, facts: str) -> None:
    cli("lab", "eval", "facts", facts, "-r", "bm25")
    other = cli("lab", "eval", "facts", facts, "-r", "bm25", "--depth", "7")
    assert other.code == 2
    assert "this is another run" in other.err
    assert "--again starts over" in other.err
    assert cli("lab", "eval", "facts", facts, "-r", "bm25", "--depth", "7", "--again").code == 0


# --- run files ----------------------------------------------------------------------------------------------


def test_a_run_is_scored_again_with_the_labels_beside_it(cli: Run, runs: dict[str, str]) -> None:
    data = cli("lab", "eval", "score", runs["bm25"], "-m", "mrr", "--json").json
    assert data["runs"][0]["measures"]["mrr"]["micro"]["mean"] == 1.0


def test_a_run_elsewhere_is_scored_with_the_data_set(
    cli: Run, runs: dict[str, str], facts: str, home: Path
) -> None:
    alone = home / "alone.jsonl"
    alone.write_bytes(Path(runs["bm25"]).read_bytes())
    lost = cli("lab", "eval", "score", str(alone))
    assert lost.code == 2
    assert "its labels are not beside it" in lost.err
    assert cli("lab", "eval", "score", str(alone), "--dataset", "facts", facts).code == 0


def test_anybodys_run_is_scored_with_qrels(cli: Run, home: Path) -> None:
    (home / "their.run").write_text("q1 Q0 d1 1 2.0 x\nq1 Q0 d2 2 1.0 x\nq2 Q0 d1 1 1.0 x\n")
    (home / "judged.qrels").write_text("q1 0 d2 1\nq2 0 d1 1\n")
    scored = cli("lab", "eval", "score", "their.run", "--qrels", "judged.qrels", "-m", "mrr")
    assert scored.lines[1].startswith("their\t75.0")
    refused = cli("lab", "eval", "score", "their.run")
    assert refused.code == 2
    assert "a TREC run needs --qrels" in refused.err


def test_a_run_that_stopped_half_way_stands_beside_a_whole_one(cli: Run, home: Path) -> None:
    (home / "mine.jsonl").write_text(
        '{"document": {"id": "a", "text": "Anna likes tea."}}\n'
        '{"query": {"id": "q1", "text": "Who likes tea?", "kind": "who"}}\n'
        '{"query": {"id": "q2", "text": "What does Anna like?", "kind": "what"}}\n'
        '{"qrel": {"query": "q1", "document": "a"}}\n{"qrel": {"query": "q2", "document": "a"}}\n'
    )
    whole = Path(cli("lab", "eval", "jsonl", "mine.jsonl", "-r", "bm25", "--json").json["runs"][0]["file"])
    half = home / "half.jsonl"
    half.write_text("".join(whole.read_text("utf-8").splitlines(keepends=True)[:2]), "utf-8")
    item = read_run(whole).answers["q1"].ranking[0][0]
    (home / "judged.qrels").write_text(f"q1 0 {item} 1\nq2 0 {item} 1\n")
    # Neither knows the kinds of all questions by itself; together they do.
    for order in ((half, whole), (whole, half)):
        written = cli("lab", "eval", "report", *map(str, order), "--qrels", "judged.qrels", "-o", "pages")
        assert written.code == 0, written.err
        assert "what (1) | who (1)" in (home / "pages" / "report.md").read_text("utf-8")
        compared = cli("lab", "eval", "compare", *map(str, order), "--qrels", "judged.qrels", "-m", "mrr")
        assert compared.lines[0] == "measure\tquestions\tmean of kinds\twhat\twho"
    first = cli("lab", "eval", "jsonl", "mine.jsonl", "-r", "bm25", "--limit-questions", "2", "--json").json
    limited = Path(first["runs"][0]["file"])
    limited.write_text("".join(limited.read_text("utf-8").splitlines(keepends=True)[:2]), "utf-8")
    scored = cli("lab", "eval", "score", str(limited), "--dataset", "jsonl", "mine.jsonl", "--json").json
    assert scored["runs"][0]["counts"] | {"measured": 2, "missing": 1} == scored["runs"][0]["counts"]


def test_a_run_that_cannot_be_scored_is_named(cli: Run, facts: str, runs: dict[str, str]) -> None:
    refused = cli("lab", "eval", "facts", facts, "-r", "bm25", "--granularity", "session")
    assert (refused.code, refused.lines) == (2, [])
    report = cli("lab", "eval", "report", "runs")
    assert report.code == 2
    assert "session.words.bm25.jsonl: cannot be scored: questions must be at least one with" in report.err


def test_two_runs_are_compared(cli: Run, runs: dict[str, str]) -> None:
    shown = cli("lab", "eval", "compare", runs["vector"], runs["bm25"], "-m", "mrr")
    assert shown.code == 0
    assert shown.lines[0] == "measure\tquestions"
    assert shown.lines[1].startswith("mrr\t")
    assert "vector against bm25 on 4 questions" in shown.err
    data = cli("lab", "eval", "compare", runs["vector"], runs["bm25"], "--json").json
    assert data["baseline"]["recipe"]["name"] == "bm25"


def test_runs_on_other_data_are_not_compared(cli: Run, runs: dict[str, str], home: Path) -> None:
    (home / "other.tsv").write_text("Eve left.\tWho left?\n")
    cli("lab", "eval", "facts", "other.tsv", "-r", "bm25", "--runs", "other")
    (other,) = (home / "other").glob("*.bm25.jsonl")
    refused = cli("lab", "eval", "compare", runs["bm25"], str(other))
    assert refused.code == 2
    assert "sha256" in refused.err
    wrong = cli("lab", "eval", "score", str(other), "--dataset", "facts", "facts.tsv")
    assert wrong.code == 2
    assert "a run on other data" in wrong.err


def test_a_report_is_written(cli: Run, runs: dict[str, str], home: Path) -> None:
    done = cli("lab", "eval", "report", "runs", "-o", "pages")
    assert done.lines == [str(Path("pages/report.md")), str(Path("pages/report.html"))]
    assert "about 2 runs" in done.err
    assert "| bm25 |" in (home / "pages" / "report.md").read_text("utf-8")


# --- what people get wrong ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("facts", "missing.tsv"), "missing.tsv: no such file"),
        (("facts", "facts.tsv", "-r", "balancd"), "did you mean balanced?"),
        (("facts", "facts.tsv", "-m", "any"), "any"),
        (("facts", "facts.tsv", "-m", "best@5"), "best@5"),
        (("facts", "facts.tsv", "--granularity", "word"), "--granularity must be one of turn, session"),
        (("facts", "facts.tsv", "--turns", "user"), "turns must be an option of facts"),
        (("facts", "facts.tsv", "--option", "captions"), "--option must be name=value"),
        (("facts", "facts.tsv", "--option", "captions=no"), "one of facts's (it has none)"),
        (("locomo", "facts.tsv", "--option", "caption=no"), "did you mean captions?"),
        (("locomo", "facts.tsv", "--option", "captions=maybe"), "must be yes or no"),
        (("facts", "facts.tsv", "--set", "vectorweight=1"), "did you mean vector_weight?"),
        (("facts", "bad.tsv"), "bad.tsv, line 2"),
        (("locomo", "facts.tsv"), "facts.tsv"),
        (("score", "missing.jsonl"), "missing.jsonl: no such file"),
        (("score", "facts.tsv", "--dataset", "fact", "facts.tsv"), "not a run of Memorata"),
        (("score", "broken.jsonl"), "broken.jsonl, line 1"),
        (("score", "broken.jsonl", "--dataset", "fact", "facts.tsv"), "did you mean facts?"),
        (("score", "facts.tsv", "--turns", "user"), "given together with --dataset"),
        (("score", "facts.tsv", "--qrels", "bad.tsv"), "bad.tsv, line 1"),
        (("score", "facts.tsv", "--qrels", "x", "--dataset", "facts", "y"), "--qrels must be left out"),
        (("report", "."), "broken.jsonl, line 1"),
        (("report", "empty"), "a folder without run files"),
    ],
)
def test_mistakes_are_one_clear_line(
    cli: Run, facts: str, home: Path, arguments: tuple[str, ...], said: str
) -> None:
    (home / "bad.tsv").write_text("a\tb\nonly one column\n")
    (home / "broken.jsonl").write_text('{"question": 1}\n')
    (home / "empty").mkdir()
    wrong = cli("lab", "eval", *arguments)
    assert wrong.code == 2
    assert said in wrong.err
    assert len([line for line in wrong.err.splitlines() if line.startswith("memorata:")]) == 1
    assert not (home / "report").exists()


def test_an_unknown_format_is_a_usage_error(cli: Run) -> None:
    wrong = cli("lab", "eval", "locomoo", "x.json")
    assert wrong.code == 2
    assert "locomo" in wrong.err


def test_an_embedder_that_is_not_installed_is_said_before_anything_is_run(
    cli: Run, facts: str, home: Path
) -> None:
    wrong = cli("lab", "eval", "facts", facts, "--embedder", "arctic-embed-s")
    assert wrong.code == 4
    assert not list(home.glob("runs/*.jsonl"))


def test_words_alone_need_no_embedder(cli: Run, facts: str) -> None:
    assert cli("lab", "eval", "facts", facts, "-r", "bm25", "--embedder", "arctic-embed-s").code == 0


def test_no_names_are_all_recipes_and_the_usual_measures() -> None:
    without = [RECIPES[name] for name in RECIPES if name not in ("confident", "precise", "pinecone")]
    assert recipes_of([], []) == without
    assert [each.name for each in recipes_of([], [], reranker=True) if each.rerank_depth] == [
        "precise",
        "pinecone",
    ]
    assert measures_of(None) == list(MEASURES)


def test_names_are_taken_once_and_in_their_order() -> None:
    assert [recipe.name for recipe in recipes_of(["fast", "bm25", "fast"], [])] == ["fast", "bm25"]
    assert measures_of(["mrr", "any@3", "mrr"]) == ["mrr", "any@3"]


def test_a_changed_recipe_has_another_name() -> None:
    (changed,) = recipes_of(["balanced"], ["vector_weight=0.7", "k1=1.2"])
    assert (changed.name, changed.vector_weight, changed.k1) == (
        "balanced+vector_weight=0.7+k1=1.2",
        0.7,
        1.2,
    )


def test_options_of_a_format_have_their_types(home: Path) -> None:
    (home / "talks.json").write_text("[]")
    for said, meant in (("no", "False"), ("YES", "True")):
        assert (
            f"captions={meant}" in dataset_of("locomo", Path("talks.json"), None, [f"captions={said}"]).name
        )
    assert "turns=user" in dataset_of("longmemeval", Path("talks.json"), "user", []).name
    with pytest.raises(InvalidArgument, match="yes or no"):
        dataset_of("locomo", Path("talks.json"), None, ["captions=2"])


def test_folders_stand_for_the_runs_in_them(home: Path) -> None:
    for name in ("b.jsonl", "a.jsonl", "x.labels.jsonl", "a.machine.json"):
        (home / name).touch()
    assert run_files([home, home / "a.jsonl"]) == [home / "a.jsonl", home / "b.jsonl"]
    (home / "empty").mkdir()
    with pytest.raises(DatasetError, match="without run files"):
        run_files([home / "empty"])


def test_an_embedder_is_opened_only_for_recipes_that_need_one(home: Path) -> None:
    session = Session(GlobalOptions())
    with embedders(session, [RECIPES["bm25"]], home, None) as found:
        assert found == (None, None)
    with embedders(session, [RECIPES["vector"]], home, None) as (lexical, timed):
        assert lexical is timed
        assert lexical is not None
    cache = home / "folder" / "vectors.db"
    with embedders(session, [RECIPES["vector"]], home, cache) as (cached, timed):
        assert cached is not timed
        assert cached is not None
        assert timed is not None
        assert cached.name == timed.name
    assert cache.exists()


def test_no_reranker_is_opened_where_none_is_asked_for(home: Path) -> None:
    assert reranker_of(Session(GlobalOptions()), list(RECIPES.values())) is None


def test_in_a_log_progress_is_a_line_for_each_tenth(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_of(Output(), 2) as advance:
        for step in range(1, 201):
            advance(step / 100, "asking")
    assert capsys.readouterr().err.splitlines() == [f"{tenth} % done" for tenth in range(10, 101, 10)]
    with progress_of(Output(quiet=True), 1) as advance:
        advance(1.0, "asking")
    assert capsys.readouterr().err == ""
