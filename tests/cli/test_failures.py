"""Each error has its exit code."""

import pytest

from memorata.cli.failures import exit_code
from memorata.model import errors

CODES = {
    errors.MemorataError: 2,
    errors.InvalidArgument: 2,
    errors.AlreadySuperseded: 2,
    errors.NotGiven: 2,
    errors.MissingExtra: 4,
    errors.DatasetError: 2,
    errors.NotEnoughData: 2,
    errors.StoreError: 3,
    errors.StoreCorrupt: 3,
    errors.NotSupportedHere: 3,
    errors.ServerUnsuitable: 3,
    errors.PoolExhausted: 3,
    errors.ReplyErased: 3,
    errors.AccessDenied: 2,
    errors.NotAdmitted: 2,
    errors.StoreTooNew: 3,
    errors.StoreUnavailable: 3,
    errors.StoreReadOnly: 3,
    errors.PurgeUnfinished: 3,
    errors.IndexCorrupt: 3,
    errors.MemoryNotFound: 1,
    errors.EntityNotFound: 1,
    errors.RecallNotFound: 1,
    errors.ExperimentNotFound: 1,
    errors.VersionConflict: 3,
    errors.WorkUnderWay: 3,
    errors.LeaseLost: 3,
    errors.EmbedderError: 4,
    errors.ConsentNeeded: 4,
    errors.ModelNotInstalled: 4,
    errors.ModelCorrupt: 4,
    errors.DimensionMismatch: 4,
    errors.EmbeddingServiceError: 4,
    errors.ServiceUnreachable: 4,
    errors.ServiceRefused: 4,
    errors.ServiceAnswerInvalid: 4,
}


@pytest.mark.parametrize("kind", CODES, ids=lambda kind: kind.__name__)
def test_every_error_has_its_code(kind: type[Exception]) -> None:
    assert exit_code(kind.__new__(kind)) == CODES[kind]


def test_no_error_was_left_out() -> None:
    there = {kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)}
    assert there == set(CODES)
