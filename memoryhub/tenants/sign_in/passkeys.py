"""Passkeys beside the password: WebAuthn, by way of the library `fido2`. Call outside every scope.

A passkey belongs to the host that it was made for: browsers offer it nowhere else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from fido2.server import Fido2Server
from fido2.webauthn import (
    AttestedCredentialData,
    PublicKeyCredentialRpEntity,
    PublicKeyCredentialUserEntity,
    UserVerificationRequirement,
)

from memoryhub.tenants.models import SecondFactor, User

# The password came first, so that a touch is enough where a key has no PIN.
_VERIFICATION = UserVerificationRequirement.PREFERRED


@dataclass(frozen=True, slots=True)
class Challenge:
    """`options` are for the browser, as JSON; `state` stays here and is good for one answer."""

    options: str
    state: dict[str, Any]


def begin_passkey(account: User, origin_host: str) -> Challenge:
    """`origin_host`: where the page is, with its port if it has one."""
    user = PublicKeyCredentialUserEntity(
        id=str(account.pk).encode(), name=account.username, display_name=account.username
    )
    held = [_read_credential(row) for row in list_passkeys(account, origin_host)]
    options, state = _build_server(origin_host).register_begin(
        user, held, user_verification=_VERIFICATION
    )
    return Challenge(json.dumps(dict(options)["publicKey"]), state)


def read_new_passkey(
    origin_host: str, state: Mapping[str, Any], answer: str, name: str
) -> SecondFactor | None:
    """As it may be added to an account; None for an answer that is not one to this challenge."""
    try:
        made = _build_server(origin_host).register_complete(state, json.loads(answer))
    except Exception:  # the parser raises whatever a made-up answer makes it meet
        return None
    return SecondFactor(
        kind=SecondFactor.Kind.PASSKEY,
        name=name[: SecondFactor.NAME_LENGTH],
        credential=bytes(made.credential_data or b""),
        host=_read_host(origin_host),
    )


def list_passkeys(account: User, origin_host: str) -> list[SecondFactor]:
    """Those that a browser offers there."""
    rows = SecondFactor.objects.filter(account=account, kind=SecondFactor.Kind.PASSKEY)
    return list(rows.filter(host=_read_host(origin_host)))


def ask_for_passkey(account: User, origin_host: str) -> Challenge | None:
    """None where the account has none for this host."""
    held = [_read_credential(row) for row in list_passkeys(account, origin_host)]
    if not held:
        return None
    options, state = _build_server(origin_host).authenticate_begin(
        held, user_verification=_VERIFICATION
    )
    return Challenge(json.dumps(dict(options)["publicKey"]), state)


def take_passkey(
    account: User, origin_host: str, state: Mapping[str, Any], answer: str, now: datetime
) -> bool:
    """Whether one of the account's passkeys signed this challenge."""
    held = {bytes(_read_credential(row)): row for row in list_passkeys(account, origin_host)}
    credentials = [AttestedCredentialData(each) for each in held]
    try:
        used = _build_server(origin_host).authenticate_complete(
            state, credentials, json.loads(answer)
        )
    except Exception:  # as above
        return False
    SecondFactor.objects.filter(id=held[bytes(used)].id).update(last_used_at=now)
    return True


def _build_server(origin_host: str) -> Fido2Server:
    """Browsers give passkeys to https and localhost alone, so that the host tells the page."""
    party = PublicKeyCredentialRpEntity(name="MemoryHub", id=_read_host(origin_host))
    return Fido2Server(party, verify_origin=lambda origin: urlsplit(origin).netloc == origin_host)


def _read_host(origin_host: str) -> str:
    return (urlsplit(f"//{origin_host}").hostname or "")[:253]


def _read_credential(row: SecondFactor) -> AttestedCredentialData:
    return AttestedCredentialData(bytes(row.credential))
