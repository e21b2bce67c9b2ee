"""A hub that is measured does without the demo."""

from __future__ import annotations

from django.utils import timezone

from memoryhub.bootstrap import DEMO_SLUG
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_tenant


def skip_demo_data() -> None:
    """The demo's tenant, as if its dialogues had been loaded: the worker would read them
    meanwhile."""
    tenant = create_tenant("Demo", DEMO_SLUG)
    with tenant_scope(tenant.id):
        Tenant.objects.update(seeded_at=timezone.now())
