import asyncio
import io
import json
import logging
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from memorata.http import logs


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    """Leave the loggers as they were."""
    names = ("memorata", "uvicorn", "uvicorn.error", "uvicorn.access", "asyncio")
    before = [(logging.getLogger(name), vars(logging.getLogger(name)).copy()) for name in names]
    hook = threading.excepthook
    yield
    threading.excepthook = hook
    for logger, state in before:
        logger.handlers, logger.propagate = state["handlers"], state["propagate"]
        logger.setLevel(state["level"])


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_line_is_one_object() -> None:
    stream = io.StringIO()
    logs.set_up(stream=stream)
    logs.write("request", route="/v1/recall", status=200)
    (line,) = lines(stream)
    assert (line["event"], line["level"], line["route"], line["status"]) == (
        "request",
        "info",
        "/v1/recall",
        200,
    )
    assert line["time"].endswith("+00:00")


@pytest.mark.parametrize("contents", [False, True])
def test_the_words_of_an_error_are_written_only_if_asked_for(contents: bool) -> None:
    stream = io.StringIO()
    logs.set_up(stream=stream, contents=contents)
    try:
        raise KeyError("marmalade")
    except KeyError as error:
        logs.write("request", logging.ERROR, error, status=500)
    logging.getLogger("memorata.engine").warning("a text in %s", "marmalade")
    logging.getLogger("uvicorn.error").error("broken by %r", "marmalade")
    first, second, third = lines(stream)
    assert first["error"] == "KeyError"
    assert first["at"][0].startswith("test_logs.py:")
    assert (second["event"], third["event"]) == (
        ("a text in marmalade", "broken by 'marmalade'") if contents else ("a text in %s", "broken by %r")
    )
    assert ("marmalade" in stream.getvalue()) == contents


def test_less_is_written_where_less_is_wanted() -> None:
    stream = io.StringIO()
    logs.set_up("warning", stream=stream)
    logs.write("request")
    logs.write("request", logging.ERROR)
    assert [line["level"] for line in lines(stream)] == ["error"]


@pytest.mark.parametrize("contents", [False, True])
def test_what_breaks_on_a_thread_or_in_the_loop_is_a_line_as_any_other(
    contents: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    stream = io.StringIO()
    logs.set_up(stream=stream, contents=contents)

    def broken(said: str) -> None:
        raise KeyError(said)

    thread = threading.Thread(target=broken, args=("marmalade",), name="errand tuning")
    thread.start()
    thread.join()

    async def forgotten() -> None:
        asyncio.get_running_loop().call_soon(broken, "marmalade")
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    asyncio.run(forgotten())
    on_a_thread, in_the_loop = lines(stream)
    assert (on_a_thread["event"], on_a_thread["thread"]) == ("thread failed", "errand tuning")
    assert (on_a_thread["error"], in_the_loop["error"]) == ("KeyError", "KeyError")
    assert in_the_loop["logger"] == "asyncio"
    assert ("marmalade" in stream.getvalue()) == contents
    assert capsys.readouterr().err == ""
