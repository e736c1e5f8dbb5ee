"""The TypeScript client: its types are those of the server, and it answers for itself where node is."""

import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CLIENT = Path(__file__).parents[4] / "clients" / "typescript"


@pytest.mark.untraced
def test_the_types_are_those_of_the_openapi_document() -> None:
    generator = runpy.run_path(str(CLIENT / "generate.py"))
    written = generator["written"](generator["document"]())
    current = (CLIENT / "src" / "schema.ts").read_text("utf-8")
    assert current == written, "run python clients/typescript/generate.py"


def test_types_are_written_as_typescript_has_them() -> None:
    written = runpy.run_path(str(CLIENT / "generate.py"))["written"]
    tags = {"type": "array", "items": {"type": "string"}}
    optional = {"anyOf": [{"$ref": "#/components/schemas/B.c"}, {"type": "null"}]}
    described = {
        "components": {
            "schemas": {
                "A": {
                    "required": ["x"],
                    "properties": {"x": {"enum": ["a", "b"]}, "a-b": tags, "c": optional},
                },
                "B.c": {
                    "type": "object",
                    "additionalProperties": {"type": "integer"},
                    "description": "Ends */.",
                },
            }
        },
        "paths": {
            "/v1/{id}": {
                "get": {
                    "parameters": [
                        {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}},
                        {"name": "n", "in": "query", "schema": {"type": "integer"}},
                        {"name": "k", "in": "header", "schema": {"type": "string"}},
                    ],
                    "responses": {"200": {"content": {"application/json": {"schema": {"type": "boolean"}}}}},
                }
            }
        },
    }
    assert written(described).splitlines()[1:] == [
        "export type A = {",
        '  x: "a" | "b";',
        '  "a-b"?: Array<string>;',
        "  c?: B_c | null;",
        "};",
        "/** Ends * /. */",
        "export type B_c = Record<string, number>;",
        "/** By method and path, what an operation takes and what it answers. */",
        "export interface Operations {",
        '  "GET /v1/{id}": { path: {id: string;}; query: {n?: number;}; body: undefined; answer: boolean };',
        "}",
    ]


def test_its_own_tests_pass_against_a_real_server() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    if not (CLIENT / "node_modules").is_dir():
        pytest.skip("its packages are not installed: make test-typescript installs them")
    subprocess.run(["npm", "run", "--silent", "build"], cwd=CLIENT, check=True, timeout=300)
    command = f"{sys.executable} -m memorata"
    done = subprocess.run(
        ["npm", "--silent", "test"],
        cwd=CLIENT,
        env={**os.environ, "MEMORATA_COMMAND": command},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout
