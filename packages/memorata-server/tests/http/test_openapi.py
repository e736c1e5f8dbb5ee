"""What the interface says of itself, put to the test: whatever is sent, no 5xx comes back.

schemathesis draws what is described. What is not, it makes too, and takes four times as long for it as for
sending it: `make attack` asks for that. Here every part of every body and every parameter is replaced by
values of other types and beyond limits, the rest being as described.
"""

import os
import warnings
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
import schemathesis
from fastapi import FastAPI
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import content_type_conformance, response_schema_conformance

import memorata
from memorata.engine.access import ApiKeys
from memorata_server.http.app import create_api
from memorata_server.testing import TestClient

# Cases are made when the test runs, in one process: made at collection, every worker would make them.
schema = schemathesis.pytest.from_fixture("described")
ATTACK = bool(os.environ.get("MEMORATA_ATTACK"))
WRONG_VALUES: tuple[Any, ...] = (None, True, -(10**30), 1.5, "\0", "x" * 70_000, [[]], {"a": {}})
"""Values of every type; few places take more than one of them."""
WRONG_TEXTS = ("", "x", "-1", "9" * 40, "1e400", "null", "\0", "\ud800", "x" * 300)
"""The same for a parameter, which is a text."""
MOST_LEVELS = 4
"""How deep wrong values are put into a body: filters may be nested without end."""


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
    schema = schemathesis.openapi.from_asgi("/v1/openapi.json", api)
    if not ATTACK:  # `test_a_wrong_value_in_any_place_is_refused_as_a_problem` does the rest
        schema.config.phases.coverage.generation.modes = [schemathesis.GenerationMode.POSITIVE]
    return schema


@pytest.mark.long
@schema.exclude(path_regex=r"/events$").parametrize()
@settings(
    max_examples=100 if ATTACK else settings().max_examples // 10,
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


class BodySchemas:
    """Bodies by the schemas of a description: good ones, and those with one wrong value."""

    def __init__(self, description: dict[str, Any]) -> None:
        self.description = description

    def named(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Return the schema that a reference names."""
        while "$ref" in schema:
            schema = self.description["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        return schema

    def good(self, schema: dict[str, Any]) -> Any:
        """Return a small value that the schema describes."""
        schema = self.named(schema)
        if "anyOf" in schema:
            return self.good(schema["anyOf"][0])
        if "enum" in schema:
            return schema["enum"][0]
        match schema.get("type"):
            case "object":
                return {name: self.good(schema["properties"][name]) for name in schema.get("required", ())}
            case "array":
                return [self.good(schema["items"])] * schema.get("minItems", 0)
            case "integer" | "number":
                return schema.get("minimum", 1)
            case "boolean":
                return False
            case _:
                return "2026-01-01T00:00:00Z" if schema.get("format") == "date-time" else "m1"

    def wrong(self, schema: dict[str, Any], levels: int = MOST_LEVELS) -> Iterator[Any]:
        """Yield good values with one part replaced, and with one part more or less."""
        yield from WRONG_VALUES
        if not levels:
            return
        schema = self.named(schema)
        for each in schema.get("anyOf", ()):
            if self.named(each).get("type") in ("object", "array"):
                yield from list(self.wrong(each, levels - 1))[len(WRONG_VALUES) :]
        if schema.get("type") == "array":
            yield from ([value] for value in self.wrong(schema["items"], levels - 1))
        if schema.get("type") == "object":
            good = self.good(schema)
            yield {**good, "nobody knows": 1}
            for name, part in schema.get("properties", {}).items():
                yield from ({**good, name: value} for value in self.wrong(part, levels - 1))
                yield {other: value for other, value in good.items() if other != name}


def requests(description: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield method, path and options of requests with one wrong value each, for every operation."""
    schemas = BodySchemas(description)
    operations = (
        (path, method, operation)
        for path, methods in description["paths"].items()
        for method, operation in methods.items()
        if not path.endswith("/events")
    )
    for path, method, operation in operations:
        parameters = operation.get("parameters", ())
        good = {each["name"]: schemas.good(each["schema"]) for each in parameters if each["required"]}
        body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
        options: dict[str, Any] = {} if body is None else {"json": schemas.good(body)}
        places = [name for name in good if f"{{{name}}}" in path]
        in_query = {name: value for name, value in good.items() if name not in places}
        address = path.format(**good)
        for each in parameters:
            for text in WRONG_TEXTS:
                if each["in"] == "path":
                    replaced = {**good, each["name"]: quote(text, safe="", errors="surrogatepass")}
                    yield method, path.format(**replaced), {"params": in_query, **options}
                elif each["in"] == "query":
                    query = {**in_query, each["name"]: text.encode(errors="surrogatepass")}
                    yield method, address, {"params": query, **options}
        if body is not None:
            yield from (
                (method, address, {"params": in_query, "json": value}) for value in schemas.wrong(body)
            )


@pytest.mark.untraced
def test_a_wrong_value_in_any_place_is_refused_as_a_problem(api: FastAPI) -> None:
    wrong, refused = [], 0
    with TestClient(api, base_url="http://localhost", raise_server_exceptions=False) as client:
        for method, path, options in requests(api.openapi()):
            answer = client.request(method, path, **options)
            problem = answer.headers.get("content-type") == "application/problem+json"
            refused += problem
            # A place may take the value after all: many take null, and texts take most texts.
            if answer.status_code >= 500 or (answer.status_code >= 400 and not problem):
                wrong.append((method, path, options, answer.status_code, answer.text[:200]))
    assert not wrong
    assert refused > 1000


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
