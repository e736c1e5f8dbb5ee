"""Tune weights, thresholds or whole recipes on feedback and labels, and compare variants with users.

What wins held out is saved. An experiment (create, assign, recall, status, stop) divides the users among
variants of a recipe.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TypedDict, Unpack

from typer import Option

from memorata.extend.commands import (
    Session,
    counted,
    options,
    parameter_values,
    recipe_names,
    recipe_of,
)
from memorata.extend.errors import InvalidArgument, NotEnoughData, WorkUnderWay

if TYPE_CHECKING:
    from memorata import Engine, Recipe
    from memorata_lab.learn.thresholds import TunedThresholds
    from memorata_lab.learn.training_set import TrainingSet
    from memorata_lab.learn.tuning import Tuned

REFUSED: Final = 1
"""The exit code where nothing that was tried wins."""

Seed = Annotated[int, Option("--seed", help="The same seed deals the same folds.")]
Metric = Annotated[str, Option("--metric", "-m", help="What settings are compared by.")]
Folds = Annotated[int, Option("--folds", min=2, help="In how many folds data is held out.")]


class TrainingOptions(TypedDict):
    """What is tuned on, and what becomes of the winner."""

    base: Annotated[
        str | None,
        Option(None, "--recipe", "-r", help="The recipe; see memorata recipes.", autocompletion=recipe_names),
    ]
    labels: Annotated[
        Path | None,
        Option(None, metavar="FILE", help="Labelled questions, as JSON Lines; see docs/learning.md."),
    ]
    labels_only: Annotated[bool, Option(False, help="Leave logged feedback out.")]
    since: Annotated[datetime | None, Option(None, help="Only from that time on.")]
    save: Annotated[str, Option("tuned", metavar="NAME", help="The name to save what wins under.")]
    use: Annotated[bool, Option(False, help="Use it from now on, if it wins.")]
    dry_run: Annotated[bool, Option(False, help="Show what would happen, and change nothing.")]


def weights(
    session: Session,
    over: list[str] | None = Option(
        None, metavar="NAME=A,B,…", help="A parameter and the values to try, or FROM:TO:STEP; repeatable."
    ),
    metric: Metric = "ndcg@10",
    folds: Folds = 5,
    seed: Seed = 0,
    plot: options.Plot = None,
    **training: Unpack[TrainingOptions],
) -> None:
    """Try every setting of a grid: the weight of the vector leg in tenths, or what --over says."""
    from memorata_lab.learn.tuning import tune_weights

    grid = None if not over else _grid(over)
    with _training_set(session, training) as (engine, base, training_set):
        tuned = tune_weights(training_set, base, grid, metric=metric, folds=folds, seed=seed)
        saved = _save(engine, tuned, training)
    if plot is not None:
        _draw_grid(session, tuned, plot)
    _report(session, tuned, saved, {})


def recipe(
    session: Session,
    parameter: list[str] | None = Option(
        None, "-p", metavar="NAME", help="A parameter to search over; repeatable."
    ),
    trials: int = Option(60, help="Trials of each search; 0 tries a grid on each recipe."),
    metric: Metric = "ndcg@10",
    folds: Folds = 5,
    seed: Seed = 0,
    **training: Unpack[TrainingOptions],
) -> None:
    """Search many parameters at once (with optuna), or choose among recipes by folds within folds."""
    from memorata_lab.learn.tuning import TUNED_PARAMETERS, tune_families, tune_recipe

    with _training_set(session, training) as (engine, base, training_set):
        shared: dict[str, Any] = {"metric": metric, "folds": folds, "seed": seed}
        if trials:
            names = tuple(parameter or TUNED_PARAMETERS)
            tuned = tune_recipe(training_set, base, names, trials=trials, **shared)
        else:
            tuned = tune_families(training_set, base, **shared)
        saved = _save(engine, tuned, training)
    _report(session, tuned, saved, {})


def thresholds(
    session: Session,
    method: str = Option("precision", help="precision, youden, f1 or probability."),
    target: float = Option(0.9, help="The least precision, or probability."),
    fit: str = Option("logistic", help="The curve of probabilities: logistic or isotonic."),
    folds: Folds = 5,
    seed: Seed = 0,
    plot: options.Plot = None,
    **training: Unpack[TrainingOptions],
) -> None:
    """Tune the similarity threshold (for f1, also confidence), and calibrate similarity to probability."""
    from memorata_lab.learn.calibration import calibrate, keep_calibration
    from memorata_lab.learn.thresholds import similarity_threshold, tune_thresholds

    with _training_set(session, training) as (engine, base, training_set):
        if engine.embedder is None:
            raise InvalidArgument("--embedder", None, "in use: without one there is no similarity")
        pairs = training_set.pairs(engine.embedder.name)
        now = similarity_threshold(base, engine.embedder)
        tuned = tune_thresholds(pairs, base, now, method=method, target=target, folds=folds, seed=seed)
        curve = calibrate(pairs, engine.embedder.name, fit=fit, folds=folds, seed=seed)
        saved = _save(engine, tuned, training)
        saved_curve = None if training["dry_run"] else keep_calibration(engine, curve)
    if plot is not None:
        from memorata_lab.learn.plots import draw_calibration, draw_grid, draw_thresholds

        plot.mkdir(parents=True, exist_ok=True)
        drawn = [draw_thresholds(tuned.curve, tuned.choice, plot / "thresholds.svg")]
        both = {"similarity itself": curve.before, "calibrated, held out": curve.after}
        drawn.append(draw_calibration(both, plot / "calibration.svg"))
        if tuned.grid is not None:
            drawn.append(draw_grid(tuned.grid, plot / "grid.svg"))
        session.output.say(f"Drawn: {', '.join(map(str, drawn))}")
    calibration = {
        "embedder": curve.embedder,
        "curve": curve.curve,
        "kept": saved_curve is not None,
        **curve.evidence(),
    }
    if tuned.choice.warning is not None:
        session.output.warn(str(tuned.choice.warning))
    _report(session, tuned, saved, {"calibration": calibration, "precision": tuned.choice.precision,
                                    "recall": tuned.choice.recall})  # fmt: skip


def namespaces(
    session: Session,
    dry_run: options.DryRun = False,
    all_namespaces: bool = Option(False, help="Every namespace that has feedback."),
    seed: Seed = 0,
) -> None:
    """Adapt the weight of the vector leg to single namespaces, where their feedback says so and it wins."""
    from memorata_lab.learn.tuning import adapt

    with session.memory() as engine:
        adapted = adapt(engine, None if all_namespaces else [engine.namespace], dry_run=dry_run, seed=seed)
    data: dict[str, Any] = {}
    rows = []
    for path, adaptation in adapted.items():
        if isinstance(adaptation, NotEnoughData | WorkUnderWay):
            data[path] = {"accepted": False, "reason": str(adaptation)}
            rows.append((path, "", str(adaptation)))
        else:
            data[path] = adaptation.verdict.as_dict()
            rows.append((path, f"{adaptation.recipe.vector_weight:g}", adaptation.verdict.reason))
    session.output.table(("namespace", "vector weight", "verdict"), rows, data={"namespaces": data})


@contextmanager
def _training_set(session: Session, chosen: TrainingOptions) -> Iterator[tuple[Engine, Recipe, TrainingSet]]:
    from memorata.extend.recall import own_name
    from memorata_lab.learn.training_set import from_feedback, labelled_training_set
    from memorata_lab.learn.tuning import WORK

    # A name that no recipe may have is refused before minutes of work.
    own_name("--save", chosen["save"])
    labels, labels_only = chosen["labels"], chosen["labels_only"]
    if labels_only and labels is None:
        raise InvalidArgument("--labels-only", labels_only, "given together with --labels FILE")
    with ExitStack() as stack:
        engine = stack.enter_context(session.memory(create=labels is not None, embed=True))
        leasing = nullcontext() if chosen["dry_run"] else engine.leases.hold(WORK, engine.namespace)
        lease = stack.enter_context(leasing)
        recipe = recipe_of(engine, "--recipe", chosen["base"])
        feedback = None if labels_only else from_feedback(engine, since=chosen["since"])
        if labels is None:
            assert feedback is not None  # there is one source at least
            training_set = feedback
        else:
            labelled = stack.enter_context(labelled_training_set(engine, labels, recipe=recipe))
            training_set = labelled if feedback is None else labelled.with_more(feedback)
        yield engine, recipe, training_set if lease is None else training_set.under(lease)


def _save(engine: Engine, tuned: Tuned | TunedThresholds, chosen: TrainingOptions) -> str | None:
    """Save a winner, and return its name."""
    from memorata_lab.learn.tuning import install

    if chosen["dry_run"] or install(engine, tuned, chosen["save"], use=chosen["use"]) is None:
        return None
    return chosen["save"]


def _report(
    session: Session, tuned: Tuned | TunedThresholds, saved: str | None, more: dict[str, Any]
) -> None:

    output, verdict = session.output, tuned.verdict
    if output.json:
        output.data({**verdict.as_dict(), "base": tuned.base.name, "saved": saved, **more})
    else:
        changed = ", ".join(f"{name}={_text(value)}" for name, value in verdict.setting.items())
        output.line(f"{'accepted' if verdict.accepted else 'refused'}\t{changed}\t{verdict.reason}")
        rows = [
            (
                str(number),
                ", ".join(f"{name}={_text(value)}" for name, value in fold.setting.items()),
                f"{fold.learnt_gain:+.4f}",
                f"{fold.held_out_gain:+.4f}",
                counted(fold.questions, "question"),
            )
            for number, fold in enumerate(verdict.folds, 1)
        ]
        if output.terminal:
            output.table(("fold", "chosen without it", "gain there", "gain held out", ""), rows)
        if saved is not None:
            output.say(
                f"saved as {saved}: memorata recall --recipe {saved}; memorata recipes rollback {saved}"
            )
    if not verdict.accepted:
        session.leave(REFUSED)


def _text(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _grid(over: list[str]) -> dict[str, list[Any]]:
    """Return the grid that ``--over`` describes, each value in the type of its parameter."""
    grid: dict[str, list[Any]] = {}
    for assignment in over:
        name, equals, text = assignment.partition("=")
        if not equals or not text:
            raise InvalidArgument("--over", assignment, "NAME=A,B,… or NAME=FROM:TO:STEP")
        values = text.split(",")
        if text.count(":") == 2:
            values = _steps(assignment, *text.split(":"))
        for value in values:
            ((parameter, parsed),) = parameter_values([f"{name}={value}"], "--over").items()
            grid.setdefault(parameter, []).append(parsed)
    return grid


def _steps(option: str, low: str, high: str, step: str) -> list[str]:
    from decimal import Decimal, InvalidOperation

    try:
        first, last, by = Decimal(low), Decimal(high), Decimal(step)
        if by <= 0 or last < first or (last - first) / by > 1000:
            raise InvalidOperation
    except InvalidOperation as error:
        raise InvalidArgument("--over", option, "NAME=FROM:TO:STEP with up to a thousand steps") from error
    return [str(first + by * number) for number in range(int((last - first) / by) + 1)]


def _draw_grid(session: Session, tuned: Tuned, folder: Path) -> None:
    """Draw the grid as a heat map, where it has two numeric parameters; a curve of one is its table."""
    import numpy as np

    from memorata_lab.learn.plots import draw_heat_map

    names = list(tuned.verdict.setting)
    values_of = [{setting[name] for setting, _ in tuned.scores[1:]} for name in names]
    if len(names) != 2 or any(isinstance(value, str | bool) for values in values_of for value in values):
        session.output.say("A heat map needs exactly two parameters that are numbers; nothing was drawn.")
        return
    first, second = map(sorted, values_of)
    means = {tuple(setting[name] for name in names): mean for setting, mean in tuned.scores}
    values = np.array([[means[row, column] for column in second] for row in first])
    folder.mkdir(parents=True, exist_ok=True)
    drawn = draw_heat_map(
        values,
        {names[0]: first, names[1]: second},
        (tuned.verdict.setting[names[0]], tuned.verdict.setting[names[1]]),
        folder / "weights.svg",
        title=f"Mean {tuned.metric} of each setting",
        value=tuned.metric,
        reached=means[tuned.verdict.setting[names[0]], tuned.verdict.setting[names[1]]],
    )
    session.output.say(f"Drawn: {drawn}")
