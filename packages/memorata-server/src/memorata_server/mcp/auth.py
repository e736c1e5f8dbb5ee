"""Authentication over HTTP: by an API key, or by the access token of an OAuth issuer named in the settings.

The SDK does the protocol: it reads the header, answers 401 and 403 as RFC 6750 says, and publishes where
tokens are issued (RFC 9728). Here a token becomes an :class:`~memorata.engine.access.Access`. A token of an
issuer is a JWT (RFC 9068) for this server (`aud`) with the claims ``scope`` (read, write, admin) and
``namespaces`` (patterns such as ``acme/*``, a list or a text with spaces between); PyJWT checks it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from functools import cached_property
from typing import Any, Final

import httpx2
import jwt
from mcp.client.auth.utils import build_oauth_authorization_server_metadata_discovery_urls
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from pydantic import AnyHttpUrl
from starlette.requests import Request

from memorata.extend.access import READ, SCOPES, Access, ApiKeys, is_token, namespace_pattern
from memorata.extend.errors import AccessDenied, InvalidArgument, NotAdmitted

_NAMESPACES: Final = "namespaces"
_ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "EdDSA")
_REQUIRED_CLAIMS: Final = ("exp", "iss", "aud", "sub")
_TIMEOUT_SECONDS: Final = 10.0
_LOG: Final = logging.getLogger(__name__)


def fetched(address: str) -> dict[str, Any] | None:
    """Return the JSON object at an address; None where there is none."""
    response = httpx2.get(address, timeout=_TIMEOUT_SECONDS)
    document = response.json() if response.status_code == 200 else None
    return document if isinstance(document, dict) else None


class Issuer:
    """An OAuth issuer whose tokens are taken, if they are for `resource`, the address of this server."""

    def __init__(
        self, address: str, resource: str, fetch: Callable[[str], dict[str, Any] | None] = fetched
    ) -> None:
        self.address, self.resource = address, resource
        self._fetch = fetch

    def access(self, token: str) -> Access:
        """Return what the bearer of a token may do; NotAdmitted is raised for one that is not good."""
        try:
            key = self._keys.get_signing_key_from_jwt(token)
            claims = jwt.decode(
                token,
                key,
                algorithms=list(_ALGORITHMS),
                audience=self.resource,
                issuer=self.address,
                options={"require": list(_REQUIRED_CLAIMS)},
            )
            patterns = tuple(
                namespace_pattern(_NAMESPACES, word) for word in _words(claims.get(_NAMESPACES, []))
            )
        except (jwt.PyJWTError, InvalidArgument, httpx2.HTTPError) as error:
            _LOG.warning("a token of the issuer is refused: %s", error)
            raise NotAdmitted("this token is not of the issuer, not for this server, or over") from error
        scopes = tuple(scope for scope in SCOPES if scope in _words(claims.get("scope", "")))
        return Access(f"{claims['iss']}#{claims['sub']}", patterns, scopes)

    @cached_property
    def _keys(self) -> jwt.PyJWKClient:
        for place in build_oauth_authorization_server_metadata_discovery_urls(self.address, self.address):
            described = self._fetch(place)
            if described is not None and described.get("issuer") == self.address:
                return jwt.PyJWKClient(described["jwks_uri"], timeout=_TIMEOUT_SECONDS)
        raise InvalidArgument("--issuer", self.address, "an issuer that describes itself (RFC 8414)")


class Verifier:
    """What the SDK asks about every token."""

    def __init__(self, keys: ApiKeys, issuer: Issuer | None = None) -> None:
        self._keys, self._issuer = keys, issuer

    @property
    def settings(self) -> AuthSettings:
        """What the SDK publishes: where tokens come from, if not all of them are keys."""
        issuer = self._issuer
        return AuthSettings(
            # Without a resource nothing is published, and this address is never shown.
            issuer_url=AnyHttpUrl("http://localhost" if issuer is None else issuer.address),
            resource_server_url=None if issuer is None else AnyHttpUrl(issuer.resource),
            required_scopes=[READ],
            # The audience is checked with the rest of the token, and a key has none.
            validate_token_resource=False,
        )

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return the access that a token grants; None for an invalid one."""
        access = self._keys.authenticate_cached(token)
        if access is None:
            try:
                access = await asyncio.to_thread(self._access, token)
            except NotAdmitted:
                return None
        scopes = [scope for scope in SCOPES if access.may(scope)]
        claims = {_NAMESPACES: list(access.namespaces)}
        return AccessToken(token=token, client_id=access.name, scopes=scopes, claims=claims)

    def _access(self, token: str) -> Access:
        if self._issuer is None or is_token(token):
            return self._keys.authenticate(token)
        return self._issuer.access(token)


def access_of(request: Request | None) -> Access | None:
    """Return what the caller of a request may do; None without keys."""
    user = None if request is None else request.scope.get("user")
    token: AccessToken | None = getattr(user, "access_token", None)
    if token is None:
        return None
    return Access(token.client_id, tuple((token.claims or {})[_NAMESPACES]), tuple(token.scopes))


def namespace_of(request: Request | None, scope: str, own: str) -> str | None:
    """Return the namespace of a request, which its caller may use as `scope` says; None without keys.

    It is that of the address (``/mcp?namespace=acme/alice``); otherwise the server's own if the key is
    for it, or the one that the key is for.
    """
    access = access_of(request)
    if request is None or access is None:
        return None
    path = request.query_params.get("namespace")
    if path is None:
        alone = [pattern for pattern in access.namespaces if not pattern.endswith("*")]
        if not access.reaches(own) and (len(alone) != 1 or len(access.namespaces) != 1):
            raise AccessDenied("which namespace? Add it to the server's address: ?namespace=acme/alice")
        path = own if access.reaches(own) else alone[0]
    access.require(scope, path)
    return path


def _words(value: object) -> list[str]:
    """Return the words of a claim, which is a text or a list."""
    return value.split() if isinstance(value, str) else [str(item) for item in value or ()]  # type: ignore[attr-defined]
