"""API keys: `mh_<prefix>_<secret>`. The database keeps the prefix and an HMAC, never the key.

Of several cells each begins its prefixes with its own two characters, by which a proxy finds it.
"""

from __future__ import annotations

import hmac
import re
import secrets
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.conf import settings

from memoryhub.tenants.database.prepared import open_prepared_cursor
from memoryhub.tenants.models import ApiKey
from memoryhub.tenants.scope import tenant_scope

_KEY_PATTERN = re.compile(r"mh_([a-z0-9]{12})_([A-Za-z0-9_-]{32,64})")
_PREFIX_LENGTH = 12
_PREFIX_ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789"


@dataclass(frozen=True, slots=True)
class KeyRow:
    """What authentication needs of a key, read before any tenant is in scope."""

    prefix: str
    id: UUID
    tenant_id: UUID
    space_id: UUID | None
    digest: str
    scopes: list[str]
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None

    @property
    def actor(self) -> str:
        """How histories name it: as the page of keys shows it."""
        return f"key mh_{self.prefix}_…"


def generate_key() -> tuple[str, str, str]:
    """(key to show once, prefix, digest)."""
    made = (secrets.choice(_PREFIX_ALPHABET) for _ in range(_PREFIX_LENGTH - len(settings.CELL)))
    prefix = settings.CELL + "".join(made)
    key = f"mh_{prefix}_{secrets.token_urlsafe(32)}"
    return key, prefix, hash_key(key)


def hash_key(key: str, secret: str = "") -> str:
    """Under this secret, else the hub's."""
    return hmac.new((secret or settings.SECRET_KEY).encode(), key.encode(), "sha256").hexdigest()


def extract_prefix(key: str) -> str:
    """The prefix of a well-formed key, else an empty string."""
    match = _KEY_PATTERN.fullmatch(key)
    return match[1] if match else ""


def find_live_key(key: str, now: datetime) -> KeyRow | None:
    """The live key this text is, or None: unknown, wrong, expired and revoked look alike."""
    prefix = extract_prefix(key)
    if not prefix:
        return None
    with open_prepared_cursor() as cursor:
        cursor.execute("SELECT * FROM memoryhub_api_key(%s)", [prefix])
        found = cursor.fetchone()
    row = KeyRow(prefix, *found) if found else None
    if row is None:
        return None
    live = row.revoked_at is None and (row.expires_at is None or row.expires_at > now)
    if hmac.compare_digest(row.digest, hash_key(key)):
        return row if live else None
    for secret in settings.SECRET_KEY_FALLBACKS:
        if live and hmac.compare_digest(row.digest, hash_key(key, secret)):
            _renew_digest(row, key)
            return row
    return None


def _renew_digest(row: KeyRow, key: str) -> None:
    """From a secret of before to the hub's, so that the old one may go once all have been used."""
    with tenant_scope(row.tenant_id):
        ApiKey.objects.filter(id=row.id, digest=row.digest).update(digest=hash_key(key))
