"""The command line. ``recollect --help`` lists the commands; ``docs/cli.md`` describes each."""

from __future__ import annotations


def main() -> None:
    """Run the command line and leave the process with its exit code."""
    from recollect.cli.app import run

    run()
