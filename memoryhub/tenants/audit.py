"""What people and keys change of a tenant itself, written with the change.

Memories have a history of their own, policies their versions, erasures their receipts; this is for
what has none: keys, people, webhooks, and what leaves the hub as a file.
"""

from __future__ import annotations

from uuid import UUID

from django.utils import timezone

from memoryhub.tenants.models import AuditEntry, Space

# Who does what no person and no key asked for: commands, the first start.
HUB_ACTOR = "the hub"
# Who does something to an account as admin of a tenant, where other tenants of its owner see it.
ADMIN_ACTOR = "an admin"
Action = AuditEntry.Action


def record_audit_entry(
    tenant_id: UUID,
    action: AuditEntry.Action,
    actor: str,
    about: str,
    detail: str = "",
    *,
    space: Space | None = None,
) -> None:
    """`about` names what was changed, `detail` how, `space` whose it is if it is one's. No secrets.
    Call inside the tenant's scope, in the transaction of the change."""
    AuditEntry.objects.create(
        tenant_id=tenant_id,
        action=action,
        actor=actor[:120],
        about=about[:200],
        detail=detail[:500],
        space=space,
        at=timezone.now(),
    )
