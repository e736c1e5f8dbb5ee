"""Words are listed as they are, whatever stands in them, and taken out of the lists again."""

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from memorata.index.lexical import LexicalQuery
from memorata.model.memory import Memory
from memorata.store.conformance import HERE, NOW
from memorata.store.port import Entry
from memorata.store.postgres.store import PostgresStore
from memorata.store.postgres.words import key_of

TERMS = st.text(st.sampled_from("\\\t\n\r\x00\x01N.é'\"%") | st.characters(codec="utf-8"), min_size=1)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(TERMS, st.integers(1, 3), min_size=1, max_size=8))
@example({"\\N": 1, "\\.": 2, "\\": 1, "a\\tb": 1, "a\tb": 1, "x" * 40_000: 1, "\x00": 1})
def test_any_term_is_listed_and_unlisted(store: PostgresStore, terms: dict[str, int]) -> None:
    store.add([Entry(Memory(id="a", content="x", namespace=HERE, created_at=NOW), {"content": terms})])
    with store.view(HERE, NOW) as view:
        assert view.document_frequencies(list(terms)) == (1, dict.fromkeys(terms, 1))
        found = view.lexical(LexicalQuery(dict.fromkeys(terms, 1.0), {"content": 1.0}), 5)
        assert found.detail is not None
        assert found.detail(found.slots).names == tuple(f"{term} in content" for term in terms)
    assert store.check(lambda memory: {"content": terms}) == []
    store.purge(HERE, ["a"])
    with store._database.reading() as connection:
        assert connection.execute("SELECT count(*) FROM postings").fetchone() == (0,)


def test_long_terms_are_told_apart() -> None:
    assert key_of("x" * 499) == "x" * 499
    assert key_of("x" * 1_000) != key_of("x" * 1_001)
    assert len(key_of("x" * 100_000)) < 100
