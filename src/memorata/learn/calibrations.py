"""Calibrations that are kept: by embedder, what a similarity is worth, and the probability of each hit."""

from __future__ import annotations

from typing import Final

import numpy as np

from memorata.engine import Engine, Recall
from memorata.engine.trace_columns import written_down
from memorata.learn.calibration import Calibration, calibration_of
from memorata.learn.tuning_thresholds import Calibrated
from memorata.model.namespace import namespace as checked_namespace
from memorata.store.recall_log import Lesson

CALIBRATION: Final = "calibration"
"""The kind of lesson."""


def keep_calibration(
    engine: Engine, calibrated: Calibrated, *, namespace: str | None = None
) -> Lesson | None:
    """Keep a curve with its evidence, if it keeps its word better than the similarity; None if not."""
    if not calibrated.accepted:
        return None
    return engine.store.keep_lesson(
        engine.namespace if namespace is None else checked_namespace("namespace", namespace),
        CALIBRATION,
        calibrated.embedder,
        calibrated.curve,
        calibrated.evidence(),
        engine.moment,
    )


def calibration_for(
    engine: Engine, *, embedder: str | None = None, namespace: str | None = None
) -> Calibration | None:
    """Return the curve that is kept for an embedder, the engine's by default; None if there is none."""
    name = embedder or (engine.embedder.name if engine.embedder is not None else "")
    path = engine.namespace if namespace is None else namespace
    found = engine.store.lessons(path, CALIBRATION, name)
    return calibration_of(found[0].data) if found else None


def probabilities(engine: Engine, recall: Recall, *, namespace: str | None = None) -> dict[str, float]:
    """Return how likely each hit is relevant, by memory, by its similarity alone.

    Nothing for hits that meaning did not find, and for embedders without a calibration.
    """
    if not recall.hits or recall.trace is None:
        return {}
    curve = calibration_for(engine, embedder=recall.embedder, namespace=namespace)
    if curve is None:
        return {}
    (down,) = written_down([recall.trace])
    near = down.values[:, down.columns.index("meaning")].astype(np.float64)
    known = ~np.isnan(near)
    if "unread" in down.columns:
        # Of these the similarity is a guess from their words, and the curve was not fitted to guesses.
        known &= down.values[:, down.columns.index("unread")] == 0
    # By memory and not by place: the hits may be some of those that the trace knows, or others too.
    names = engine.store.ids_of(recall.hits[0].memory.namespace, down.slots[known].tolist())
    worth = curve(near[known].clip(-1, 1)).tolist()
    chances = {names.get(slot): each for slot, each in zip(down.slots[known].tolist(), worth, strict=True)}
    return {hit.memory.id: chances[hit.memory.id] for hit in recall.hits if hit.memory.id in chances}
