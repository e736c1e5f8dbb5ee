"""Extraction of names and relations by a language model or by spaCy."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, Final

from memorata.extend import frozen
from memorata.extend.embedding import character_passages
from memorata.extend.errors import (
    EmbeddingServiceError,
    MissingExtra,
    ServiceAnswerInvalid,
    ServiceRefused,
    shown,
)
from memorata.extend.model import Relation, checks, folded
from memorata.extend.roles import Entity, Extraction, Gazetteer, machine_names, non_overlapping
from memorata_models.chat import PROMPTS, ChatRole, answer_items

CHAT_TYPES: Final = ("person", "organisation", "location", "event", "work", "product", "other")
"""The types a model chooses from; any other word of its own counts as ``other``."""

PROMPT: Final = PROMPTS["extractor"].replace("{types}", ", ".join(CHAT_TYPES))

_NOT_SNAKE = re.compile(r"\W+")
_MAX_NAME_LENGTH = 200
_MAX_TYPE_LENGTH = 60


@frozen
class Reading:
    """What a model read in one text: entities with their types, and relations."""

    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()

    @classmethod
    def parsed(cls, data: object) -> Reading:
        """Return what can be used of one item of an answer; the rest of it is left out."""
        if not isinstance(data, dict):
            raise ServiceAnswerInvalid(
                f"the model said {shown(data)} about a text, where an object was expected"
            )
        entities, relations = [], []
        for item in _objects(data.get("entities")):
            if name := _words(item.get("name"), _MAX_NAME_LENGTH):
                kind = _words(item.get("type"), _MAX_TYPE_LENGTH).lower()
                entities.append(Entity(name, type=kind if kind in CHAT_TYPES else "other"))
        for item in _objects(data.get("relations")):
            ends = [_words(item.get(end), _MAX_NAME_LENGTH) for end in ("source", "target")]
            verb = _NOT_SNAKE.sub("_", _words(item.get("type"), _MAX_TYPE_LENGTH).lower()).strip("_")
            if all(ends) and verb:
                relations.append(Relation(ends[0], verb, ends[1]))
        return cls(tuple(entities), tuple(dict.fromkeys(relations)))

    @classmethod
    def joined(cls, parts: Sequence[Reading]) -> Reading:
        """Return the readings of the pieces of one text as one reading."""
        entities = {
            folded(entity.name): entity for part in reversed(parts) for entity in reversed(part.entities)
        }
        relations = dict.fromkeys(relation for part in parts for relation in part.relations)
        return cls(tuple(reversed(entities.values())), tuple(relations))

    def grounded(
        self, text: str, declared: Gazetteer
    ) -> tuple[list[tuple[int, int, str]], tuple[Relation, ...]]:
        """Return where the names stand in `text`, and the relations between names that stand there."""
        names = Gazetteer(self.entities)
        spans = [(start, end, names.owner(text[start:end])) for start, end in names.spans(text)]
        present = {folded(text[start:end]) for start, end, _ in spans}
        present |= {folded(text[start:end]) for start, end in declared.spans(text)}
        return (
            [(start, end, entity.type if entity else "other") for start, end, entity in spans],
            tuple(r for r in self.relations if {folded(r.source), folded(r.target)} <= present),
        )


def readings(answer: object, count: int) -> list[Reading]:
    """Return what an answer to `count` texts says about each of them."""
    return [Reading.parsed(item) for item in answer_items(answer, "texts", count)]


def _objects(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _words(value: object, max_length: int) -> str:
    """Return a short text without odd blanks; nothing where there is none, or far too much."""
    text = " ".join(value.split()) if isinstance(value, str) else ""
    return text if len(text) <= max_length else ""


_TEXT_DEPENDENT_STATUSES = frozenset({400, 413, 422})
"""Refusals that may be about one text of a batch, or its size; the others are about all of them."""
_PIECES_PER_REQUEST = 8
_MAX_PIECE_LENGTH = 4_000
"""Characters of a piece of a text."""
_OVERLAP_DIVISOR = 8
"""The part of a piece that the next one repeats is one in this many characters."""


class ChatExtractor(ChatRole):
    """Reads names and relations by asking a language model."""

    @property
    def name(self) -> str:
        """Identity of the reader: the model, and the query it is asked."""
        return self._service.name(PROMPT)

    def extract(self, texts: Sequence[str], gazetteer: Gazetteer | None = None) -> list[Extraction]:
        """Return the mentions and relations of each text, or nothing and why."""
        checked = checks.texts("texts", texts)
        gazetteer = gazetteer or Gazetteer()
        overlap = _MAX_PIECE_LENGTH // _OVERLAP_DIVISOR
        pieces = [character_passages(text, _MAX_PIECE_LENGTH, overlap) for text in checked]
        unique = dict.fromkeys(piece for parts in pieces for piece in parts if piece.strip())
        readings_by_piece: dict[str, Reading] = {}
        failures = self._ask(list(unique), readings_by_piece)
        return [
            self._extraction(text, parts, readings_by_piece, failures, gazetteer)
            for text, parts in zip(checked, pieces, strict=True)
        ]

    def _extraction(
        self,
        text: str,
        parts: Sequence[str],
        readings_by_piece: Mapping[str, Reading],
        failures: Mapping[str, str],
        gazetteer: Gazetteer,
    ) -> Extraction:
        failure = next((failures[part] for part in parts if part in failures), "")
        reading = Reading.joined([readings_by_piece[part] for part in parts if part in readings_by_piece])
        if failure:
            return Extraction(failure=failure)
        mentions, relations = reading.grounded(text, gazetteer)
        spans = [(start, end, "known") for start, end in gazetteer.spans(text)]
        return Extraction(non_overlapping(text, [*spans, *mentions, *machine_names(text)]), relations)

    def _ask(self, pieces: list[str], readings_by_piece: dict[str, Reading]) -> dict[str, str]:
        """Ask about the pieces, put what is read into `read`, and return why the others are not there."""
        failures: dict[str, str] = {}
        starts = range(0, len(pieces), _PIECES_PER_REQUEST)
        waiting = [pieces[start : start + _PIECES_PER_REQUEST] for start in starts]
        while waiting:
            batch = waiting.pop(0)
            try:
                answers = readings(self._service.ask_about(PROMPT, batch), len(batch))
            except EmbeddingServiceError as error:
                if _concerns_some(error) and len(batch) > 1:
                    # One text may have spoilt the answer for the others: each is asked about alone.
                    waiting = [[piece] for piece in batch] + waiting
                elif _concerns_some(error):
                    failures[batch[0]] = str(error)
                else:
                    # A service that is away, or refuses the key, is not asked for the other batches.
                    failures |= dict.fromkeys(
                        [*batch, *(piece for other in waiting for piece in other)], str(error)
                    )
                    break
            else:
                readings_by_piece |= dict(zip(batch, answers, strict=True))
        return failures


def _concerns_some(error: EmbeddingServiceError) -> bool:
    """Return whether an error may be about one text, and not about the service."""
    if isinstance(error, ServiceRefused):
        return error.status in _TEXT_DEPENDENT_STATUSES
    return isinstance(error, ServiceAnswerInvalid)


SPACY_KINDS: Final = {
    **dict.fromkeys(("PERSON", "PER"), "person"),
    "ORG": "organisation",
    **dict.fromkeys(("GPE", "LOC", "FAC"), "location"),
    "EVENT": "event",
    "WORK_OF_ART": "work",
    "PRODUCT": "product",
    **dict.fromkeys(("NORP", "LANGUAGE", "LAW", "MISC"), "other"),
}
"""What the labels of spaCy's models are called here; labels that are not listed are left out."""


class SpacyExtractor:
    """Reads names with an installed spaCy model."""

    def __init__(self, model: str = "en_core_web_sm", *, batch: int = 64) -> None:
        self._model = checks.text("model", model)
        self._batch = checks.whole("batch", batch, 1)
        self._pipeline = _loaded(model)

    @property
    def name(self) -> str:
        """Identity of the reader: the model and its version."""
        return f"spacy:{self._model}@{self._pipeline.meta.get('version', '?')}"

    def extract(self, texts: Sequence[str], gazetteer: Gazetteer | None = None) -> list[Extraction]:
        """Return the mentions of each text; a tagger reads no relations."""
        checked = checks.texts("texts", texts)
        gazetteer = gazetteer or Gazetteer()
        extractions = []
        for text, document in zip(checked, self._pipeline.pipe(checked, batch_size=self._batch), strict=True):
            spans = [(start, end, "known") for start, end in gazetteer.spans(text)]
            spans += machine_names(text)
            spans += [
                (entity.start_char, entity.end_char, SPACY_KINDS[entity.label_])
                for entity in document.ents
                if entity.label_ in SPACY_KINDS and entity.text.strip()
            ]
            extractions.append(Extraction(non_overlapping(text, spans)))
        return extractions


def _loaded(model: str) -> Any:  # noqa: ANN401 - a pipeline of a library that need not be there
    try:
        spacy = import_module("spacy")
    except ImportError as error:
        raise MissingExtra("The spaCy entity extractor", "'./packages/memorata-models[spacy]'") from error
    try:
        return spacy.load(model)
    except OSError as error:
        # Models are not on PyPI; spaCy fetches them itself.
        raise MissingExtra(
            f"The spaCy model {model}", f"spacy && python -m spacy download {model}"
        ) from error
