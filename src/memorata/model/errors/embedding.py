"""Errors of what turns texts into vectors: its files, its shape, and the services that do it elsewhere."""

from __future__ import annotations

from functools import partial

from memorata.model.errors.general import MemorataError


class EmbedderError(MemorataError):
    """A text could not be turned into a vector."""


class ConsentNeeded(EmbedderError):
    """A database names a service or a folder that nobody on this machine has agreed to; it is left alone."""


class ModelNotInstalled(EmbedderError):
    """The model's files are not on this machine; the message says how to get them."""


class ModelCorrupt(EmbedderError):
    """The model's files are damaged, or not the ones whose hashes were pinned; they are not used."""


class DimensionMismatch(EmbedderError):
    """An embedder gives vectors of another length than it, or the store, declared.

    Parameters
    ----------
    embedder
        Which embedder.
    expected, got
        How long its vectors should be, and how long they are.
    advice
        What to do about it.

    Examples
    --------
    >>> raise DimensionMismatch("ollama:nomic-embed-text", expected=384, got=768)
    Traceback (most recent call last):
    ...
    memorata.model.errors.DimensionMismatch: ollama:nomic-embed-text gave vectors of 768 dimensions where 384
    were expected: name the model the store was written with, or re-embed the store
    """

    def __init__(
        self,
        embedder: str,
        expected: int,
        got: int,
        advice: str = "name the model the store was written with, or re-embed the store",
    ) -> None:
        self.embedder = embedder
        self.expected = expected
        self.got = got
        self.advice = advice
        super().__init__(
            f"{embedder} gave vectors of {got} dimensions where {expected} were expected: {advice}"
        )

    def __reduce__(self) -> tuple[type[DimensionMismatch], tuple[str, int, int, str]]:
        """Pickle by the constructor's arguments, so that the error survives a process boundary."""
        return type(self), (self.embedder, self.expected, self.got, self.advice)


class EmbeddingServiceError(EmbedderError):
    """An embedding service did not answer as it should."""


class ServiceUnreachable(EmbeddingServiceError):
    """The service could not be reached, was too slow, or kept failing after every retry.

    Parameters
    ----------
    message
        What happened and what to do about it.
    status
        The HTTP status of the last answer; None if there was none.
    """

    def __init__(self, message: str, status: int | None = None) -> None:
        self.status = status
        super().__init__(message)

    def __reduce__(self) -> tuple[type[ServiceUnreachable], tuple[str, int | None]]:
        """Pickle by the constructor's arguments, so that the error survives a process boundary."""
        return type(self), (str(self), self.status)


class ServiceRefused(EmbeddingServiceError):
    """The service answered, and the answer was no; asking again would not help.

    Parameters
    ----------
    message
        What happened and what to do about it.
    status
        The HTTP status of the answer.
    too_long
        Whether it was for the length of what was sent, as far as the answer tells.
    """

    def __init__(self, message: str, status: int, *, too_long: bool = False) -> None:
        self.status = status
        self.too_long = too_long
        super().__init__(message)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by the constructor's arguments, so that the error survives a process boundary."""
        return partial(type(self), too_long=self.too_long), (str(self), self.status)


class ServiceAnswerInvalid(EmbeddingServiceError):
    """The service answered with something that is not the vectors asked for."""
