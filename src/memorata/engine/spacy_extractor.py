"""Names by a spaCy pipeline, for those who have one: statistical tagging behind the same port as the rules.

spaCy (Honnibal & Montani 2017) and its models are not dependencies; they are imported when an extractor is
made. What a tagger was not trained for, addresses, code, handles and the names of the namespace, is still
read by the rules. Dates, amounts and counts are left out: time is read elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final

from memorata.model import checks
from memorata.model.errors import MissingExtra
from memorata.text.entities import Extraction, non_overlapping
from memorata.text.gazetteer import Gazetteer
from memorata.text.machine_names import machine_names

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
    """Reads names with an installed spaCy model.

    Parameters
    ----------
    model
        The name of the model's package, such as ``en_core_web_sm``.
    batch
        Texts the pipeline reads at a time.

    Raises
    ------
    MissingExtra
        spaCy or the model is not installed; the message says how to get it.
    """

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
        read = []
        for text, document in zip(checked, self._pipeline.pipe(checked, batch_size=self._batch), strict=True):
            found = [(start, end, "known") for start, end in gazetteer.spans(text)]
            found += machine_names(text)
            found += [
                (entity.start_char, entity.end_char, SPACY_KINDS[entity.label_])
                for entity in document.ents
                if entity.label_ in SPACY_KINDS and entity.text.strip()
            ]
            read.append(Extraction(non_overlapping(text, found)))
        return read


def _loaded(model: str) -> Any:  # noqa: ANN401 - a pipeline of a library that need not be there
    try:
        spacy = import_module("spacy")
    except ImportError as error:
        raise MissingExtra("The spaCy entity extractor", "spacy") from error
    try:
        return spacy.load(model)
    except OSError as error:
        # Models are not on PyPI; spaCy fetches them itself.
        raise MissingExtra(
            f"The spaCy model {model}", f"spacy && python -m spacy download {model}"
        ) from error
