r"""What has to be known about a model before its files can be used: ``model.toml``, or the files of a hub.

A model folder holds weights (``model.onnx`` or ``model.safetensors``), ``tokenizer.json``, and this::

    id = "snowflake-arctic-embed-s"
    kind = "onnx"                      # or "static", "pieces" (vectors.npy, pieces.txt), "ngrams"
    dimension = 384
    max_tokens = 512
    pooling = "cls"                    # or "mean"
    languages = ["en"]                 # those it was made for; left out when not known
    similarity_threshold = 0.7         # 0 when not measured
    reliability = 1.0                  # what meaning counts beside words: 1 for the best
    licence = "Apache-2.0"
    revision = "e596f507…"             # the publisher's commit, where known

    [prompts]
    query = "Represent this sentence for searching relevant passages: "
    document = ""

    [files]                            # the SHA-256 of every file, checked whenever the model is loaded
    "model.onnx" = "f93f…"
    "tokenizer.json" = "91f1…"

A re-ranker has no dimension, pooling, threshold and prompts, but::

    kind = "reranker"
    template = "Query: {q}\nSentence: {d}"   # or "pair": the tokeniser joins query and text
    output = "difference"                  # logit 1 - logit 0; or "logit", for a model with one

Of sentence-transformers models as the Hugging Face hub lays them out, read from disk and never downloaded,
the same facts are spread over several files: ``config.json`` (width, longest text, a re-ranker's outputs),
``sentence_bert_config.json`` (longest text), ``1_Pooling/config.json`` (pooling) and
``config_sentence_transformers.json`` (prompts).
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import tomllib
from collections.abc import Mapping
from dataclasses import field, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from memorata._environment import at_home
from memorata._frozen import frozen
from memorata.embed.port import Prompts
from memorata.model import checks
from memorata.model.errors import InvalidArgument, ModelCorrupt, ModelNotInstalled

DESCRIPTION: Final = "model.toml"
TOKENIZER: Final = "tokenizer.json"
KINDS: Final = {
    "onnx": "model.onnx",
    "static": "model.safetensors",
    "pieces": "vectors.npy",
    "ngrams": "weights.npz",
}
"""The kinds of embedder, and the name of the file that holds the weights of each."""
_TOKENIZERS: Final = {"pieces": "pieces.txt", "ngrams": "sp.model"}
POOLINGS: Final = ("cls", "mean")
MIN_WINDOW: Final = 16
"""Fewest tokens a model may read at once; below it, prompts would leave no room for text."""
RERANKER: Final = "reranker"
PAIR: Final = "pair"
OUTPUTS: Final = {"logit": 1, "difference": 2}
"""How a re-ranker's score is read from its output, and how many numbers a text must have there."""


@frozen
class ModelDescription:
    """The facts of an embedder's ``model.toml``."""

    id: str
    kind: str
    dimension: int
    max_tokens: int
    pooling: str
    similarity_threshold: float = 0.0
    licence: str = "unknown"
    revision: str = ""
    prompts: Prompts = field(default_factory=Prompts)
    files: Mapping[str, str] = field(default_factory=dict)
    languages: tuple[str, ...] = ()
    reliability: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "languages", checks.texts("languages", self.languages))
        checks.one_of("kind", self.kind, tuple(KINDS))
        checks.whole("dimension", self.dimension, 1)
        checks.one_of("pooling", self.pooling, POOLINGS)
        for name, low in (("similarity_threshold", -1.0), ("reliability", 0.0)):
            object.__setattr__(self, name, checks.within(name, getattr(self, name), low, 1.0))
        checks.text("prompts.query", self.prompts.query)
        checks.text("prompts.document", self.prompts.document)
        _check_common(self)

    @property
    def name(self) -> str:
        """The identity a store records: everything that decides a vector is in its digest."""
        facts = [self.revision, self.kind, self.dimension, self.max_tokens, self.pooling]
        facts += [self.prompts.query, self.prompts.document, sorted(self.files.items())]
        return f"{self.id}@{_digest(facts)}:{self.pooling}"

    @property
    def weights(self) -> str:
        """The name of the file that holds the weights."""
        return KINDS[self.kind]

    @property
    def tokenizer(self) -> str:
        """The name of the file that says how texts are cut into tokens."""
        return _TOKENIZERS.get(self.kind, TOKENIZER)

    @property
    def has_table(self) -> bool:
        """Whether it is a table with a row for each token."""
        return self.kind in ("static", "pieces")

    def as_toml(self) -> str:
        """Return the text of the ``model.toml`` that :func:`read_description` reads back."""
        prompts = {"query": self.prompts.query, "document": self.prompts.document}
        return _toml(self, prompts=prompts, files=self.files)


@frozen
class RerankerDescription:
    """The facts of a re-ranker's ``model.toml``.

    >>> tiny = RerankerDescription(id="tiny", max_tokens=32, template="Q: {q} D: {d}")
    >>> tiny.name, tiny.filled("who?", "Anna")
    ('tiny@e0eb1372', 'Q: who? D: Anna')
    """

    id: str
    max_tokens: int
    template: str = PAIR
    output: str = "logit"
    licence: str = "unknown"
    revision: str = ""
    files: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        template = checks.text("template", self.template)
        if template != PAIR and not (template.count("{q}") == template.count("{d}") == 1):
            raise InvalidArgument("template", template, f"{PAIR!r}, or a text with {{q}} and {{d}} once each")
        checks.one_of("output", self.output, tuple(OUTPUTS))
        _check_common(self)

    @property
    def kind(self) -> str:
        """Always ``"reranker"``."""
        return RERANKER

    @property
    def name(self) -> str:
        """Identity of the scores: everything that decides one is in its digest."""
        facts = [self.revision, self.max_tokens, self.template, self.output, sorted(self.files.items())]
        return f"{self.id}@{_digest(facts)}"

    @property
    def weights(self) -> str:
        """The name of the file that holds the weights."""
        return KINDS["onnx"]

    def filled(self, query: str, text: str) -> str:
        """Return the one text that a model with a template reads."""
        if self.template == PAIR:
            raise InvalidArgument("template", PAIR, "a text with {q} and {d}")
        # A query may hold "{d}" and a text "{q}", so neither may be filled into the other.
        before, _, after = self.template.partition("{d}")
        return before.replace("{q}", query) + text + after.replace("{q}", query)

    def as_toml(self) -> str:
        """Return the text of the ``model.toml`` that :func:`read_any_description` reads back."""
        return _toml(self, files=self.files)


Description: TypeAlias = ModelDescription | RerankerDescription
"""Of whatever model there may be in a folder."""


def described(facts: Mapping[str, Any]) -> Description:
    """Return the description that the facts of a ``model.toml`` make, by their kind."""
    other_facts = {name: value for name, value in facts.items() if name not in ("kind", "prompts")}
    if facts.get("kind") == RERANKER:
        return RerankerDescription(**other_facts)
    return ModelDescription(
        **other_facts, kind=facts.get("kind", ""), prompts=Prompts(**facts.get("prompts", {}))
    )


def read_description(folder: Path) -> ModelDescription:
    """Return the description of an embedder in ``folder/model.toml``; raises as the next one does."""
    description = read_any_description(folder)
    if not isinstance(description, ModelDescription):
        raise ModelCorrupt(f"{folder / DESCRIPTION} does not describe a model: it is a re-ranker's")
    return description


def read_any_description(folder: Path) -> Description:
    """Return the description in ``folder/model.toml``, of an embedder or of a re-ranker."""
    path = folder / DESCRIPTION
    try:
        facts = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ModelNotInstalled(f"there is no model in {folder}: it has no {DESCRIPTION}") from error
    except OSError as error:
        raise ModelCorrupt(f"{path} cannot be read: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ModelCorrupt(f"{path} is not a TOML file: {error}") from error
    try:
        description = described(facts)
    except (TypeError, AttributeError, InvalidArgument) as error:
        kind_name = "re-ranker" if facts.get("kind") == RERANKER else "model"
        raise ModelCorrupt(f"{path} does not describe a {kind_name}: {error}") from error
    tokenizer = description.tokenizer if isinstance(description, ModelDescription) else TOKENIZER
    missing = {description.weights, tokenizer} - set(description.files)
    if missing:
        raise ModelCorrupt(f"{path} names no SHA-256 for {' and '.join(sorted(missing))} under [files]")
    return description


def read_checked(folder: Path, name: str, digest: str | None) -> bytes:
    """Return the bytes of a model's file, once its SHA-256 is the pinned one; None pins nothing."""
    path = folder / name
    try:
        content = path.read_bytes()
    except FileNotFoundError as error:
        raise ModelNotInstalled(f"{path} is missing: install the model again") from error
    except OSError as error:
        raise ModelCorrupt(f"{path} cannot be read: {error.strerror or error}") from error
    if digest is not None:
        actual = hashlib.sha256(content).hexdigest()
        if actual != digest.lower():
            raise ModelCorrupt(f"{path} has SHA-256 {actual}, not the pinned {digest}: install it again")
    return content


def package_folder(package: str) -> Path | None:
    """Return where a data package is installed, without importing it; None when it is not."""
    spec = importlib.util.find_spec(package)
    return None if spec is None or spec.origin is None else Path(spec.origin).parent


def _check_common(description: Description) -> None:
    """Check what every model has, and make its files immutable."""
    for name in ("id", "licence", "revision"):
        checks.text(name, getattr(description, name))
    checks.whole("max_tokens", description.max_tokens, MIN_WINDOW)
    for name, digest in description.files.items():
        checks.text(f"files[{name!r}]", digest)
    object.__setattr__(description, "files", MappingProxyType(dict(description.files)))


def _digest(facts: list[Any]) -> str:
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:8]


def _toml(description: Description, **tables: Mapping[str, str]) -> str:
    names = dict.fromkeys(["id", "kind", *(field.name for field in fields(description))])
    lines = [f"{name} = {_toml_value(getattr(description, name))}" for name in names if name not in tables]
    for table, entries in tables.items():
        lines.append(f"\n[{table}]")
        # Names of files have dots, which TOML would read as tables within tables.
        key = _toml_value if table == "files" else str
        lines += [f"{key(name)} = {_toml_value(value)}" for name, value in entries.items()]
    return "\n".join([*lines, ""])


def _toml_value(value: object) -> str:
    """Return a value in TOML; a JSON string is also a TOML string, except for the delete character."""
    if not isinstance(value, str):
        return repr(list(value) if isinstance(value, tuple) else value)
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


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
