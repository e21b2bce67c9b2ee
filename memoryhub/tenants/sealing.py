"""Secrets that the hub has to hand on, such as a model's key, kept so that only its own key opens
them. While that one is rotated, what was sealed under those of before opens still."""

from __future__ import annotations

from base64 import urlsafe_b64encode

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.utils.translation import gettext as _

from memoryhub.errors import MemoryHubError


class SealBroken(MemoryHubError):
    """Sealed under a key that the hub has no longer, or changed since."""

    code = "seal_broken"


def seal_secret(secret: str) -> str:
    """Under the hub's key of now; "" stays empty. The same secret looks different each time."""
    return _build_fernet().encrypt(secret.encode()).decode() if secret else ""


def open_sealed(sealed: str) -> str:
    """Raises SealBroken."""
    try:
        return _build_fernet().decrypt(sealed).decode() if sealed else ""
    except InvalidToken as error:
        raise SealBroken(_("it was kept under another key of the hub: enter it again")) from error


def reseal(sealed: str) -> str:
    """The same secret under the hub's key of now. Raises SealBroken."""
    try:
        return _build_fernet().rotate(sealed).decode() if sealed else ""
    except InvalidToken as error:
        raise SealBroken(_("it was kept under another key of the hub: enter it again")) from error


def _build_fernet() -> MultiFernet:
    keys = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return MultiFernet([Fernet(_derive_key(key)) for key in keys])


def _derive_key(hub_key: str) -> bytes:
    """Of its own purpose: what signs sessions opens no secrets."""
    derive = HKDF(SHA256(), length=32, salt=None, info=b"memoryhub.sealed-secrets")
    return urlsafe_b64encode(derive.derive(hub_key.encode()))
