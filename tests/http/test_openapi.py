"""What the interface says of itself, put to the test by schemathesis: whatever is sent, no 5xx comes back."""

import os
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from fastapi import FastAPI
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import content_type_conformance, response_schema_conformance

import memorata
from memorata.engine.access import ApiKeys
from memorata.http.app import create_api

# Cases are made when the test runs, in one process: made at collection, every worker would make them.
schema = schemathesis.pytest.from_fixture("described")


@schemathesis.serializer("application/x-ndjson")
def json_lines(context: schemathesis.SerializationContext, value: Any) -> bytes:
    return str(value).encode(errors="surrogatepass")


@pytest.fixture(scope="module")
def api() -> Iterator[FastAPI]:
    with memorata.open(":memory:", embedder="lexical") as memory:
        memory.remember("Anna likes tea", id="m1", entities=["Anna"])
        yield create_api(memory, ApiKeys(memory.store, required=False))


@pytest.fixture
def described(api: FastAPI, request: pytest.FixtureRequest) -> schemathesis.BaseSchema:
    # schemathesis 4.32 writes the operation under way into this, which pytest 9.2 has under another name.
    request.node._nodeid = request.node.nodeid
    return schemathesis.openapi.from_asgi("/v1/openapi.json", api)


@pytest.mark.long
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


@pytest.mark.untraced
def test_an_idempotency_key_is_described_only_where_it_is_kept(api: FastAPI) -> None:
    named = {
        f"{method} {path}"
        for path, methods in api.openapi()["paths"].items()
        for method, said in methods.items()
        for parameter in said.get("parameters", ())
        if parameter["name"] == "Idempotency-Key"
    }
    assert {"post /v1/memories", "post /v1/memories/purge", "post /v1/feedback"} <= named
    # A job begins anew, an import leaves what is known as it is, and a recall is a recall.
    assert not [each for each in named if "/jobs/" in each or each.endswith(("/import", "/recall"))]
