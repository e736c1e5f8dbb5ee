import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.text.entities import machine_names


def found(text: str) -> list[tuple[str, str]]:
    return [(text[start:end], kind) for start, end, kind in machine_names(text)]


@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        ("see https://a.example/b?c=1#d, ok", "https://a.example/b?c=1#d", "url"),
        ("(https://en.wikipedia.org/wiki/Go_(game))", "https://en.wikipedia.org/wiki/Go_(game)", "url"),
        ("www.example.org.", "www.example.org", "url"),
        ("mail a.b+c@mail.example.org!", "a.b+c@mail.example.org", "email"),
        ("at 10.0.0.7.", "10.0.0.7", "ip"),
        ("net 10.0.0.0/8 is ours", "10.0.0.0/8", "ip"),
        ("from 2001:db8::8a2e:370:7334 on", "2001:db8::8a2e:370:7334", "ip"),
        ("open ~/notes/todo.md now", "~/notes/todo.md", "path"),
        ("edit ../src/main.rs:", "../src/main.rs", "path"),
        ("in /etc.", "/etc", "path"),
        ("read C:\\temp\\a.txt", "C:\\temp\\a.txt", "path"),
        ("the README.md file", "README.md", "path"),
        ("api.example.com is down", "api.example.com", "host"),
        ("on db-01.prod.internal:5432", "db-01.prod.internal:5432", "host"),
        ("www.comune.roma.it", "www.comune.roma.it", "url"),
        ("use localhost:80", "localhost:80", "host"),
        ("ask @dana.k!", "@dana.k", "handle"),
        ("so #fun-times!", "#fun-times", "tag"),
        ("das ist #schön", "#schön", "tag"),
        ("call open_all() twice", "open_all()", "code"),
        ("call numpy.linalg.norm here", "numpy.linalg.norm", "code"),
        ("std::vector grows", "std::vector", "code"),
        ("set MAX_RETRIES", "MAX_RETRIES", "code"),
        ("the maxRetries field", "maxRetries", "code"),
        ("pass --dry-run", "--dry-run", "code"),
        ("run `ls` first", "ls", "code"),
        ("UAV-001 flew", "UAV-001", "id"),
        ("ticket ABC-12-X9 is open", "ABC-12-X9", "id"),
        ("node-07 fell", "node-07", "id"),
        ("commit 4f9c2ab broke it", "4f9c2ab", "id"),
        ("key 123e4567-e89b-12d3-a456-426614174000", "123e4567-e89b-12d3-a456-426614174000", "id"),
    ],
)
def test_each_kind_in_a_sentence(text: str, name: str, kind: str) -> None:
    assert found(text) == [(name, kind)]


@pytest.mark.parametrize(
    "text",
    [
        "I waited.then left",
        "e.g. this, i.e. that",
        "24/7 and/or 3/4",
        "at 10:30:15 or 9:05",
        "version 1.2.3.4 and v1.2.3.4",
        "costs 1.234.567 or 3.14",
        "999.999.999.999",
        "#1 and #ff8800 and C#",
        "well-known, top-10, 2020-2021",
        "5 < 6 -- really",
        "a / b",
        "McDonald and YouTube",
        "1000000 and 12345678",
        "snake case_ and _",
        "so.it goes",
        ":: and ://",
    ],
)
def test_what_only_looks_like_one(text: str) -> None:
    assert found(text) == []


@given(st.text(alphabet="aB1._-/@#:()` \\é\n", max_size=60) | st.text(max_size=60))
def test_spans_are_in_order_apart_and_not_empty(text: str) -> None:
    end = 0
    for start, stop, _ in machine_names(text):
        assert end <= start < stop <= len(text)
        end = stop


@pytest.mark.parametrize(
    "piece", ["a", "1", "a.", "a/", "A-1", "_", "a_", ":", "0:", "@", "#", "aA", "(", "https://a)", "a@a."]
)
def test_a_long_run_is_read_in_one_go(piece: str) -> None:
    # Time that grows with the square would be minutes here, not moments.
    list(machine_names(piece * 40_000))
