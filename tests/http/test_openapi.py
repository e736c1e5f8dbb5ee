"""What the interface says of itself, put to the test by schemathesis: whatever is sent, no 5xx comes back."""

import os
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import content_type_conformance, response_schema_conformance

import memorata
from memorata.engine.access import ApiKeys
from memorata.http.app import create_api

_memory = memorata.open(":memory:", embedder="lexical")
_api = create_api(_memory, ApiKeys(_memory.store, required=False))
schema = schemathesis.openapi.from_asgi("/v1/openapi.json", _api)


@schemathesis.serializer("application/x-ndjson")
def json_lines(context: schemathesis.SerializationContext, value: Any) -> bytes:
    return str(value).encode(errors="surrogatepass")


@pytest.fixture(scope="module", autouse=True)
def _closed() -> Iterator[None]:
    _memory.remember("Anna likes tea", id="m1", entities=["Anna"])
    yield
    _memory.close()


@pytest.mark.untraced
@schema.exclude(path_regex=r"/events$").parametrize()
@settings(
    max_examples=100 if os.environ.get("MEMORATA_ATTACK") else 4,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_whatever_is_sent_no_server_error_comes_back(case: schemathesis.Case[Any]) -> None:
    with warnings.catch_warnings():
        # The client that schemathesis asks with warns of itself.
        warnings.simplefilter("ignore")
        answer = case.call(headers={"Host": "localhost"})
    case.validate_response(
        answer, checks=[not_a_server_error, content_type_conformance, response_schema_conformance]
    )


def test_an_idempotency_key_is_described_only_where_it_is_kept() -> None:
    named = {
        f"{method} {path}"
        for path, methods in _api.openapi()["paths"].items()
        for method, said in methods.items()
        for parameter in said.get("parameters", ())
        if parameter["name"] == "Idempotency-Key"
    }
    assert {"post /v1/memories", "post /v1/memories/purge", "post /v1/feedback"} <= named
    # A job begins anew, an import leaves what is known as it is, and a recall is a recall.
    assert not [each for each in named if "/jobs/" in each or each.endswith(("/import", "/recall"))]
