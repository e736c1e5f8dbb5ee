import pytest

from memorata.embed.circuit_breaker import CircuitBreaker
from memorata.embed.lexical import LexicalEmbedder
from memorata.engine.embedding import EmbedderRetry, OpenedEmbedder
from memorata.engine.settings import Settings
from memorata.model.errors import InvalidArgument, ModelNotInstalled, StoreUnavailable


def test_what_cannot_be_taken_up_is_no_failure_of_the_recall() -> None:
    def read_only() -> OpenedEmbedder:
        raise StoreUnavailable("it is only read")

    absent = EmbedderRetry(read_only, "the service is away")
    assert absent.look() is None
    assert absent.why.startswith("the service is away (it is not asked again for")
    assert absent.look(at_once=True) is None
    assert absent.why == "it is only read"


def test_one_that_is_back_is_returned() -> None:
    found = OpenedEmbedder(LexicalEmbedder(), "lexical", ("all is well",))
    tries = [found]

    def find() -> OpenedEmbedder:
        if not tries:
            raise ModelNotInstalled("it went away")
        return tries.pop()

    absent = EmbedderRetry(find, "away", CircuitBreaker(first_pause=0.0))
    assert absent.look() is found
    assert absent.look() is None
    assert absent.why == "it went away"


def test_how_long_a_question_waits_is_a_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Settings(embedder="lexical").resources.query_seconds == 5.0
    monkeypatch.setenv("MEMORATA_QUERY_SECONDS", "1.5")
    assert Settings(embedder="lexical").resources.query_seconds == 1.5
    for wrong in ("0", "-1", "nan", "601", "soon"):
        monkeypatch.setenv("MEMORATA_QUERY_SECONDS", wrong)
        with pytest.raises(InvalidArgument, match="a number above 0, and at most 600"):
            Settings(embedder="lexical")
