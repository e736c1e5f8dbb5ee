"""Models of sentence-transformers as the Hugging Face hub lays them out, read from disk and never downloaded.

The facts of a ``model.toml`` are spread over several files there: ``config.json`` (width, longest text, a
re-ranker's outputs), ``sentence_bert_config.json`` (longest text), ``1_Pooling/config.json`` (pooling) and
``config_sentence_transformers.json`` (prompts).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memorata.extend.embedding import TOKENIZER, ModelDescription, Prompts
from memorata.extend.environment import at_home
from memorata.extend.errors import InvalidArgument, ModelCorrupt, ModelNotInstalled
from memorata_models.description import OUTPUTS, RerankerDescription

MAX_WINDOW = 2048
"""Most tokens that are read at once, whatever a model could: each is compared with each other, which takes
gigabytes for eight thousand. A folder with a ``model.toml`` says for itself."""
_WEIGHTS = ("onnx/model.onnx", "model.onnx")
_STEPS = ("Transformer", "Pooling", "Normalize", "Dropout")
"""What a sentence encoder consists of that can be run here; dropping out is a matter of training."""
_MALFORMED = (TypeError, ValueError, OverflowError)
"""What comes of a number where a text should be, and the like."""
_ROBERTA_LIKE = ("roberta", "xlm-roberta", "camembert", "mpnet")
"""Architectures that count positions from 2, and so read two tokens fewer than they have positions."""


def hub_weights(folder: Path) -> str:
    """Return which file of a hub folder is the ONNX graph."""
    for name in _WEIGHTS:
        if (folder / name).is_file():
            return name
    raise ModelNotInstalled(f"there is no ONNX model in {folder}: neither {' nor '.join(_WEIGHTS)} exists")


def describe_hub_folder(folder: Path, *, model_id: str | None = None, revision: str = "") -> ModelDescription:
    """Return the description of a model from the hub's files, hashed where no commit is known."""
    names, config = _files(folder), _json(folder / "config.json", required=True)
    _check_steps(folder)
    sentence = _json(folder / "sentence_bert_config.json", required=False)
    pooling = _json(folder / "1_Pooling" / "config.json", required=False)
    prompts = _prompts(_json(folder / "config_sentence_transformers.json", required=False))
    if pooling.get("include_prompt") is False and prompts != Prompts() and _pooling(pooling) == "mean":
        raise ModelCorrupt(f"{folder} leaves its prompts out of the mean, which is not supported")
    files = {} if revision else {name: _sha256(folder / name) for name in names}
    try:
        return ModelDescription(
            id=model_id or folder.name,
            kind="onnx",
            dimension=config["dim" if config.get("model_type") == "distilbert" else "hidden_size"],
            max_tokens=_max_tokens(config, sentence),
            pooling=_pooling(pooling),
            prompts=prompts,
            revision=revision,
            files=files,
        )
    except KeyError as error:
        raise ModelCorrupt(f"{folder / 'config.json'} says nothing about {error}") from error
    except (InvalidArgument, *_MALFORMED) as error:
        raise ModelCorrupt(f"the files in {folder} do not describe a sentence encoder: {error}") from error


def describe_hub_reranker(folder: Path, *, model_id: str | None = None) -> RerankerDescription:
    """Return the description of a cross-encoder from the hub's files; its tokeniser joins query and text."""
    names, config = _files(folder), _json(folder / "config.json", required=True)
    try:
        built = list(config.get("architectures") or [])
        # A classifier whose file counts no labels has two: the hub's tools leave their default unwritten.
        labels = config.get("num_labels") or len(config.get("id2label") or ()) or 2
        output = next((name for name, count in OUTPUTS.items() if count == labels), None)
        if built and not any(str(name).endswith("ForSequenceClassification") for name in built):
            raise ModelCorrupt(f"{folder} holds no re-ranker but a {' and a '.join(map(str, built))}")
        if output is None:
            raise ModelCorrupt(f"{folder} sorts texts into {labels} classes; a re-ranker has one or two")
        return RerankerDescription(
            id=model_id or folder.name,
            max_tokens=_max_tokens(config, {}),
            output=output,
            files={name: _sha256(folder / name) for name in names},
        )
    except KeyError as error:
        raise ModelCorrupt(f"{folder / 'config.json'} says nothing about {error}") from error
    except (InvalidArgument, *_MALFORMED) as error:
        raise ModelCorrupt(f"the files in {folder} do not describe a re-ranker: {error}") from error


def cached_snapshot(repository: str, cache: Path) -> tuple[Path, str]:
    """Return the folder and the commit of a model that some program has already downloaded from the hub."""
    parts = repository.split("/")
    if len(parts) != 2 or not all(part and part not in (".", "..") and "\\" not in part for part in parts):
        raise InvalidArgument("repository", repository, "of the form organisation/name")
    home = cache / f"models--{parts[0]}--{parts[1]}"
    reference = home / "refs" / "main"
    snapshots = sorted(path for path in (home / "snapshots").glob("*") if path.is_dir())
    if reference.is_file():
        chosen = home / "snapshots" / reference.read_text(encoding="utf-8", errors="replace").strip()
        if chosen in snapshots:
            return chosen, chosen.name
    elif len(snapshots) == 1:
        return snapshots[0], snapshots[0].name
    raise ModelNotInstalled(
        f"{repository} is not in the hub cache {cache}: with huggingface_hub, hf download {repository}"
    )


def hub_cache(environment: Mapping[str, str], home: Path) -> Path:
    """Return where the hub's own tools keep what they download."""
    if environment.get("HF_HUB_CACHE"):
        return at_home(environment["HF_HUB_CACHE"], home)
    if environment.get("HF_HOME"):
        return at_home(environment["HF_HOME"], home) / "hub"
    base = Path(environment.get("XDG_CACHE_HOME") or home / ".cache")
    return base / "huggingface" / "hub"


def _files(folder: Path) -> list[str]:
    """Return the names of the files that decide what a model computes."""
    weights = hub_weights(folder)
    if not (folder / TOKENIZER).is_file():
        raise ModelNotInstalled(f"there is no {TOKENIZER} in {folder}")
    # The exporters have called the weights beside a graph by two names.
    names = (weights, weights + "_data", weights + ".data", TOKENIZER)
    return [name for name in names if (folder / name).is_file()]


def _max_tokens(config: Mapping[str, Any], sentence: Mapping[str, Any]) -> int:
    positions = int(config["max_position_embeddings"])
    if config.get("model_type") in _ROBERTA_LIKE:
        positions -= 2
    return min(positions, int(sentence.get("max_seq_length") or positions), MAX_WINDOW)


def _check_steps(folder: Path) -> None:
    """Refuse a model that does more with its tokens than to pool them."""
    steps = _json(folder / "modules.json", required=False, kind=list)
    for step in steps:
        # The name of the class; where its library keeps it has changed over the years.
        name = str(step.get("type", "") if isinstance(step, dict) else step).rpartition(".")[2]
        if name not in _STEPS:
            problem = "ends in a dense layer" if name == "Dense" else f"has a step {name!r}"
            raise ModelCorrupt(f"{folder} {problem}, which its ONNX graph does not contain")


def _prompts(config: Mapping[str, Any]) -> Prompts:
    """Return the prompts as sentence-transformers chooses them, for a query and for a document."""
    prompts = config.get("prompts") or {}
    if not isinstance(prompts, dict):
        raise ModelCorrupt(f"prompts have names and texts, and not the form {prompts!r}")
    usual = config.get("default_prompt_name")
    chosen = (
        next((name for name in names if name in prompts), usual)
        for names in (("query",), ("document", "passage", "corpus"))
    )
    query, document = (prompts.get(name) or "" if isinstance(name, str) else "" for name in chosen)
    return Prompts(query, document)


def _pooling(config: Mapping[str, Any]) -> str:
    # One word or a list of them; in folders written some years ago a flag for every way there is.
    mode = config.get("pooling_mode")
    chosen = [mode] if isinstance(mode, str) else mode
    if chosen is None:
        chosen = [
            key.removeprefix("pooling_mode_")
            for key, on in config.items()
            if key.startswith("pooling_mode_") and on
        ]
    if not isinstance(chosen, list):
        raise ModelCorrupt(f"pooling is given by a name, and not by {chosen!r}")
    # A folder without pooling settings is read as sentence-transformers reads it: with the mean.
    if not chosen:
        return "mean"
    supported = {"cls_token": "cls", "mean_tokens": "mean", "cls": "cls", "mean": "mean"}
    if len(chosen) > 1 or chosen[0] not in supported:
        raise ModelCorrupt(
            f"pooling by {' and '.join(map(str, chosen))} is not supported; cls_token and mean_tokens are"
        )
    return supported[chosen[0]]


def _json(path: Path, *, required: bool, kind: type = dict) -> Any:  # noqa: ANN401 - whatever the file holds
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        if required:
            raise ModelNotInstalled(f"{path} is missing") from error
        return kind()
    except OSError as error:
        raise ModelCorrupt(f"{path} cannot be read: {error}") from error
    except (ValueError, RecursionError) as error:
        raise ModelCorrupt(f"{path} is not JSON: {error}") from error
    if not isinstance(content, kind):
        raise ModelCorrupt(f"{path} should hold a JSON {'object' if kind is dict else 'array'}")
    return content


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
