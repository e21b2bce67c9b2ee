"""What belongs to the tenant as a whole: its name, and how much there is of everything."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from memoryhub.console.frame.access import ADMIN, check_role, page_at, tenant_page
from memoryhub.console.frame.forms import run_and_report
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.policies.presets import PRESETS
from memoryhub.policies.services import load_layers
from memoryhub.tenants.models import ApiKey, Membership, Space
from memoryhub.tenants.services import rename_tenant
from memoryhub.webhooks.models import Webhook
from notes.models import Receipt


@page_at("settings/", "settings")
@tenant_page()
def settings_page(request: ConsoleRequest) -> HttpResponse:
    """Sent by an admin, the tenant gets another name."""
    if request.method == "POST":
        check_role(request, ADMIN)
        name = request.POST.get("name", "")
        run_and_report(
            request,
            lambda: rename_tenant(request.tenant.id, name, actor=request.actor),
            _("Renamed."),
            refused=_("Not renamed"),
        )
        return redirect("settings")
    layers = load_layers(request.tenant.id, None)
    context = {"layers": layers, "preset": PRESETS[layers.policy.preset], **count_settings_rows()}
    return render(request, "settings/tenant.html", context)


def count_settings_rows() -> dict[str, Any]:
    """Counts by name. A statement each."""
    return {
        "people_count": Membership.objects.count(),
        "key_count": ApiKey.objects.filter(revoked_at=None).count(),
        "hook_count": Webhook.objects.count(),
        "space_count": Space.objects.count(),
        "receipt_count": Receipt.objects.count(),
    }
