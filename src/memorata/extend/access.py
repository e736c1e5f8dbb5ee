"""Who may do what."""

from memorata.engine.access import (
    ADMIN,
    EVERYWHERE,
    LOCAL,
    READ,
    SCOPES,
    WRITE,
    Access,
    ApiKeys,
    is_token,
    namespace_pattern,
)

__all__ = [
    "ADMIN",
    "EVERYWHERE",
    "LOCAL",
    "READ",
    "SCOPES",
    "WRITE",
    "Access",
    "ApiKeys",
    "is_token",
    "namespace_pattern",
]
