"""Write src/schema.ts: the types of our HTTP interface, from its OpenAPI document.

    python clients/typescript/generate.py

Every schema becomes a type of its name, and every operation an entry of `Operations`: by method and path,
what its address, its query and its body take, and what it answers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import memorata
from memorata.engine.access import ApiKeys
from memorata_server.http.app import create_api

TARGET: Final = Path(__file__).parent / "src" / "schema.ts"
_HEAD: Final = "// Written by generate.py from the OpenAPI document of the server. Do not edit.\n"
_PLAIN: Final = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean"}
_NAME: Final = re.compile(r"[A-Za-z_$][\w$]*")


def document() -> Mapping[str, Any]:
    """Return the OpenAPI document of a server."""
    with memorata.open(":memory:", embedder=None) as engine:
        described: Mapping[str, Any] = create_api(engine, ApiKeys(engine.store)).openapi()
    return described


def written(described: Mapping[str, Any]) -> str:
    """Return the types of an OpenAPI document as TypeScript."""
    parts = [_HEAD]
    for name, schema in sorted(described["components"]["schemas"].items()):
        parts.append(
            f"{_comment(schema.get('description'), '')}export type {_type_name(name)} = {_type(schema)};\n"
        )
    parts.append("/** By method and path, what an operation takes and what it answers. */\n")
    parts.append("export interface Operations {\n")
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            parts.append(_comment(operation.get("description"), "  "))
            parts.append(f'  "{method.upper()} {path}": {_operation(operation)};\n')
    return "".join([*parts, "}\n"])


def _operation(operation: Mapping[str, Any]) -> str:
    by_place: dict[str, list[str]] = {"path": [], "query": []}
    for parameter in operation.get("parameters", ()):
        if parameter["in"] in by_place:
            by_place[parameter["in"]].append(
                _field(parameter["name"], parameter["schema"], required=parameter.get("required", False))
            )
    body = operation.get("requestBody", {}).get("content", {})
    answer = next((said for status, said in operation["responses"].items() if status.startswith("2")), {})
    contents = answer.get("content", {})
    return (
        f"{{ path: {{{' '.join(by_place['path'])}}}; query: {{{' '.join(by_place['query'])}}}; "
        f"body: {_content(body, 'undefined')}; answer: {_content(contents, 'string')} }}"
    )


def _content(contents: Mapping[str, Any], otherwise: str) -> str:
    if "application/json" in contents:
        return _type(contents["application/json"].get("schema", {}))
    return "string" if contents else otherwise


def _type(schema: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        return _type_name(schema["$ref"].rpartition("/")[2])
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema["enum"])
    if choices := schema.get("anyOf") or schema.get("oneOf"):
        return " | ".join(dict.fromkeys(_type(choice) for choice in choices))
    kind = schema.get("type")
    if kind == "array":
        return f"Array<{_type(schema.get('items', {}))}>"
    if kind == "object" or "properties" in schema:
        return _object(schema)
    if kind == "null":
        return "null"
    return _PLAIN.get(str(kind), "unknown")


def _object(schema: Mapping[str, Any]) -> str:
    properties = schema.get("properties")
    if not properties:
        values = schema.get("additionalProperties", {})
        return f"Record<string, {_type(values) if isinstance(values, Mapping) and values else 'unknown'}>"
    needed = frozenset(schema.get("required", ()))
    fields = [
        f"{_comment(field.get('description'), '  ')}  {_field(name, field, required=name in needed)}"
        for name, field in properties.items()
    ]
    return "{\n" + "\n".join(fields) + "\n}"


def _field(name: str, schema: Mapping[str, Any], *, required: bool) -> str:
    shown = name if _NAME.fullmatch(name) else json.dumps(name)
    return f"{shown}{'' if required else '?'}: {_type(schema)};"


def _type_name(name: str) -> str:
    return re.sub(r"\W", "_", name)


def _comment(text: str | None, indent: str) -> str:
    words = " ".join((text or "").split()).replace("*/", "* /")
    return f"{indent}/** {words} */\n" if words else ""


if __name__ == "__main__":
    TARGET.write_text(written(document()), "utf-8")
