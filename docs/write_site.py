"""Stage the pages of the documentation site: the tested Markdown, and references written from declarations.

``python docs/write_site.py FOLDER`` writes the pages into a folder, ``make site`` builds them with Zensical,
and ``--check SITE`` checks every link of what was built.
"""

import re
import shutil
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).parents[1]
OUTSIDE = ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "benchmarks/RESULTS.md")
"""Pages of the site that stand elsewhere in the repository."""
LINK = re.compile(r"(!?\[[^\]]*\]\()([^)\s]+)(\))")
FACETS = ("duplicates", "lifecycle", "recipes", "feedback", "transfer", "namespaces", "idempotency")
"""What `memory.admin` brings along with its own verbs."""
METHODS = ("get", "post", "put", "patch", "delete")


def stage(folder: Path) -> None:
    """Write every page into an empty folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for page in [*(ROOT / "docs").glob("*.md"), *(ROOT / name for name in OUTSIDE)]:
        (folder / page.name).write_text(relinked(page), encoding="utf-8")
    (folder / "index.md").write_text(relinked(ROOT / "README.md"), encoding="utf-8")
    shutil.copytree(ROOT / "docs" / "images", folder / "images")
    for file in [*(ROOT / "docs").glob("*.svg"), ROOT / "llms.txt"]:
        shutil.copy(file, folder)
    for name, text in (("python", python_reference()), ("http", http_reference()), ("mcp", mcp_reference())):
        (folder / f"reference-{name}.md").write_text(text, encoding="utf-8")


def relinked(page: Path) -> str:
    """Return a page with links that hold on the site; of what is not on it, the name in the repository."""

    def moved(match: re.Match[str]) -> str:
        before, target, after = match.groups()
        address = urlsplit(target)
        if address.scheme or not address.path:
            return match[0]
        file = (page.parent / address.path).resolve()
        name = file.relative_to(ROOT).as_posix()
        fragment = f"#{address.fragment}" if address.fragment else ""
        if name.startswith("docs/") and file.suffix != ".py":
            return f"{before}{name.removeprefix('docs/')}{fragment}{after}"
        if name in OUTSIDE:
            return f"{before}{file.name}{fragment}{after}"
        if name == "README.md":
            return f"{before}index.md{after}"
        return f"{before.lstrip('!')[1:-2]} (`{name}`)"

    return LINK.sub(moved, page.read_text("utf-8"))


def python_reference() -> str:
    """Return the page of the Python reference: the verbs, each with its first line, and where the rest is."""
    import inspect

    import memorata
    from memorata_graph import Graph

    lines = [
        "# Python",
        "",
        "`memorata.open` returns an engine. Every class and function with all its parameters, formulas and "
        'examples is in the <a href="api/memorata.html">API reference</a>, built beside these pages.',
        "",
        "## Verbs",
        "",
        "| verb | what it does |",
        "|---|---|",
    ]
    with _engine() as engine:
        lines += [f"| `{name}` | {first} |" for name, first in _described(type(engine))]
        parts: dict[str, object] = {"memory.admin": engine.admin}
        parts |= {f"memory.admin.{facet}": getattr(engine.admin, facet) for facet in FACETS}
        parts["memorata_graph.Graph(memory)"] = Graph(engine)
        for name, part in parts.items():
            lines += ["", f"## `{name}`", "", "| verb | what it does |", "|---|---|"]
            lines += [f"| `{verb}` | {first} |" for verb, first in _described(type(part))]
    names = sorted(name for name in memorata.__all__ if not name.startswith("_"))
    lines += ["", "## `memorata`", "", "| name | what it is |", "|---|---|"]
    for name in names:
        doc = inspect.getdoc(getattr(memorata, name)) or ""
        lines.append(f"| `{name}` | {_first_line(doc)} |")
    return "\n".join(lines) + "\n"


def _described(kind: type) -> Iterator[tuple[str, str]]:
    """Yield the public methods of a class with the first line about each."""
    import inspect

    for name, member in inspect.getmembers(kind, inspect.isfunction):
        if not name.startswith("_"):
            yield name, _first_line(inspect.getdoc(member) or "")


def _first_line(text: str) -> str:
    return " ".join(text.split("\n\n")[0].split()).replace("|", "\\|").replace("``", "`")


def http_reference() -> str:
    """Return every path of the HTTP interface, from its OpenAPI document."""
    from memorata.engine.access import ApiKeys
    from memorata_server.http.app import create_api

    with _engine() as engine:
        document = create_api(engine, ApiKeys(engine.store, required=False)).openapi()
    lines = [
        "# HTTP, every path",
        "",
        "Written from the OpenAPI document that a server has at `/openapi.json`.",
        "",
    ]
    for path, methods in sorted(document["paths"].items()):
        for method in METHODS:
            if method in methods:
                lines += _operation(document, path, method, methods[method])
    return "\n".join(lines) + "\n"


def _operation(document: dict[str, Any], path: str, method: str, operation: dict[str, Any]) -> list[str]:
    lines = [
        f"## `{method.upper()} {path}`",
        "",
        operation.get("description") or operation.get("summary", ""),
        "",
    ]
    fields = [
        (field["name"], field["in"], field.get("required", False), field["schema"], field.get("description"))
        for field in operation.get("parameters", ())
    ]
    for content in operation.get("requestBody", {}).get("content", {}).values():
        schema = _resolved(document, content.get("schema", {}))
        required = schema.get("required", ())
        fields += [
            (name, "body", name in required, field, field.get("description"))
            for name, field in schema.get("properties", {}).items()
        ]
    if fields:
        lines += ["| field | in | type | what it is |", "|---|---|---|---|"]
        for name, where, needed, schema, text in fields:
            mark = " *" if needed else ""
            lines.append(
                f"| `{name}`{mark} | {where} | {_type(document, schema)} | {_first_line(text or '')} |"
            )
        lines.append("")
    return lines


def _resolved(document: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    return schema


def _type(document: dict[str, Any], schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"].rsplit("/", 1)[1])
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return " or ".join(_type(document, each) for each in schema[key] if each.get("type") != "null")
    if schema.get("enum"):
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_type(document, schema.get('items', {}))}"
    return str(schema.get("type", "any"))


def mcp_reference() -> str:
    """Return every tool of the MCP server with its arguments."""
    from memorata_server.mcp.tools import OWN_TOOLS

    lines = ["# MCP, every tool", "", "Written from what the server tells its clients.", ""]
    for tool in OWN_TOOLS:
        lines += [f"## `{tool.name}`", "", tool.description, ""]
        schema = tool.arguments.model_json_schema()
        if schema.get("properties"):
            lines += ["| argument | type | what it is |", "|---|---|---|"]
            for name, field in schema["properties"].items():
                mark = " *" if name in schema.get("required", ()) else ""
                text = _first_line(field.get("description", ""))
                lines.append(f"| `{name}`{mark} | {_type(schema, field)} | {text} |")
            lines.append("")
    return "\n".join(lines) + "\n"


def _engine() -> Any:  # noqa: ANN401 - an engine
    import memorata

    return memorata.open(":memory:", embedder="lexical")


class _Page(HTMLParser):
    """The links of a page and what can be linked to on it."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if name == "id" and value:
                self.anchors.add(value)
            if value and (tag, name) in {("a", "href"), ("img", "src"), ("script", "src"), ("link", "href")}:
                self.links.append(value)


def broken_links(site: Path) -> list[str]:
    """Return the links of a built site that lead nowhere."""
    pages = {}
    for file in site.rglob("*.html"):
        page = _Page()
        page.feed(file.read_text("utf-8"))
        pages[file.resolve()] = page
    broken = []
    for file, page in pages.items():
        if "api" in file.relative_to(site.resolve()).parts or file.name == "404.html":
            continue
        for link in page.links:
            address = urlsplit(link)
            if address.scheme or address.netloc:
                continue
            target = (file.parent / unquote(address.path)).resolve() if address.path else file
            fragment = unquote(address.fragment)
            missing = not target.exists()
            if missing or (fragment and target in pages and fragment not in pages[target].anchors):
                broken.append(f"{file.relative_to(site.resolve())}: {link}")
    return sorted(set(broken))


if __name__ == "__main__":
    if sys.argv[1] == "--check":
        broken = broken_links(Path(sys.argv[2]))
        sys.exit("Links that lead nowhere:\n" + "\n".join(broken) if broken else 0)
    stage(Path(sys.argv[1]))
