"""The OpenID provider that an operator names: where it sends people, and what it says of them.

Authlib speaks the protocol: the code flow with PKCE, state and nonce, and the token's signature and
claims. What is added holds it to the provider that was named.
"""

from __future__ import annotations

import time
from functools import lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from django.conf import settings

from memoryhub.errors import MemoryHubError
from memoryhub.places import step_aside

if TYPE_CHECKING:
    from authlib.integrations.django_client import DjangoOAuth2App

_TIMEOUT_SECONDS = 10
# The clock of the provider may be another.
_LEEWAY_SECONDS = 60
# Of what the provider says of itself, its keys among it.
_KEPT_SECONDS = 3600
# Signed with a key of the provider's own: neither "none" nor a secret that both sides have.
_ALGORITHMS: tuple[str, ...] = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")
_ALGORITHMS += ("ES256", "ES384", "ES512", "EdDSA", "Ed25519")
_ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri", "end_session_endpoint")
_HERE = {"localhost", "127.0.0.1", "::1"}


class ProviderFailed(MemoryHubError):
    """The provider can't be asked, or what it says isn't believed. The message is for the log."""

    code = "provider_failed"


class BegunSignOn(NamedTuple):
    """Where the browser goes, and what tells that what comes back is of this sign-in."""

    url: str
    state: str
    nonce: str
    code_verifier: str


def is_sign_on_offered() -> bool:
    return bool(settings.OIDC_ISSUER) and is_sign_on_installed()


def is_sign_on_installed() -> bool:
    return find_spec("authlib") is not None and find_spec("requests") is not None


def check_provider_address(address: str) -> str:
    """The address itself. Raises ValueError for one that could be listened to on the way."""
    parts = urlsplit(address)
    is_here = parts.scheme == "http" and parts.hostname in _HERE
    if address and not (is_here or (parts.scheme == "https" and parts.hostname)):
        raise ValueError("use https://…")
    return address


def begin_sign_on(return_address: str) -> BegunSignOn:
    """Raises ProviderFailed."""
    begun = _ask(lambda app: app.create_authorization_url(return_address))
    return BegunSignOn(begun["url"], begun["state"], begun["nonce"], begun["code_verifier"])


def finish_sign_on(code: str, begun: BegunSignOn, return_address: str) -> dict[str, Any]:
    """What the provider's token says of whoever came back with this code. Raises ProviderFailed."""
    claims_options = {
        "iss": {"essential": True, "value": settings.OIDC_ISSUER},
        "aud": {"essential": True, "value": settings.OIDC_CLIENT_ID},
    }

    def fetch(app: DjangoOAuth2App) -> Any:
        token = app.fetch_access_token(return_address, code=code, code_verifier=begun.code_verifier)
        return app.parse_id_token(
            token, begun.nonce, claims_options=claims_options, leeway=_LEEWAY_SECONDS
        )

    claims = _ask(fetch)
    if not claims or not isinstance(claims.get("sub"), str) or not claims["sub"]:
        raise ProviderFailed("there is no token that says who this is")
    return dict(claims)


def build_sign_out_address(back: str) -> str:
    """Where the provider's own session is ended; "" where it says nothing of that. Raises
    ProviderFailed."""

    def build(app: DjangoOAuth2App) -> str:
        if not app.load_server_metadata().get("end_session_endpoint"):
            return ""
        told = app.create_logout_url(back, client_id=settings.OIDC_CLIENT_ID)
        return str(told["url"])

    return str(_ask(build))


def _ask(what: Any) -> Any:
    """Others work meanwhile: the provider may be slow."""
    from authlib.common.errors import AuthlibBaseError
    from joserfc.errors import JoseError
    from requests import RequestException

    known = (AuthlibBaseError, JoseError, RequestException)
    # What is not there or not of its kind in what the provider sends.
    garbage = (RuntimeError, ValueError, KeyError, TypeError, AttributeError)
    try:
        with step_aside():
            return what(_load_app(settings.OIDC_ISSUER, settings.OIDC_CLIENT_ID))
    except (*known, *garbage) as error:
        raise ProviderFailed(f"{type(error).__name__}: {error}"[:300]) from error


@lru_cache(maxsize=4)
def _load_app(issuer: str, client_id: str) -> DjangoOAuth2App:
    """What the provider tells of itself is kept with it, for an hour; its keys until one is new."""
    from authlib.integrations.django_client import DjangoIntegration, DjangoOAuth2App
    from authlib.integrations.requests_client import OAuth2Session

    class DirectSession(OAuth2Session):  # type: ignore[misc]  # has no types
        """Goes nowhere that was not named, and does not wait for long."""

        def request(self, *args: Any, **kwargs: Any) -> Any:
            kwargs |= {"timeout": _TIMEOUT_SECONDS, "allow_redirects": False}
            answer = super().request(*args, **kwargs)
            if answer.is_redirect:
                raise RuntimeError("the provider leads elsewhere")
            return answer

    class NamedProvider(DjangoOAuth2App):  # type: ignore[misc]  # has no types
        client_cls = DirectSession

        def load_server_metadata(self) -> dict[str, Any]:
            if time.time() - self.server_metadata.get("_loaded_at", 0) < _KEPT_SECONDS:
                return dict(self.server_metadata)
            self.server_metadata.clear()
            try:
                told = super().load_server_metadata()
                _check_metadata(told, issuer)
            except Exception:
                self.server_metadata.clear()
                raise
            offered = told.get("id_token_signing_alg_values_supported") or ["RS256"]
            told["id_token_signing_alg_values_supported"] = [
                each for each in _ALGORITHMS if each in offered
            ]
            return dict(told)

    return NamedProvider(
        DjangoIntegration("oidc"),
        "oidc",
        client_id=client_id,
        client_secret=settings.OIDC_CLIENT_SECRET or None,
        client_kwargs={
            "scope": " ".join(settings.OIDC_SCOPES),
            "code_challenge_method": "S256",
            **({} if settings.OIDC_CLIENT_SECRET else {"token_endpoint_auth_method": "none"}),
        },
        server_metadata_url=f"{issuer.rstrip('/')}/.well-known/openid-configuration",
    )


def _check_metadata(told: dict[str, Any], issuer: str) -> None:
    """Raises ValueError and KeyError."""
    if told["issuer"] != issuer:
        raise ValueError(f"calls itself {told['issuer']!r}")
    for name in _ENDPOINTS:
        check_provider_address(str(told.get(name) or ""))
