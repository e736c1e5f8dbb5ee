"""The reference at /docs: all of the interface, nothing from elsewhere."""

import re

from memorata_server.http.status import reference_page
from memorata_server.testing import TestClient


def test_every_route_parameter_and_schema_is_on_the_page(client: TestClient) -> None:
    answer = client.get("/docs")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    document = client.get("/v1/openapi.json").json()
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            assert f"{method.upper()}</code> <code>{path}</code>" in answer.text
            for parameter in operation.get("parameters", ()):
                assert f"<td>{parameter['name']}</td>" in answer.text
    names = set(re.findall(r'href="#(\w+)"', answer.text))
    assert names
    assert names <= set(re.findall(r'<details id="(\w+)"', answer.text))


def test_nothing_is_loaded_from_elsewhere_and_nothing_runs(client: TestClient) -> None:
    answer = client.get("/docs")
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "<script" not in answer.text
    assert not re.findall(r"(?:src|href)=['\"]?(?:https?:)?//", answer.text)


def test_what_a_description_says_is_text() -> None:
    described = {"description": "<script>", "parameters": [{"name": "<b>", "in": "query", "schema": {}}]}
    page = reference_page({"info": {"title": "<i>", "version": "1"}, "paths": {"/<x>": {"get": described}}})
    assert "<script>" not in page
    assert "<b>" not in page
    assert "<h1>&lt;i&gt; 1</h1>" in page
