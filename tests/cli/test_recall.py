"""Recall on the command line: the table, the tree, plain lines, JSON, and every mistake."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memorata.cli.options import parameter_names, recipe_names
from memorata.cli.recall import bar, explanation_tree, indented_line, signals
from memorata.embed import selection
from memorata.model.hit import Explanation

Run = Callable[..., Any]


def test_in_a_pipe_each_hit_is_a_line(cli: Run, tea: str) -> None:
    found = cli("recall", "what", "tea", "does", "Anna", "like")
    assert found.code == 0
    assert [line.split("\t")[1:] for line in found.lines] == [[tea, "Anna: Anna prefers green tea"]]
    assert "1 hit · recipe balanced · embedder lexical-512" in found.err


@pytest.mark.parametrize("asked", ["recall", "remember"])
def test_one_text_is_computed_on_one_thread(home: Path, tea: str, asked: str) -> None:
    program = f'''
import builtins, os, sys
real = builtins.__import__
def watched(name, *rest):
    if name == "numpy" and name not in sys.modules:
        print("threads", os.environ.get("OPENBLAS_NUM_THREADS"))
    return real(name, *rest)
builtins.__import__ = watched
from memorata.cli import main
sys.argv = ["memorata", "{asked}", "green tea"]
main()
'''
    alone = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    run = subprocess.run([sys.executable, "-c", program], cwd=home, env=alone, capture_output=True, text=True)
    assert run.stdout.splitlines()[0] == "threads 1", run.stderr


def test_at_a_terminal_it_is_a_table_with_bars(cli: Run, tea: str) -> None:
    shown = cli("recall", "Anna tea", terminal=True)
    assert "vector" in shown.out
    assert "████████" in shown.out
    assert "Anna · preference · " in shown.out
    assert f"#drinks · id {tea[-12:]}" in shown.out
    assert re.search(r" · recall [0-9a-f]{12} · ", shown.err)


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (("tea", "--limit", "0"), "--limit 0 shows none."),
        ((" ",), "The query is blank, so there is nothing to look for."),
    ],
)
def test_an_answer_that_must_be_empty_says_why(cli: Run, tea: str, asked: tuple[str, ...], why: str) -> None:
    found = cli("recall", *asked)
    assert (found.code, found.out) == (1, "")
    assert found.err.startswith(why)


def test_explain_draws_the_tree_down_to_the_words(cli: Run, tea: str) -> None:
    shown = cli("recall", "green tea", "--explain", terminal=True)
    assert "1. Anna prefers green tea" in shown.out
    assert "└── " in shown.out
    plain = cli("recall", "green tea", "--explain")
    assert plain.lines[0].endswith("Anna prefers green tea")
    assert any("green in content" in line for line in plain.lines)


def test_json_has_the_hits_with_signals_and_explanations_that_add_up(cli: Run, tea: str) -> None:
    data = cli("recall", "green tea", "--json", "-e").json
    assert [hit["id"] for hit in data["hits"]] == [tea]
    hit = data["hits"][0]
    assert hit["explanation"]["value"] == hit["score"]
    assert set(hit["signals"]) == {"vector", "lexical"}
    assert hit["memory"]["tags"] == ["drinks"]
    assert (data["recipe"], data["degraded"], data["agreement"]) == ("balanced", [], None)
    assert data["rejected"]["id"] != tea
    assert "explanation" not in cli("recall", "green tea", "--json").json["hits"][0]


def test_nothing_found_is_code_1_and_says_what_was_nearest(cli: Run, tea: str) -> None:
    nothing = cli("recall", "zebra crossing")
    assert (nothing.code, nothing.out) == (1, "")
    assert nothing.err.startswith("Nothing ")
    refused = cli("recall", "Bob zebra", "--set", "least_match=1", "--set", "least_similarity=1")
    assert refused.code == 1
    assert refused.err.startswith("Nothing is close enough. The nearest is “")


def test_refused_hits_are_shown_if_asked_for_and_marked(cli: Run, tea: str) -> None:
    asked = ("recall", "what tea does Anna like", "--min-confidence", "1")
    assert (cli(*asked).code, cli(*asked).out) == (1, "")
    line, *_ = cli(*asked, "--refused").lines
    assert line.startswith("refused\t")
    assert tea in line
    hit, *_ = json.loads(cli("--json", *asked).out)["refused"]
    assert (hit["id"], hit["refused"]) == (tea, True)


def test_a_namespace_nobody_has_is_said_to_be_empty(cli: Run, tea: str) -> None:
    nothing = cli("recall", "tea", "-n", "nobody")
    assert "Nothing has been remembered in the namespace nobody yet." in nothing.err


def test_recipes_and_parameters_can_be_chosen(cli: Run, tea: str) -> None:
    assert cli("recall", "tea", "--recipe", "bm25", "--json").json["recipe"] == "bm25"
    words = cli("recall", "tea", "--set", "vector_weight=0", "--json").json["hits"][0]
    assert words["signals"]["vector"] == 0
    assert words["signals"]["lexical"] > 0


def test_a_reranker_reads_the_best_candidates_again(
    cli: Run, tea: str, monkeypatch: pytest.MonkeyPatch
) -> None:

    class Backwards:
        name = "backwards"

        def score(self, query: str, texts: Any) -> Any:
            return np.arange(len(texts), dtype=np.float32)

    monkeypatch.setattr(selection, "open_reranker", lambda named, _: Backwards() if named == "mine" else None)
    plain = [line.split("\t")[1] for line in cli("recall", "Bob").lines]
    again = cli("recall", "Bob", "--reranker", "mine", "--set", "rerank_weight=1").lines
    assert len(plain) == 2
    assert [line.split("\t")[1] for line in again] == plain[::-1]
    assert [line.split("\t")[1] for line in cli("recall", "Bob", "--reranker", "none").lines] == plain


def test_a_reranker_that_cannot_be_used_is_code_4(cli: Run, tea: str) -> None:
    wrong = cli("recall", "Bob", "--reranker", "nonsense")
    assert (wrong.code, wrong.out) == (4, "")
    assert "there is no re-ranker 'nonsense'" in wrong.err


def test_limit_filter_budget_and_as_of(cli: Run, tea: str) -> None:
    assert len(cli("recall", "Bob", "--limit", "1").lines) == 1
    found = cli("recall", "Bob Anna", "--filter", '{"category": "preference"}', "--json").json
    assert [hit["id"] for hit in found["hits"]] == [tea]
    assert cli("recall", "Bob", "--as-of", "2001-01-01").code == 1
    small = cli("recall", "Bob", "--budget", "2")
    assert small.code == 1
    assert "The budget is too small for the first of 2 hits." in small.err
    assert "1 left out by the budget" in cli("recall", "Bob", "--budget", "7").err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--recipe", "balancd"), "(did you mean balanced?), got 'balancd'"),
        (
            ("--set", "vector_wieght=1"),
            "a parameter of the recipe (did you mean vector_weight?)",
        ),
        (("--set", "xyz=1"), "(memorata recipes NAME lists them), got 'xyz'"),
        (("--set", "vector_weight=3"), "--set vector_weight must be 0 to 1, got 3.0"),
        (("--set", "vector_weight=lots"), "--set vector_weight must be 0 to 1, got 'lots'"),
        (("--set", "vector_weight=nan"), "--set vector_weight must be 0 to 1, got nan"),
        (("--set", "vector_pool=1.5"), "--set vector_pool must be whole, 0 to 1000, got '1.5'"),
        (("--set", "deduplicate=perhaps"), "--set deduplicate must be yes or no, got 'perhaps'"),
        (("--set", "fusion=rff"), "(did you mean rrf?), got 'rff'"),
        (("--set", "vector_weight"), "--set must be name=value"),
        (("--filter", "{broken"), "--filter must be JSON"),
        (("--filter", "[1]"), "--filter must be a JSON object"),
        (("--filter", '{"confidence": {">=": "high"}}'), "filter.confidence.>= must be a finite number"),
        (("--limit", "-1"), "limit must be a whole number of at least 0, got -1"),
        (("--limit", "many"), "Invalid value for '--limit'"),
        (("--as-of", "yesterday"), "--as-of must be a time such as 2026-05-07"),
        (("--as-of", "2026-05-07T10:00"), "--as-of must be a time with its zone"),
        (("--budget", "-1"), "budget must be a whole number of at least 0, got -1"),
    ],
)
def test_mistakes_are_explained(cli: Run, tea: str, arguments: tuple[str, ...], words: str) -> None:
    wrong = cli("recall", "tea", *arguments)
    assert (wrong.code, wrong.out) == (2, "")
    assert words in wrong.err


@pytest.mark.parametrize("question", ["", " ", "🍵", "the of and", "\u202eabc", "x" * 10_000, '"', "-- -"])
def test_any_question_gets_an_answer(cli: Run, tea: str, question: str) -> None:
    assert cli("recall", "--", question).code in (0, 1)


def test_a_question_that_asks_nothing_is_told_so(cli: Run, tea: str) -> None:
    shown = cli("recall", "the", "of", "and")
    assert "names nothing and asks for nothing" in shown.out + shown.err


@pytest.mark.parametrize("asked", ["-coffee", '-"green tea" -coffee'])
def test_a_question_that_only_excludes_is_told_so(cli: Run, asked: str) -> None:
    cli("remember", "green tea")
    shown = cli("recall", "--", asked)
    assert shown.code == 1
    assert "says only what must not occur" in shown.out + shown.err


def test_a_memory_cannot_move_the_cursor_of_its_reader(cli: Run) -> None:
    cli("remember", "--", "tea \x1b[2J and\rsugar [bold]x[/bold]")
    for terminal in (False, True):
        shown = cli("recall", "tea", terminal=terminal)
        assert "\x1b[2J" not in shown.out
        assert r"\x1b[2J and" in shown.out
        assert "[bold]x[/bold]" in shown.out


def test_the_question_may_come_from_a_pipe(cli: Run, tea: str) -> None:
    assert cli("recall", "-", input="green tea\n").lines[0].endswith("Anna prefers green tea")


def test_a_bar_is_as_long_as_its_share() -> None:
    assert bar(0.5, 0.5) == "████████"
    assert bar(0.25, 0.5) == "████"
    assert bar(1e-9, 0.5) == "▏"
    assert (bar(0, 0.5), bar(-1, 0.5), bar(0, 0)) == ("", "", "")


def test_signals_are_read_from_the_explanation() -> None:
    parts = [Explanation.leaf("vector", 0.25), Explanation.leaf("lexical", 0.5)]
    relevance = Explanation.of("sum", "relevance", parts)
    why = Explanation.of("product", "score", [relevance, Explanation.leaf("weight", 2)])
    assert signals(why) == {"vector": 0.25, "lexical": 0.5}
    assert signals(Explanation.leaf("score", 1.0)) == {"vector": 0.0, "lexical": 0.0}
    assert len(explanation_tree(why).children) == 2


def test_the_shell_completes_recipes_and_parameters() -> None:
    assert recipe_names("bal") == ["balanced"]
    assert "vector_weight=" in parameter_names("vector_")


def test_sessions_are_shown_with_their_memories(cli: Run, tea: str) -> None:
    for session, text in (
        ("monday", "green tea with Carl"),
        ("monday", "tea again"),
        ("friday", "tea at last"),
    ):
        cli("remember", text, "--session", session)
    found = cli("recall", "green tea", "--sessions", "--limit", "2")
    rows = [line.split("\t") for line in found.lines]
    assert rows[0][0] == "monday"
    assert {row[0] for row in rows} == {"monday", ""}
    assert [row[3] for row in rows if row[0] == ""] == ["Anna: Anna prefers green tea"]
    assert f"2 sessions, {len(rows)} hits" in found.err
    data = cli("recall", "green tea", "--sessions", "--limit", "2", "--json").json
    assert [each["session"] for each in data["sessions"]] == ["monday", ""]
    assert [id_ for each in data["sessions"] for id_ in each["hits"]] == [row[2] for row in rows]
    shown = cli("recall", "green tea", "--sessions", "--limit", "2", terminal=True).out
    assert shown.index("monday") < shown.index("green tea with Carl")
    assert shown.index("no session") < shown.index("Anna prefers green tea")


def test_a_period_brings_what_happened_then_to_the_front(cli: Run) -> None:
    for day in ("2026-04-30", "2026-05-31", "2026-06-01"):
        cli("remember", f"tea with Anna {day[5:7]}", "--valid-from", f"{day}T18:00Z", "--id", f"on-{day}")

    def first(period: str) -> str:
        about = ("--period", period, "--set", "temporal=additive")
        return str(cli("recall", "tea with Anna", *about, "--json").json["hits"][0]["id"])

    assert first("2026-05-01..2026-05-31") == "on-2026-05-31"
    assert first("2026-06-01") == "on-2026-06-01"
    assert first("2026-04-01T00:00Z .. 2026-04-30T19:00Z") == "on-2026-04-30"


def test_since_and_until_leave_out_the_rest_and_a_day_at_the_end_counts_whole(cli: Run) -> None:
    for day in ("2026-04-30", "2026-05-31", "2026-06-01"):
        cli("remember", f"tea with Anna {day[5:7]}", "--valid-from", f"{day}T18:00Z", "--id", f"on-{day}")

    def shown(*bounds: str) -> list[str]:
        return sorted(hit["id"] for hit in cli("recall", "tea with Anna", *bounds, "--json").json["hits"])

    assert shown("--since", "2026-05-31") == ["on-2026-05-31", "on-2026-06-01"]
    assert shown("--until", "2026-05-31") == ["on-2026-04-30", "on-2026-05-31"]
    assert shown("--since", "2026-05-01", "--until", "2026-05-31T12:00Z") == []


def test_a_conversation_tells_whom_a_pronoun_means(cli: Run, tmp_path: Path) -> None:
    cli("remember", "Anna likes green tea", "--id", "anna")
    cli("remember", "Ben likes black coffee", "--id", "ben")
    talk = tmp_path / "talk.txt"
    talk.write_text("Hello!\n\nI met Ben today.\n", "utf-8")
    asked = cli("recall", "What does he like?", "--history", str(talk), "--json").json
    assert (asked["hits"][0]["id"], asked["meant"]) == ("ben", ["Ben"])
    assert "asked about Ben" in cli("recall", "What does he like?", "--history", str(talk)).err
    assert cli("recall", "tea", "--history", str(tmp_path / "none.txt")).code == 2


def test_the_time_that_a_query_names_is_told(cli: Run) -> None:
    cli("remember", "tea with Anna", "--valid-from", "2026-05-07T18:00Z")
    asked = cli("recall", "tea with Anna in May 2026", "--json").json["period"]
    assert (asked["phrase"], asked["restricts"]) == ("May 2026", True)
    shown = cli("recall", "tea with Anna in May 2026")
    assert "Time: kept to “May 2026” (2026-05-01 to 2026-05-31)." in shown.err


@pytest.mark.parametrize(
    "period", ["yesterday", "2026-05-02..2026-05-01", "..", "2026-05-01..", "2026-13-01"]
)
def test_a_period_that_is_none_is_refused(cli: Run, tea: str, period: str) -> None:
    refused = cli("recall", "tea", "--period", period)
    assert refused.code == 2
    assert "--period must be" in refused.err


def test_what_held_at_a_time_and_what_was_near(cli: Run, tmp_path: Path) -> None:
    lines = [
        {
            "content": "Anna lives in Porto.",
            "valid_from": "2015-01-01T00:00:00Z",
            "valid_to": "2020-01-01T00:00:00Z",
        },
        {"content": "Anna lives in Oslo.", "valid_from": "2020-01-01T00:00:00Z"},
        {"content": "Lunch at the fjord.", "place": {"lat": 59.91, "lon": 10.75}},
        {"content": "Lunch by the river.", "place": {"lat": 41.15, "lon": -8.61}},
    ]
    file = tmp_path / "said.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    assert cli("import", str(file)).code == 0
    assert "Porto" in cli("recall", "Where does Anna live?", "--true-at", "2018-05-01", "-l", "1").out
    assert "Oslo" in cli("recall", "Where does Anna live?", "--true-at", "2024-05-01", "-l", "1").out
    assert "fjord" in cli("recall", "lunch", "--near", "59.9,10.7", "-l", "1").out
    assert "river" in cli("recall", "lunch", "--near", "41.1,-8.6", "-l", "1").out


@pytest.mark.parametrize("where", ["north", "59.9", "91,0", "0,181"])
def test_a_place_that_is_none_is_refused(cli: Run, tea: str, where: str) -> None:
    refused = cli("recall", "tea", "--near", where)
    assert refused.code == 2


def test_agreement_can_be_required(cli: Run, tea: str) -> None:
    found = cli("recall", "green tea", "--agreement", "0.1", "--json").json
    assert found["hits"][0]["id"] == tea
    assert found["agreement"]["samples"] == ["as asked", "vector leg alone", "lexical leg alone"]
    assert "the results agree to" in cli("recall", "green tea", "--agreement", "0").err
    refused = cli("recall", "Bob tea", "--agreement", "1")
    assert (refused.code, refused.out) == (1, "")
    assert "below 1.00" in refused.err
    wrong = cli("recall", "tea", "--agreement", "2")
    assert (wrong.code, "--agreement must be a number from 0 to 1, got 2.0" in wrong.err) == (2, True)


def test_bars_and_lines_of_the_explanation() -> None:
    assert (bar(1, 2), bar(0.3, 2, width=4), bar(-1, 2)) == ("████", "▋", "")
    assert indented_line("    0.5 words") == "    0.5 words"


def test_in_a_pipe_a_hit_names_its_speaker(cli: Run, tea: str) -> None:
    assert cli("recall", "green tea").out.split("\t")[1:] == [tea, "Anna: Anna prefers green tea\n"]
    assert cli("list").lines[-1].endswith("\tAnna: Anna prefers green tea")


def test_a_briefing_in_lines_and_as_json(cli: Run) -> None:
    cli("remember", "It rained in Porto.", "--namespace", "bob")
    assert "Nothing stands here" in cli("briefing").err
    cli("remember", "From now on, answer in German.")
    shown = cli("briefing")
    assert shown.lines[0].startswith("- [instruction] From now on, answer in German. (")
    assert cli("briefing", "--json").json["items"][0]["section"] == "instruction"
    assert "1 memory left out by the budget" in cli("briefing", "--budget", "3").err
