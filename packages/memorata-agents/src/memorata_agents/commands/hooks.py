"""The hooks of coding agents: install, uninstall, list."""

from __future__ import annotations

import os
import shutil
import sys
from difflib import unified_diff
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Final

from typer import Argument

from memorata.extend.commands import Session, options
from memorata.extend.errors import MissingExtra

Agent = Annotated[str, Argument(metavar="AGENT", help="claude-code, codex or cursor.")]
_QUESTION: Final = {False: "Write this?", True: "Take it out?"}


def install(
    session: Session, agent: Agent, dry_run: options.DryRun = False, yes: options.Yes = False
) -> None:
    """Give a coding agent memory: a briefing, recall with every prompt, capture, and the MCP tools."""
    if find_spec("memorata_server") is None:
        # The agent would start a server that ends at once, at each of its own starts.
        raise MissingExtra("The MCP server", ". packages/memorata-server")
    _change(session, agent, dry_run=dry_run, yes=yes, remove=False)


def uninstall(
    session: Session, agent: Agent, dry_run: options.DryRun = False, yes: options.Yes = False
) -> None:
    """Take our hooks and our MCP server out of a coding agent's settings; memories stay.

    The background process of the hooks ends; that of an agent that still has them starts with its next hook.
    """
    from memorata_agents.hooks.client import end_processes, run_folder

    if _change(session, agent, dry_run=dry_run, yes=yes, remove=True):
        end_processes(run_folder(os.environ, Path.home()))


def list_(session: Session) -> None:
    """List the coding agents with our hooks, and the last failure of a hook."""
    from memorata_agents.hooks.client import last_failure, run_folder
    from memorata_agents.hooks.daemon import AGENTS
    from memorata_agents.hooks.install import installed

    state = {agent: installed(agent, Path.home()) for agent in AGENTS}
    failure = last_failure(run_folder(os.environ, Path.home()))
    lines = [
        f"{agent}\t{'installed' if has_hooks else 'not installed'}" for agent, has_hooks in state.items()
    ]
    session.output.result({"agents": state, "last_failure": failure}, *lines)
    if failure is not None:
        session.output.say(f"the last failure of a hook: {failure}", "")


def _change(session: Session, agent: str, *, dry_run: bool, yes: bool, remove: bool) -> bool:
    """Show the changes of an agent's settings and write them; return whether they were written."""
    from memorata_agents.hooks.install import HOOK, edits

    output = session.output
    # An agent may run with another PATH than this shell.
    beside = Path(sys.executable).with_name(HOOK)
    command = str(beside) if beside.exists() else shutil.which(HOOK) or HOOK
    changes = edits(agent, Path.home(), remove=remove, command=command)
    files = [str(edit.path) for edit in changes]
    if not output.json:
        for edit in changes:
            before, after = (edit.before or "").splitlines(), (edit.after or "").splitlines()
            for line in unified_diff(before, after, str(edit.path), str(edit.path), lineterm="", n=1):
                output.line(line)
    written = bool(changes) and not dry_run
    if written:
        written = session.confirm(_QUESTION[remove], yes=yes, refused="Nothing was written.")
    if written:
        for edit in changes:
            edit.apply()
    if output.json:
        output.data({"agent": agent, "files": files, "written": written})
    elif not changes:
        output.say(f"Nothing to do: {agent} has {'none of it' if remove else 'all of it'} already.")
    elif written:
        output.say(f"Done. {agent} takes it up when it is started the next time.")
    return written
