"""What an error means: code, status and exit code, and nothing that is for the operator alone."""

import pytest

from memorata.model import errors
from memorata.model.errors import InvalidArgument, MemorataError
from memorata.service.errors import INTERNAL, ErrorKind, Overloaded, TimedOut, kind_of, public_detail


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (errors.InvalidArgument("limit", -1, "at least 0"), ErrorKind("invalid", 422, 2)),
        (errors.MemoryNotFound("m1", "acme"), ErrorKind("not-found", 404, 1)),
        (errors.EntityNotFound("Anna", "acme"), ErrorKind("not-found", 404, 1)),
        (errors.NotAdmitted("x"), ErrorKind("not-admitted", 401, 2)),
        (errors.VersionConflict("m1", 1, 2), ErrorKind("version-conflict", 409, 3)),
        (errors.StoreReadOnly("memories.db", "the file may not be written"), ErrorKind("read-only", 403, 3)),
        (errors.StoreUnavailable("locked"), ErrorKind("unavailable", 503, 3)),
        (errors.MissingExtra("x", "y"), ErrorKind("not-installed", 501, 4)),
        (errors.ModelCorrupt("model.onnx"), ErrorKind("internal", 500, 4)),
        (errors.StoreCorrupt("damaged"), ErrorKind("internal", 500, 3)),
        (Overloaded(), ErrorKind("unavailable", 503, 3)),
        (TimedOut(), ErrorKind("took-too-long", 504, 3)),
        (KeyError("x"), INTERNAL),
    ],
)
def test_every_error_has_a_code_a_status_and_an_exit_code(error: Exception, kind: ErrorKind) -> None:
    assert kind_of(error) == kind


def test_every_error_of_ours_has_one() -> None:
    def below(kind: type[Exception]) -> set[type[Exception]]:
        return {kind}.union(*(below(each) for each in kind.__subclasses__()))

    for type_ in below(MemorataError):
        kind = kind_of(type_.__new__(type_))
        assert 400 <= kind.status < 600
        assert kind.exit_code in (1, 2, 3, 4)


def test_where_a_server_keeps_what_is_not_told() -> None:
    for error in (errors.StoreUnavailable("/srv/m.db is locked"), OSError("/srv/m.db")):
        assert "/srv" not in public_detail(error)
        assert "log says" in public_detail(error)


def test_an_example_of_kind_of() -> None:
    assert kind_of(InvalidArgument("limit", -1, "at least 0")) == ErrorKind(
        code="invalid", status=422, exit_code=2
    )
    assert kind_of(KeyError("x")).status == 500


def test_an_example_of_public_detail() -> None:
    assert public_detail(InvalidArgument("limit", -1, "at least 0")) == "limit must be at least 0, got -1"
    assert public_detail(KeyError("a memory")) == "the server's log says more"
