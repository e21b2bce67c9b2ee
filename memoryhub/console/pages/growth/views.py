"""What grows, and what ends it."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone

from memoryhub.console.frame.access import ADMIN, page_at, tenant_page
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.pages.growth.queries import load_hub_kinds, load_kinds
from memoryhub.dialogues.quota import count_kept_messages, read_quota
from memoryhub.policies.services import load_tenant_policy


@page_at("data/growth", "growth")
@tenant_page(role=ADMIN)
def growth_page(request: ConsoleRequest) -> HttpResponse:
    """An admin sees the tenant's own rows, an operator of the hub what all of them take as well."""
    now = timezone.now()
    policy = load_tenant_policy(request.tenant.id).policy
    context = {"kinds": load_kinds(policy, now), "held": policy.erase.hold}
    if quota := read_quota(request.tenant):
        context |= {"quota": quota, "kept": count_kept_messages()}
    if request.user.is_superuser:
        hub, since, total = load_hub_kinds(now)
        context |= {"hub": hub, "counted_since": since, "total": total}
    return render(request, "growth/growth.html", context)
