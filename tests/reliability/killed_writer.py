"""Kills a writer at random moments, again and again, and looks at what is left; run by test_kill.py.

The parent keeps a plain model of the store. A forked child applies random operations to the file, announcing
each on a pipe before it starts and acknowledging it when it is done; the parent kills it with SIGKILL and
opens the file. What is there must be the model after every acknowledged operation, with the one that was
under way either wholly done or not at all.
"""

import json
import os
import random
import select
import signal
import sys
import time
import traceback
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import memorata
from memorata.index import segments
from memorata.model.memory import Memory
from memorata.store.memory import memories as writing

Operation = dict[str, Any]
_PATIENCE = 30.0


@dataclass(frozen=True)
class Known:
    content: str
    confidence: float = 1.0
    forgotten: bool = False
    superseded_by: str | None = None


Model = dict[str, Known]


def chosen(model: Model, dice: random.Random, name: str) -> Operation:
    """Return a random operation that the model allows."""
    current = [id_ for id_, known in model.items() if known.superseded_by is None]
    kind = dice.choice(
        ["single", "single", "batch", "batch", "correct", "forget", "restore", "purge", "update"]
    )
    if kind == "single" or len(current) < 3:
        return {"kind": "add", "items": [[f"{name}-s", text(dice, f"{name}s")]]}
    if kind == "batch":
        count = dice.choice([2, 7, 40, 120])
        return {"kind": "add", "items": [[f"{name}-{n}", text(dice, f"{name}b{n}")] for n in range(count)]}
    if kind == "correct":
        return {
            "kind": kind,
            "old": dice.choice(current),
            "id": f"{name}-c",
            "content": text(dice, f"{name}c"),
        }
    if kind == "update":
        return {"kind": kind, "id": dice.choice(list(model)), "confidence": dice.randrange(100) / 100}
    return {"kind": kind, "ids": dice.sample(list(model), min(len(model), dice.choice([1, 3])))}


def text(dice: random.Random, mark: str) -> str:
    words = " ".join(
        dice.choices(["tea", "milk", "garden", "letter", "Monday", "train"], k=dice.choice([3, 30]))
    )
    return f"{words} {marked(mark)}"


def marked(name: str) -> str:
    """Return a word that only this memory has, of letters that no analyser splits or stems.

    Digits become letters that no name has (r, o, s, b and c are taken), or two names could share a word.
    """
    return "zq" + "".join("dfghjklmnp"[int(digit)] if digit.isdigit() else digit for digit in name) + "x"


def apply(engine: memorata.Engine, operation: Operation) -> None:
    match operation:
        case {"kind": "add", "items": items}:
            engine.remember_many([{"id": id_, "content": content} for id_, content in items])
        case {"kind": "correct", "old": old, "id": id_, "content": content}:
            engine.remember(content, id=id_, supersedes=(old,))
        case {"kind": "update", "id": id_, "confidence": confidence}:
            memory = engine.get(id_)
            engine.store.update(replace(memory, confidence=confidence), memory.version)
        case {"kind": "forget" | "restore" | "purge" as verb, "ids": ids}:
            getattr(engine, verb)(*ids)


def after(model: Model, operation: Operation) -> Model:
    """Return the model after an operation."""
    result = dict(model)
    match operation:
        case {"kind": "add", "items": items}:
            result |= {id_: Known(content) for id_, content in items}
        case {"kind": "correct", "old": old, "id": id_, "content": content}:
            result[id_] = Known(content)
            result[old] = replace(result[old], superseded_by=id_)
        case {"kind": "update", "id": id_, "confidence": confidence}:
            result[id_] = replace(result[id_], confidence=confidence)
        case {"kind": "forget" | "restore" as verb, "ids": ids}:
            result |= {id_: replace(result[id_], forgotten=verb == "forget") for id_ in ids}
        case {"kind": "purge", "ids": ids}:
            for id_ in ids:
                heir = result.pop(id_).superseded_by
                for other, known in result.items():
                    if known.superseded_by == id_:
                        result[other] = replace(known, superseded_by=heir)
    return result


def stored(engine: memorata.Engine) -> Model:
    """Return what is in the file, as a model."""
    every: list[Memory] = list(engine.store.export(None))
    shown = {memory.id for memory in engine.list(limit=10**6).memories}
    return {
        memory.id: Known(
            memory.content,
            memory.confidence,
            forgotten=memory.id not in shown and memory.superseded_by is None,
            superseded_by=memory.superseded_by,
        )
        for memory in every
    }


def comparable(model: Model) -> Model:
    """Return a model without what a listing cannot tell: whether a superseded memory is also forgotten."""
    return {
        id_: replace(known, forgotten=known.forgotten and known.superseded_by is None)
        for id_, known in model.items()
    }


def child(path: Path, model: Model, seed: int, name: str, pipe: int) -> None:
    dice = random.Random(seed)
    engine = memorata.open(path, embedder="lexical")
    for number in range(10_000):
        operation = chosen(model, dice, f"{name}o{number}")
        os.write(pipe, b"?" + json.dumps(operation).encode() + b"\n")
        apply(engine, operation)
        os.write(pipe, b"!\n")
        model = after(model, operation)


def heard(pipe: int, seconds: float) -> bytes:
    """Return what a child says within some time."""
    said, end = b"", time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        if select.select([pipe], [], [], left)[0]:
            part = os.read(pipe, 1 << 16)
            if not part:
                break
            said += part
    return said


def one_round(path: Path, model: Model, seed: int, name: str) -> tuple[Model, int, bool]:
    """Run and kill a writer; return the model of what is left, how much it had done, and what it was at."""
    dice = random.Random(seed)
    receiving, sending = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(receiving)
        try:
            child(path, model, seed, name, sending)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)
    os.close(sending)
    if dice.random() < 0.8:
        # On a busy machine opening takes longer than a writer lives; the other rounds kill it even then.
        select.select([receiving], [], [], _PATIENCE)
    said = heard(receiving, dice.choice([0.01, 0.04, 0.1, 0.2]) * dice.random() + 0.01)
    os.kill(process, signal.SIGKILL)
    _, status = os.waitpid(process, 0)
    said += heard(receiving, 1.0)
    os.close(receiving)
    assert os.WIFSIGNALED(status), f"the writer ended by itself in round {name}"
    lines = said.split(b"\n")
    underway: Operation | None = None
    done = 0
    for line in lines[:-1]:
        if line == b"!":
            assert underway is not None
            model, underway, done = after(model, underway), None, done + 1
        else:
            underway = json.loads(line[1:])
    possible = [model] if underway is None else [model, after(model, underway)]

    with memorata.open(path, embedder="lexical") as engine:
        found = stored(engine)
        problems = engine.admin.check()
        assert problems == [], (name, problems)
        matching = [each for each in possible if comparable(each) == found]
        assert matching, (name, underway, difference(possible[0], found))
        recall_is_right(engine, matching[0], dice)
    return matching[0], done, underway is not None


def difference(model: Model, found: Model) -> list[str]:
    wanted = comparable(model)
    return [id_ for id_ in wanted.keys() | found.keys() if wanted.get(id_) != found.get(id_)][:5]


def recall_is_right(engine: memorata.Engine, model: Model, dice: random.Random) -> None:
    for id_ in dice.sample(list(model), min(4, len(model))):
        known = model[id_]
        mark = known.content.split()[-1]
        hits = [hit.memory.id for hit in engine.recall(mark, recipe="bm25")]
        # Once it is superseded, the newest takes its place.
        newest = id_
        while (successor := model[newest].superseded_by) is not None:
            newest = successor
        shown = [] if known.forgotten or model[newest].forgotten else [newest]
        assert hits == shown, (id_, known, hits)


def main(folder: Path, rounds: int, seed: int) -> None:
    # What the first write loads is loaded here: some writers live for less time than that takes.
    with memorata.open(":memory:", embedder="lexical") as engine:
        apply(engine, {"kind": "add", "items": [["m1", "Anna likes tea"], ["m2", "tea on Monday"]]})
    model: Model = {}
    path = folder / "0.db"
    counts = {"rounds": 0, "acknowledged": 0, "underway": 0}
    for number in range(rounds):
        if number % 10 == 0:
            # Small segments in every second file, so that kills fall into flushes and merges.
            model, path = {}, folder / f"{number}.db"
            for module in (writing, segments):
                vars(module)["TAIL"] = 256 if number % 20 else 16
        model, done, underway = one_round(path, model, seed * 1_000 + number, f"r{number}")
        counts["rounds"] += 1
        counts["acknowledged"] += done
        counts["underway"] += underway
    sys.stdout.write(json.dumps(counts))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
