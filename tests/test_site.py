"""The documentation site is built from the pages of the repository, and its links lead somewhere."""

import runpy
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SITE = runpy.run_path(str(ROOT / "docs" / "write_site.py"))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the site, built as `make site` does."""
    folder = tmp_path_factory.mktemp("site")
    SITE["stage"](folder / "build" / "pages")
    shutil.copy(ROOT / "zensical.toml", folder)
    command = [sys.executable, "-m", "zensical", "build", "--strict"]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout[-4000:] + ran.stderr[-4000:]
    api = folder / "build" / "site" / "api"  # pdoc writes it
    api.mkdir()
    (api / "memorata.html").touch()
    return folder / "build" / "site"


@pytest.mark.untraced
def test_no_link_leads_nowhere(built: Path) -> None:
    assert SITE["broken_links"](built) == []


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<p id="here"><a href="#here">.</a><a href="a.html#gone">.</a><img src="b.png">'
    )
    assert SITE["broken_links"](tmp_path) == ["a.html: a.html#gone", "a.html: b.png"]


def test_every_page_is_in_the_navigation(built: Path) -> None:
    configuration = tomllib.loads((ROOT / "zensical.toml").read_text("utf-8"))

    def pages(entries: list[dict[str, object]]) -> list[str]:
        return [
            page
            for entry in entries
            for target in entry.values()
            for page in (pages(target) if isinstance(target, list) else [str(target)])
        ]

    staged = {page.name for page in (built.parent / "pages").glob("*.md")}
    assert staged - set(pages(configuration["project"]["nav"])) == {"CONTRIBUTING.md"}


def test_nothing_is_loaded_from_elsewhere_and_search_has_its_index(built: Path) -> None:
    home = (built / "index.html").read_text("utf-8")
    assert "https://fonts." not in home
    assert 'src="http' not in home
    assert "supersede" in (built / "search.json").read_text("utf-8")
