"""What a store keeps about work that is under way: who does it, and until when nobody else may.

A lease (Gray and Cheriton, 1989) is a right that runs out by itself, so that a worker who was killed is taken
over. A worker who was only slow must not go on as if nothing had happened: every lease has a number of its
own, and a write that was meant under it is made only as long as that number stands (a fencing token, as
Kleppmann calls it).
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from memorata._frozen import frozen

EVERYWHERE: Final = "*"
"""The namespace of work on everybody's memories."""


@frozen
class Lease:
    """The right to do some work.

    Attributes
    ----------
    kind, namespace
        What work, and on whose memories; ``*`` for everybody's.
    holder
        Who does it, in words.
    number
        Of this lease alone; a later one has a higher number.
    until
        When it runs out, unless it is renewed.
    """

    kind: str
    namespace: str
    holder: str
    number: int
    until: datetime
