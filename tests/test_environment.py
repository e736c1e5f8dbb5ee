"""Where installed models live."""

from pathlib import Path

import pytest

from memorata._environment import models_folder


@pytest.mark.parametrize(
    ("environment", "platform", "expected"),
    [
        ({}, "linux", "/home/ada/.local/share/memorata/models"),
        ({"XDG_DATA_HOME": "/data"}, "linux", "/data/memorata/models"),
        ({}, "darwin", "/home/ada/Library/Application Support/memorata/models"),
        ({}, "win32", "/home/ada/AppData/Local/memorata/models"),
        ({"LOCALAPPDATA": "/local"}, "win32", "/local/memorata/models"),
        ({"MEMORATA_MODELS": "/mine"}, "win32", "/mine"),
        ({"MEMORATA_MODELS": "~/mine"}, "linux", "/home/ada/mine"),
    ],
)
def test_models_live_where_the_platform_keeps_data(
    environment: dict[str, str], platform: str, expected: str
) -> None:
    assert models_folder(environment, platform, Path("/home/ada")).as_posix() == expected
