"""The log of recalls, the feedback about them, and what is saved of both."""

from memorata.engine.recall.log import DAY, NEAR, RANK, UNCHANGED_COLUMNS, Logging, trace_columns
from memorata.engine.runtime import HeldLease
from memorata.store.feedback import LoggedFeedback
from memorata.store.logged_recall import LoggedRecall
from memorata.store.recall_log import Exposure
from memorata.store.saved_settings import SavedSetting

__all__ = [
    "DAY",
    "NEAR",
    "RANK",
    "UNCHANGED_COLUMNS",
    "Exposure",
    "HeldLease",
    "LoggedFeedback",
    "LoggedRecall",
    "Logging",
    "SavedSetting",
    "trace_columns",
]
