"""Values, errors and checks."""

from memorata._frozen import frozen
from memorata.engine.write.writer import KEY, KEY_CREATED_AT
from memorata.model import checks
from memorata.model.checks import BoolArray, Flags, FloatArray, IntArray, Numbers, Rows, nearest
from memorata.model.entity import Period, Place
from memorata.model.errors import (
    DatasetError,
    ExperimentNotFound,
    IndexCorrupt,
    InvalidArgument,
    MemorataError,
    MemoryNotFound,
    MissingExtra,
    NotEnoughData,
    NotSupportedHere,
    PoolExhausted,
    RecallNotFound,
    ServerUnsuitable,
    StoreCorrupt,
    StoreError,
    StoreTooNew,
    StoreUnavailable,
    WorkUnderWay,
    shown,
)
from memorata.model.hit import Feedback, Signal
from memorata.model.memory import Memory, Source
from memorata.model.parameter import Declared, Parameter
from memorata.text.dates import MONTHS

__all__ = [
    "KEY",
    "KEY_CREATED_AT",
    "MONTHS",
    "BoolArray",
    "DatasetError",
    "Declared",
    "ExperimentNotFound",
    "Feedback",
    "Flags",
    "FloatArray",
    "IndexCorrupt",
    "IntArray",
    "InvalidArgument",
    "MemorataError",
    "Memory",
    "MemoryNotFound",
    "MissingExtra",
    "NotEnoughData",
    "NotSupportedHere",
    "Numbers",
    "Parameter",
    "Period",
    "Place",
    "PoolExhausted",
    "RecallNotFound",
    "Rows",
    "ServerUnsuitable",
    "Signal",
    "Source",
    "StoreCorrupt",
    "StoreError",
    "StoreTooNew",
    "StoreUnavailable",
    "WorkUnderWay",
    "checks",
    "frozen",
    "nearest",
    "shown",
]
