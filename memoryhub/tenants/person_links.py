"""Links by which a person comes to what is remembered about them: signed, expiring, revocable.

The token names its row and is signed, so that a made-up one is refused without asking the
database; the row says whether the link still opens anything. The hub keeps no token.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.core.signing import BadSignature, TimestampSigner
from django.db import connection
from django.utils.translation import gettext as _

from memoryhub.errors import InvalidInput
from memoryhub.tenants.models import PersonLink, Space
from memoryhub.tenants.scope import tenant_scope

MAX_LIFETIME = timedelta(days=90)
DEFAULT_LIFETIME = timedelta(days=7)
MINUTE_SECONDS = 60
_SIGNER = TimestampSigner(salt="memoryhub.person-link")
# One statement: whether the link still opens, when it was last used, and how often in a minute.
_COUNT_VISIT_SQL = """
    UPDATE tenants_personlink SET last_used_at = %s, minute = %s,
        count = CASE WHEN minute = %s THEN count + 1 ELSE 1 END
    WHERE id = %s AND revoked_at IS NULL AND expires_at > %s
    RETURNING space_id, count
"""


@dataclass(frozen=True, slots=True)
class PersonLinkVisit:
    """A request by a link that opens. `count`: the requests by it in this minute."""

    tenant_id: UUID
    link_id: UUID
    space_id: UUID
    count: int

    @property
    def name(self) -> str:
        return build_link_name(self.tenant_id, self.link_id)


def create_person_link(
    space: Space, actor: str, now: datetime, expires_at: datetime, *, note: str = ""
) -> tuple[PersonLink, str]:
    """(row, token). The token can't be shown again. Raises InvalidInput. Opens its own scope."""
    if not now < expires_at <= now + MAX_LIFETIME:
        raise InvalidInput(
            _("a time within %(days)s days from now") % {"days": MAX_LIFETIME.days},
            field="expires_at",
        )
    with tenant_scope(space.tenant_id):
        row = PersonLink.objects.create(
            tenant_id=space.tenant_id,
            space=space,
            note=note,
            created_by=actor[:150],
            created_at=now,
            expires_at=expires_at,
        )
    return row, _SIGNER.sign(build_link_name(row.tenant_id, row.id))


def revoke_person_link(link: PersonLink, now: datetime) -> None:
    """Close it, also for those who look at the page now. Opens its own scope."""
    with tenant_scope(link.tenant_id):
        PersonLink.objects.filter(id=link.id, revoked_at=None).update(revoked_at=now)


def build_link_name(tenant_id: UUID, link_id: UUID) -> str:
    """What a token signs."""
    return f"{tenant_id.hex}{link_id.hex}"


def read_token(token: str) -> str | None:
    """The name that this token signs; None for any other text."""
    try:
        return _SIGNER.unsign(token, max_age=MAX_LIFETIME)
    except BadSignature:
        return None


def count_link_visit(name: str, now: datetime) -> PersonLinkVisit | None:
    """Count a request by the link of this name, which was signed; None if it opens nothing any
    more: expired, revoked and erased look alike. Opens its own scope."""
    tenant_id, link_id = UUID(name[:32]), UUID(name[32:])
    minute = int(now.timestamp()) // MINUTE_SECONDS
    with tenant_scope(tenant_id), connection.cursor() as cursor:
        cursor.execute(_COUNT_VISIT_SQL, [now, minute, minute, link_id, now])
        row = cursor.fetchone()
    return PersonLinkVisit(tenant_id, link_id, *row) if row else None
