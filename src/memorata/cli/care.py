"""Look after the file: check, stats, vacuum, backup."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final

import typer

from memorata.cli.arguments import file_to_write
from memorata.cli.command import command
from memorata.cli.failures import UNSOUND
from memorata.cli.output import counted, one_line
from memorata.cli.session import Session

_PANEL: Final = "Look after it"
_LABELS: Final = {
    "db": "database",
    "superseded": "corrected since",
    "entities": "entities declared",
    "segments": "index segments",
    "waiting": "not yet in a segment",
    "changes": "changes so far",
    "unfinished_purge": "purge to be finished",
    "bytes": "size",
    "vector_search": "searches of meaning",
    "vector_search_advice": "they would be faster",
    "methods": "searched by",
}
_UNITS: Final = ("bytes", "kB", "MB", "GB", "TB")

Repair = Annotated[bool, typer.Option("--repair", help="Rebuild what can be rebuilt.")]
Target = Annotated[Path, typer.Argument(metavar="FILE", help="Where to put the copy.")]
Force = Annotated[bool, typer.Option("--force", help="Write over a file that is there.")]


def register(app: typer.Typer) -> None:
    """Add these commands to the application."""
    command(app, "check", _PANEL)(check)
    command(app, "stats", _PANEL)(stats)
    command(app, "vacuum", _PANEL)(vacuum)
    command(app, "backup", _PANEL)(backup)


def check(session: Session, repair: Repair = False) -> None:
    """Check that the file is sound; --repair rebuilds what is derived, and never touches what was said."""
    from memorata.model.errors import StoreCorrupt

    output = session.output
    try:
        with session.memory(embed=True) as engine:
            found = engine.admin.check(repair=repair)
            left = engine.admin.check() if repair and found else found
    except StoreCorrupt as error:
        # Its usual advice is to do what has just been tried.
        why = error.__cause__ or error
        raise StoreCorrupt(
            f"{session.settings.db} is too damaged to be checked ({why}); restore a backup"
        ) from error
    if output.json:
        output.data({"sound": not left, "problems": found, "remaining": left, "repaired": repair})
    else:
        for problem in found:
            output.line(one_line(problem))
        if not found:
            output.line("sound")
        elif not left:
            output.line("repaired")
    if left:
        advice = "memorata check --repair rebuilds what can be rebuilt"
        if repair:
            advice = "restore a backup, or export what can be read and import it into another file"
        output.warn(f"{counted(len(left), 'problem')}; {advice}")
        session.leave(UNSOUND)


def stats(session: Session) -> None:
    """Show how much is in the file and how large it is."""
    with session.memory() as engine:
        found: dict[str, Any] = {"db": str(session.settings.db), **engine.store.statistics()}
    if session.output.json:
        session.output.data(found)
        return
    rows = []
    for name, value in found.items():
        said = value
        if name == "vector_search":
            value = said = ", ".join(f"{way} in {counted(n, 'namespace')}" for way, n in value.items() if n)
        if value == "":
            continue
        if name == "methods":
            said = "; ".join(f"{leg}: {how}" for leg, how in value.items())
        elif isinstance(value, dict):
            said = ", ".join(f"{count:,} of {key}" for key, count in value.items()) or "none"
        elif name == "bytes":
            said = size(value)
        elif isinstance(value, bool):
            said = "yes, by memorata vacuum" if value else "no"
        elif isinstance(value, int):
            said = f"{value:,}"
        rows.append((_LABELS.get(name, name), str(said)))
    session.output.pairs(rows)


def vacuum(session: Session) -> None:
    """Write the file anew: give back the space of what was removed, and erase every trace of it.

    This takes time in proportion to the size of the file, and for a moment twice its space; others can read
    meanwhile. It also finishes a purge that others kept from erasing what it removed.
    """
    with session.memory() as engine:
        before = engine.store.statistics()["bytes"]
        engine.store.vacuum()
        after = engine.store.statistics()["bytes"]
    if session.output.json:
        session.output.data({"bytes_before": before, "bytes_after": after})
    else:
        session.output.line(f"{size(before)} before, {size(after)} now")


def backup(session: Session, target: Target, force: Force = False) -> None:
    """Copy the whole database to another file, while others go on using it."""
    with session.memory() as engine:
        file_to_write(str(target), force=force)
        engine.store.backup(target)
    written = target.stat().st_size
    if session.output.json:
        session.output.data({"file": str(target), "bytes": written})
    else:
        session.output.line(f"{target}  {size(written)}" if session.output.terminal else str(target))


def size(count: float) -> str:
    """Return a number of bytes as people say it.

    Examples
    --------
    >>> size(999), size(1_500_000)
    ('999 bytes', '1.5 MB')
    """
    unit = 0
    while count >= 1000 and unit < len(_UNITS) - 1:
        count, unit = count / 1000, unit + 1
    return f"{count:.0f} bytes" if unit == 0 else f"{count:.1f} {_UNITS[unit]}"
