"""Erasing for good: what would go, what went."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext

from memoryhub.console.frame.access import ADMIN, page_at, tenant_page, tenant_view
from memoryhub.console.frame.forms import attempt, read_id
from memoryhub.console.frame.lists import load_page, read_filters
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.frame.space.tabs import get_space_or_404, render_tab
from memoryhub.dialogues.models import Session, Turn
from memoryhub.pipeline.erasure import erase_targets
from memoryhub.pipeline.erasure.erase_targets import ErasureTarget
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.models import Fact, Receipt

_TARGET_MODELS = {"turns": Turn, "session": Session, "facts": Fact}


@page_at("spaces/<uuid:space_id>/erase/", "space-erase")
@tenant_view(role=ADMIN)
def erasure_page(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    """A dry run of the target in the address: a turn, a session, a fact, or all of it. Sent, it
    is erased."""
    now = timezone.now()
    with tenant_scope(request.tenant.id):
        space = get_space_or_404(space_id, now)
        target, words = _read_erase_target(request, space)
        if request.method != "POST":
            plan = erase_targets.plan_erasure(space, target)
            return render_tab(
                request, space, "erase", "erasure/erase.html", target=target, words=words, plan=plan
            )
        row = Space.objects.get(id=space_id)
    reason = request.POST.get("reason", "").replace("\0", "")[:500]
    if target.kind == "subject" and request.POST.get("subject") != space.subject:
        messages.error(request, gettext("Nothing was erased: type the subject to confirm."))
        return redirect(request.get_full_path())
    receipt = attempt(
        request,
        lambda: erase_targets.execute_erasure(row, target, request.actor, now, reason=reason),
        gettext("Nothing was erased: %(why)s."),
    )
    if receipt is None:
        return redirect(request.get_full_path())
    if not receipt.counts:
        messages.warning(request, gettext("There was nothing left to erase."))
        return redirect("space-history", space_id=space_id)
    messages.success(request, gettext("Erased. This is the receipt."))
    return redirect("receipt", receipt_id=receipt.id)


def _read_erase_target(request: ConsoleRequest, space: Space) -> tuple[ErasureTarget, str]:
    """Raises Http404 for what is not of this space."""
    asked = next((kind for kind in _TARGET_MODELS if request.GET.get(kind)), "")
    if not asked:
        return ErasureTarget("subject"), str(space)
    rows = _TARGET_MODELS[asked]._default_manager.filter(space=space)
    row = get_object_or_404(rows, id=read_id(request.GET[asked]))
    sources = request.GET.get("sources") == "yes"
    words = getattr(row, "text", "") or str(row)
    return ErasureTarget(asked, (row.pk,), sources), words  # type: ignore[arg-type]  # a key of _MODELS


@page_at("receipts/", "receipts")
@tenant_page(role=ADMIN)
def receipt_list_page(request: ConsoleRequest) -> HttpResponse:
    page = load_page(Receipt.objects.all(), read_filters(request.GET).page)
    return render(request, "erasure/receipts.html", {"page": page})


@page_at("receipts/<uuid:receipt_id>/", "receipt")
@tenant_page(role=ADMIN)
def receipt_page(request: ConsoleRequest, receipt_id: UUID) -> HttpResponse:
    receipt = get_object_or_404(Receipt.objects.filter(id=receipt_id))
    return render(request, "erasure/receipt.html", {"receipt": receipt})
