"""An OpenID provider on loopback, with keys of its own, that says what a test has it say.

with OpenIDProvider() as provider:
    provider.claims = {"sub": "u-1", "groups": ["staff"]}
    code = provider.consent(address_that_the_hub_led_to)
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

CLIENT, SECRET = "memoryhub", "between-us"


def make_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, 2048)


@dataclass
class OpenIDProvider:
    """`claims`: of whoever signs in; `told`: what stands in its description in place of what would;
    `forge`: makes a token of the claims in place of the provider's own signature."""

    claims: dict[str, Any] = field(default_factory=lambda: {"sub": "u-1"})
    told: dict[str, Any] = field(default_factory=dict)
    forge: Callable[[dict[str, Any]], str] | None = None
    key: rsa.RSAPrivateKey = field(default_factory=make_key)
    asked: list[str] = field(default_factory=list)

    def __enter__(self) -> OpenIDProvider:
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                provider.asked.append(self.path)
                known = {
                    "/.well-known/openid-configuration": provider.describe,
                    "/keys": provider.show_keys,
                }
                self.answer(200, known[self.path]())

            def do_POST(self) -> None:
                provider.asked.append(self.path)
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                self.answer(*provider.give_token(self.headers, dict(parse_qsl(body))))

            def answer(self, status: int, told: dict[str, Any]) -> None:
                body = json.dumps(told).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args: Any) -> None:
                pass

        self._codes: dict[str, dict[str, str]] = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.issuer = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def describe(self) -> dict[str, Any]:
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
            "end_session_endpoint": f"{self.issuer}/end",
            "id_token_signing_alg_values_supported": ["RS256", "HS256", "none"],
        } | self.told

    def show_keys(self) -> dict[str, Any]:
        key = json.loads(RSAAlgorithm.to_jwk(self.key.public_key()))
        return {"keys": [key | {"kid": "one", "use": "sig", "alg": "RS256"}]}

    def consent(self, address: str) -> dict[str, str]:
        """What the browser brings back from here."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        assert asked["response_type"] == "code"
        assert asked["code_challenge_method"] == "S256"
        code = secrets.token_urlsafe(16)
        self._codes[code] = asked
        return {"code": code, "state": asked["state"]}

    def give_token(self, headers: Any, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        login = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        asked = self._codes.pop(form.get("code", ""), None)
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if (
            asked is None
            or headers["Authorization"] != f"Basic {login}"
            or asked["code_challenge"] != challenge
            or asked["redirect_uri"] != form["redirect_uri"]
        ):
            return 400, {"error": "invalid_grant"}
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "aud": CLIENT,
            "iat": now,
            "exp": now + 300,
            "nonce": asked["nonce"],
        } | self.claims
        sign = self.forge or self.sign
        return 200, {"access_token": "a", "token_type": "Bearer", "id_token": sign(claims)}

    def sign(self, claims: dict[str, Any]) -> str:
        return jwt.encode(claims, self.key, "RS256", headers={"kid": "one"})
