"""What passes between the engine and a store when memories get vectors after they were written.

Vectors belong to the embedder that made them; a memory may have some of several embedders beside each other,
and a search compares those of one. So an embedder is changed by writing the vectors of the new one beside the
old, and by removing the old when all are there: nothing is mixed, and nothing has to stop meanwhile.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from memorata._frozen import frozen


@frozen(eq=False)
class Embedded:
    """The vectors of a memory that had none of the current embedder.

    Attributes
    ----------
    namespace, memory_id
        Which memory.
    vectors
        One row per passage.
    digest
        The address of the embedded text.
    """

    namespace: str
    memory_id: str
    vectors: npt.NDArray[np.float32]
    digest: bytes
