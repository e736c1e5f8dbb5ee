"""Every error Memorata raises on purpose.

::

    MemorataError
    ├── InvalidArgument               a value that cannot be used (also a ValueError)
    │   ├── NotGiven                  a value that is needed and was left out
    │   └── AlreadySuperseded         a memory whose place another has taken before
    ├── MissingExtra                  a package that is not installed (also an ImportError)
    ├── DatasetError                  a data set, run or qrels file that cannot be read as what it should be
    ├── NotEnoughData                 too little was observed to learn from
    ├── AccessDenied                  whoever asks may not do that
    │   └── NotAdmitted               no key was shown, or one that is not good
    ├── StoreError                    the database cannot do what was asked
    │   ├── StoreCorrupt              its file is damaged, or is no Memorata database
    │   ├── StoreTooNew               its file was written by a newer Memorata
    │   ├── StoreUnavailable          locked for too long, out of reach, or its disk is full
    │   │   ├── StoreReadOnly         it can only be read, as it is or as it was opened
    │   │   ├── PoolExhausted         every connection to the server was in use for too long
    │   │   └── PurgeUnfinished       something was removed, but its traces could not be erased yet
    │   ├── ServerUnsuitable          the server is too old, or lacks something, or a right
    │   ├── NotSupportedHere          this kind of store does not do that
    │   ├── IndexCorrupt              derived data that does not check; it can be rebuilt
    │   ├── MemoryNotFound            no memory has that id
    │   ├── EntityNotFound            nobody and nothing has that name
    │   ├── RecallNotFound            no recall with that id is in the log
    │   ├── ExperimentNotFound        no experiment has that name
    │   ├── ReplyErased               a request was carried out, but its answer is gone
    │   ├── WorkUnderWay              another worker is doing the same at this moment
    │   ├── LeaseLost                 another worker has taken over what this one was doing
    │   └── VersionConflict           someone else changed the memory first
    └── EmbedderError                 a text could not be turned into a vector
        ├── ConsentNeeded             a database names a service or a folder that nobody agreed to
        ├── ModelNotInstalled         the model's files are not on this machine
        ├── ModelCorrupt              the model's files are not the ones that were pinned
        ├── DimensionMismatch         vectors of another length than the store's
        └── EmbeddingServiceError     an embedding service did not answer as it should
            ├── ServiceUnreachable    no answer in time, after every retry
            ├── ServiceRefused        an answer that says no: a wrong key, an unknown model, a text too long
            └── ServiceAnswerInvalid  an answer that cannot be used: not JSON, too few vectors, NaN

Catch ``MemorataError`` to catch them all. A message says what was wrong, shows the value, and says what
to do about it.
"""

from __future__ import annotations

from memorata.model.errors.embedding import (
    ConsentNeeded,
    DimensionMismatch,
    EmbedderError,
    EmbeddingServiceError,
    ModelCorrupt,
    ModelNotInstalled,
    ServiceAnswerInvalid,
    ServiceRefused,
    ServiceUnreachable,
)
from memorata.model.errors.general import (
    AccessDenied,
    AlreadySuperseded,
    DatasetError,
    InvalidArgument,
    MemorataError,
    MissingExtra,
    NotAdmitted,
    NotEnoughData,
    NotGiven,
    shown,
)
from memorata.model.errors.store import (
    EntityNotFound,
    ExperimentNotFound,
    IndexCorrupt,
    LeaseLost,
    MemoryNotFound,
    NotSupportedHere,
    PoolExhausted,
    PurgeUnfinished,
    RecallNotFound,
    ReplyErased,
    ServerUnsuitable,
    StoreCorrupt,
    StoreError,
    StoreReadOnly,
    StoreTooNew,
    StoreUnavailable,
    VersionConflict,
    WorkUnderWay,
)

__all__ = [
    "AccessDenied",
    "AlreadySuperseded",
    "ConsentNeeded",
    "DatasetError",
    "DimensionMismatch",
    "EmbedderError",
    "EmbeddingServiceError",
    "EntityNotFound",
    "ExperimentNotFound",
    "IndexCorrupt",
    "InvalidArgument",
    "LeaseLost",
    "MemorataError",
    "MemoryNotFound",
    "MissingExtra",
    "ModelCorrupt",
    "ModelNotInstalled",
    "NotAdmitted",
    "NotEnoughData",
    "NotGiven",
    "NotSupportedHere",
    "PoolExhausted",
    "PurgeUnfinished",
    "RecallNotFound",
    "ReplyErased",
    "ServerUnsuitable",
    "ServiceAnswerInvalid",
    "ServiceRefused",
    "ServiceUnreachable",
    "StoreCorrupt",
    "StoreError",
    "StoreReadOnly",
    "StoreTooNew",
    "StoreUnavailable",
    "VersionConflict",
    "WorkUnderWay",
    "shown",
]

# An error is shown, and pickled, by the name that people import it under, whatever file it stands in.
for _name in __all__:
    globals()[_name].__module__ = __name__
