"""What the exit code of a command means, and which error gives which.

======  ==============================================================================
``0``   it worked
``1``   nothing was found: no memory answers, or none has that id, nobody or nothing that name
``2``   the command was not understood: a bad option, value, file or filter
``3``   the database cannot do what was asked: missing, damaged, locked, read-only
``4``   the embedder, a model or an optional package cannot be used
``5``   ``memorata check`` found something wrong
``130`` interrupted with Ctrl-C
======  ==============================================================================
"""

from __future__ import annotations

from typing import Final

OK: Final = 0
NOTHING: Final = 1
USAGE: Final = 2
STORE: Final = 3
EMBEDDER: Final = 4
UNSOUND: Final = 5
INTERRUPTED: Final = 130


def exit_code(error: Exception) -> int:
    """Return the exit code of one of Memorata's errors.

    Examples
    --------
    >>> from memorata.model.errors import MemoryNotFound, ModelNotInstalled
    >>> exit_code(MemoryNotFound("m1", "default")), exit_code(ModelNotInstalled("no model"))
    (1, 4)
    """
    # Imported here, for `memorata --help` must not wait for numpy.
    from memorata.service.errors import kind_of

    return kind_of(error).exit_code
