"""Models of the catalogue, embedders and re-rankers: list, install, verify, remove."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from typing import Final

from typer import Argument

from memorata.extend.commands import Session, one_of, progress
from memorata.extend.embedding import BEFORE_BUILTIN, BUILTIN, BuiltinEmbedder, language_code
from memorata.extend.errors import EMBEDDER, EmbedderError, MemorataError

_SAMPLE_SIZE: Final = 1_000
"""Of how many memories, the newest, the languages decide which model is installed."""


def model_names(incomplete: str) -> list[str]:
    """Return the models that begin so, for the shell."""
    from memorata_models.catalogue import CATALOGUE

    return [name for name in CATALOGUE if name.startswith(incomplete)]


def list_(session: Session) -> None:
    """List the models that can be installed, and those that are."""
    from memorata_models.catalogue import available, installed

    present = installed(session.settings.models)
    output, rows, cells = session.output, [], []
    for entry in available():
        is_there = entry.name in present
        row = {
            "name": entry.name,
            "megabytes": entry.megabytes,
            "kind": entry.kind,
            "dimension": entry.dimension,
            "summary": entry.summary,
            "installed": is_there,
            "licence": entry.description.licence,
        }
        rows.append(row)
        size = f"{entry.megabytes} MB" if output.terminal else str(entry.megabytes)
        cells.append((entry.name, "installed" if is_there else "", size, entry.summary))
    folder = session.settings.models
    data = {"models": rows, "folder": str(folder)}
    output.table((), cells, style="", unbroken=3, data=data, note=f"in {folder}")


def install(
    session: Session,
    name: str | None = Argument(
        None,
        metavar="[NAME]",
        help="A model; if none, the best for your memories.",
        autocompletion=model_names,
    ),
) -> None:
    """Install a model, or the best for the languages of your memories, checked against pinned hashes.

    An embedder without a table of token vectors gets one beside it.
    """
    from memorata_models.catalogue import CATALOGUE, installed, recommended, with_table
    from memorata_models.catalogue import EMBEDDER as EMBEDDER_KIND
    from memorata_models.install import install as fetch

    output, folder, why = session.output, session.settings.models, ""
    if name is None:
        names, why = recommended(_languages(session))
        output.say(f"{' and '.join(names)}: {why}")
    else:
        names = with_table(one_of("NAME", name, tuple(CATALOGUE)))
    # The files of a model that is named are checked, and fetched again where they are damaged.
    present, models = set(installed(folder)) - {name}, []
    with progress(output, in_bytes=True) as report:
        for name in names:
            if name == BUILTIN:
                models.append({"name": name, "folder": str(BuiltinEmbedder().folder), "source": "built in"})
                continue
            if name in present:
                models.append({"name": name, "folder": str(folder / name), "source": "installed already"})
                continue
            model = fetch(name, folder, progress=report)
            models.append({"name": model.name, "folder": str(model.folder), "source": model.source})
    if output.json:
        output.data(models[0] | {"reason": why, "beside": models[1:]})
        return
    for row in models:
        output.line(f"{row['name']}: {row['source']}, in {row['folder']}")
    name = names[0]
    is_embedder = name == BUILTIN or CATALOGUE[name].kind == EMBEDDER_KIND
    if name in BEFORE_BUILTIN:
        output.say("new databases use the best model that is installed; memorata doctor says which is in use")
    else:
        output.say(f"use it with {'--embedder' if is_embedder else '--reranker'} {name}")
    if is_embedder and session.settings.db.exists():
        output.say(f"memorata admin reembed --embedder {name} moves the database you have to it")


def _languages(session: Session) -> Counter[str]:
    """Return how many of the newest memories are in which language; none where there is no database."""
    codes: Counter[str] = Counter()
    if session.settings.db.exists():
        # A database that cannot be read is no reason against a model; doctor reports it.
        with suppress(MemorataError), session.memory() as memory:
            codes.update(language_code(sample.content) for sample in memory.list(limit=_SAMPLE_SIZE).memories)
    return codes


def verify(
    session: Session,
    name: str | None = Argument(
        None, metavar="[NAME]", help="A model; all that are installed if none.", autocompletion=model_names
    ),
) -> None:
    """Check the files of installed models against their pinned hashes."""
    from memorata_models.catalogue import CATALOGUE, installed
    from memorata_models.install import verify as verified

    folder = session.settings.models
    names = installed(folder) if name is None else (one_of("NAME", name, tuple(CATALOGUE)),)
    states: dict[str, str] = {}
    for name in names:
        try:
            verified(name, folder)
            states[name] = ""
        except EmbedderError as error:
            states[name] = str(error)
    rows = [{"name": name, "sound": not state, "problem": state} for name, state in states.items()]
    lines = [f"{name}: {state or 'verified'}" for name, state in states.items()]
    empty = "" if states else f"no models are installed in {folder}"
    session.output.result({"models": rows}, *lines, notes=[empty])
    if any(states.values()):
        session.leave(EMBEDDER)


def remove(
    session: Session, name: str = Argument(metavar="NAME", help="A model.", autocompletion=model_names)
) -> None:
    """Remove an installed model; databases that use it are then searched by words only."""
    from memorata_models.catalogue import CATALOGUE
    from memorata_models.install import remove as removed

    removed(one_of("NAME", name, tuple(CATALOGUE)), session.settings.models)
    session.output.result({"removed": name}, f"removed {name}")
