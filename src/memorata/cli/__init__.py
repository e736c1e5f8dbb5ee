"""The command line. ``memorata --help`` lists the commands; ``docs/cli.md`` describes each."""

from __future__ import annotations

import sys

from memorata._environment import compute_on_one_thread


def main() -> None:
    """Run the command line and leave the process with its exit code."""
    if sys.argv[1:] == ["--version"]:
        from memorata import __version__

        sys.stdout.write(f"memorata {__version__}\n")
        return
    compute_on_one_thread()
    try:
        # Imported here, so that Ctrl-C while it loads is as quiet as later.
        from memorata.engine.gc_pause import gc_paused

        with gc_paused():
            from memorata.cli.app import run
        run()
    except KeyboardInterrupt:
        sys.exit(130)
