"""Coding agents: install and uninstall our hooks and MCP server."""

from __future__ import annotations

import shutil
import sys
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from typer import Argument, Option

from memorata.cli.command import add_commands
from memorata.cli.session import Session

if TYPE_CHECKING:
    from memorata.agents.install import Edit

Agent = Annotated[str, Argument(metavar="AGENT", help="claude-code, codex or cursor.")]
DryRun = Annotated[bool, Option("--dry-run", help="Show what would change and write nothing.")]
Yes = Annotated[bool, Option("--yes", "-y", help="Do not ask.")]
_ASK: Final = {False: "Write this?", True: "Take it out?"}


def register(app: typer.Typer) -> None:
    """Add these commands to the application."""
    add_commands(app, "For programs", install, uninstall)


def install(session: Session, agent: Agent, dry_run: DryRun = False, yes: Yes = False) -> None:
    """Give a coding agent memory: a briefing, recall with every prompt, capture, and the MCP tools."""
    _change(session, agent, dry_run=dry_run, yes=yes, remove=False)


def uninstall(session: Session, agent: Agent, dry_run: DryRun = False, yes: Yes = False) -> None:
    """Take our hooks and our MCP server out of a coding agent's settings; memories stay."""
    _change(session, agent, dry_run=dry_run, yes=yes, remove=True)


def _change(session: Session, agent: str, *, dry_run: bool, yes: bool, remove: bool) -> None:
    from memorata.agents.install import HOOK, edits

    output = session.output
    # An agent may run with another PATH than this shell.
    beside = Path(sys.executable).with_name(HOOK)
    command = str(beside) if beside.exists() else shutil.which(HOOK) or HOOK
    changes = edits(agent, Path.home(), remove=remove, command=command)
    files = [str(edit.path) for edit in changes]
    if not output.json:
        for edit in changes:
            for line in _diff(edit):
                output.line(line)
    written = bool(changes) and not dry_run
    if written:
        written = session.confirm(_ASK[remove], yes=yes, refused="Nothing was written.")
    if written:
        for edit in changes:
            edit.apply()
    if output.json:
        output.data({"agent": agent, "files": files, "written": written})
    elif not changes:
        output.say(f"Nothing to do: {agent} has {'none of it' if remove else 'all of it'} already.")
    elif written:
        output.say(f"Done. {agent} takes it up when it is started the next time.")


def _diff(edit: Edit) -> list[str]:
    before = [] if edit.before is None else edit.before.splitlines()
    after = [] if edit.after is None else edit.after.splitlines()
    return list(unified_diff(before, after, str(edit.path), str(edit.path), lineterm="", n=1))
