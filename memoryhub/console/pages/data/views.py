"""How long data is kept, and erasing all of a tenant."""

from __future__ import annotations

from contextlib import suppress

from django.conf import settings as hub
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from memoryhub.console.frame.access import ADMIN, action_at, page_at, tenant_page, tenant_view
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.pages.policies import switch_form
from memoryhub.console.pages.settings.views import count_settings_rows
from memoryhub.errors import NotFound
from memoryhub.pipeline.erasure import erase_targets
from memoryhub.pipeline.erasure.erase_targets import ErasureTarget
from memoryhub.policies.services import load_layers
from memoryhub.policies.switches import LOG_SWITCHES
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope

RETENTION_SWITCHES = ("retention.turn_days", "retention.max_age_days", *LOG_SWITCHES)
# Spaces that are erased in one request.
MAX_ERASED_AT_ONCE = 100


@page_at("data/", "data")
@tenant_page(role=ADMIN)
def data_page(request: ConsoleRequest) -> HttpResponse:
    layers = load_layers(request.tenant.id, None)
    # (what, the setting, days) of what is kept for a time that the operator sets.
    logs = [
        (_("Requests"), "MEMORYHUB_REQUEST_LOG_DAYS", hub.REQUEST_LOG_DAYS),
        (_("Recalls"), "MEMORYHUB_RECALL_LOG_DAYS", hub.RECALL_LOG_DAYS),
        (_("Deliveries to webhooks"), "MEMORYHUB_WEBHOOK_LOG_DAYS", hub.WEBHOOK_LOG_DAYS),
    ]
    context = {
        "layers": layers,
        "keeping": switch_form.build_switch_rows(layers, RETENTION_SWITCHES),
        "logs": logs,
        **count_settings_rows(),
        "now": timezone.now(),
    }
    return render(request, "data/data.html", context)


@action_at("data/erase", "data-erase")
@tenant_view(role=ADMIN)
def erase_all_spaces(request: ConsoleRequest) -> HttpResponse:
    """Every space, with a receipt for each; of many the first, to go on with the next time."""
    if request.POST.get("slug", "").strip() != request.tenant.slug:
        messages.error(request, _("Nothing was erased: type the short name to confirm."))
        return redirect("data")
    with tenant_scope(request.tenant.id):
        spaces = list(Space.objects.order_by("id")[: MAX_ERASED_AT_ONCE + 1])
    reason = request.POST.get("reason", "").replace("\0", "")[:500]
    whole = ErasureTarget("subject")
    for space in spaces[:MAX_ERASED_AT_ONCE]:
        with suppress(NotFound):  # somebody else has erased it meanwhile
            erase_targets.execute_erasure(
                space, whole, request.actor, timezone.now(), reason=reason
            )
    count = len(spaces[:MAX_ERASED_AT_ONCE])
    said = ngettext("Erased: %(count)s space.", "Erased: %(count)s spaces.", count)
    more = _("There are more: submit again.") if len(spaces) > MAX_ERASED_AT_ONCE else ""
    messages.success(request, f"{said % {'count': count}} {more}".rstrip())
    return redirect("receipts")
