"""Every answer, whatever it is, tells the browser to run nothing that is not ours."""

import pytest
from starlette.testclient import TestClient


@pytest.mark.parametrize("path", ["/", "/memories", "/nowhere", "/memories/nobody", "/static/app.css"])
def test_every_answer_has_the_policy(client: TestClient, path: str) -> None:
    headers = client.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"


def test_pages_are_kept_by_nobody_and_scripts_are_checked_anew(client: TestClient) -> None:
    assert client.get("/").headers["cache-control"] == "no-store"
    assert client.get("/static/app.js").headers["cache-control"] == "no-cache"


def test_no_page_needs_what_the_policy_forbids(client: TestClient) -> None:
    for path in ("/?q=tea", "/memories", "/memories/tea"):
        page = client.get(path).text
        assert " style=" not in page
        assert "<style" not in page
        assert " onclick=" not in page
        assert "<script>" not in page
        assert "http://" not in page.replace("http://www.w3.org", "")
        assert "https://" not in page
