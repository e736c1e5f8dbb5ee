"""Install requirements into this environment with uv, from where pip would: pip takes four times as long.

uv does not read pip's settings, so they are handed to it. Where it cannot be had or fails, pip installs.
"""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator

PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")
UV_OPTIONS = {
    "index-url": "--default-index",
    "extra-index-url": "--index",
    "find-links": "--find-links",
    "trusted-host": "--allow-insecure-host",
}


def pip_settings() -> dict[str, list[str]]:
    """Return what files and variables set of the options of pip; a later place overrides an earlier one."""
    listed = subprocess.run([*PIP, "config", "list"], check=True, capture_output=True, text=True).stdout
    settings = {}
    for line in listed.splitlines():
        place, _, value = line.partition("=")
        settings[place.rpartition(".")[2]] = ast.literal_eval(value).split()
    return settings


def uv_options(settings: dict[str, list[str]]) -> Iterator[str]:
    """Yield what tells uv to look where pip looks, and to take the best version of all places as pip does."""
    yield from ("--index-strategy", "unsafe-best-match")
    for name, option in UV_OPTIONS.items():
        for value in settings.get(name, ()):
            yield from (option, value)
    if settings.get("no-index", ["false"])[0].lower() in ("1", "true", "yes", "on"):
        yield "--no-index"


def main() -> int:
    """Install what the arguments of the command name, with uv or else with pip."""
    requirements = sys.argv[1:]
    if subprocess.run([*PIP, "install", "--quiet", "uv"]).returncode == 0:
        settings = pip_settings()
        environment = os.environ | ({"SSL_CERT_FILE": settings["cert"][0]} if settings.get("cert") else {})
        uv = (sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", sys.executable)
        if subprocess.run([*uv, *uv_options(settings), *requirements], env=environment).returncode == 0:
            return 0
    sys.stderr.write("uv did not install; pip does.\n")
    # The pip that comes with a Python is as old as that, and finds a hundred packages in twice the time.
    subprocess.run([*PIP, "install", "--quiet", "--upgrade", "pip"], check=True)
    return subprocess.run([*PIP, "install", "--quiet", "--no-compile", *requirements]).returncode


if __name__ == "__main__":
    sys.exit(main())
