"""Where installed models live."""

from pathlib import Path

import pytest

from recollect.embed.folder import models_folder


@pytest.mark.parametrize(
    ("environment", "platform", "expected"),
    [
        ({}, "linux", "/home/ada/.local/share/recollect/models"),
        ({"XDG_DATA_HOME": "/data"}, "linux", "/data/recollect/models"),
        ({}, "darwin", "/home/ada/Library/Application Support/recollect/models"),
        ({}, "win32", "/home/ada/AppData/Local/recollect/models"),
        ({"LOCALAPPDATA": "/local"}, "win32", "/local/recollect/models"),
        ({"RECOLLECT_MODELS": "/mine"}, "win32", "/mine"),
        ({"RECOLLECT_MODELS": "~/mine"}, "linux", "/home/ada/mine"),
    ],
)
def test_models_live_where_the_platform_keeps_data(
    environment: dict[str, str], platform: str, expected: str
) -> None:
    assert models_folder(environment, platform, Path("/home/ada")).as_posix() == expected
