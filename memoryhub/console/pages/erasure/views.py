"""Erasing for good: what is meant, what would go, what went."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from memoryhub.console.frame.access import ADMIN, page_at, tenant_page, tenant_view
from memoryhub.console.frame.forms import attempt, read_ids
from memoryhub.console.frame.lists import load_page, read_filters
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.frame.space.tabs import get_space_or_404, render_tab
from memoryhub.console.frame.text.row_names import load_row_names
from memoryhub.console.pages.erasure.choice import (
    ErasureChoice,
    ErasureOffer,
    load_offer,
    read_choice,
)
from memoryhub.console.pages.own import corrections
from memoryhub.dialogues.models import Turn
from memoryhub.dialogues.redaction import hash_with_secret
from memoryhub.pipeline.erasure import erase_targets
from memoryhub.pipeline.erasure.erase_targets import ErasedRow, ErasureTarget
from memoryhub.pipeline.review import answer_proposals
from memoryhub.pipeline.sealed_erasures import is_kept_by_hold
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import normalise_subject
from notes.models import Receipt, Relation

# In this order; what becomes of the rows of each.
_FATES = {
    "goes": _("Permanently erased"),
    "cut": _("Loses these words, keeps the rest"),
    "rewritten": _("Cleared, and summarised again without these words"),
    "read again": _("Derived again from what remains"),
    "true again": _("True again: nothing contradicts them any more"),
}
MAX_SHOWN_ROWS = 200  # of those that lose something; what becomes true again is shown in full


@page_at("spaces/<uuid:space_id>/erase/", "space-erase")
@tenant_view(role=ADMIN)
def erasure_page(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    """Choose what is meant, see all that goes with it, confirm. Sent, it is erased."""
    now = timezone.now()
    with tenant_scope(request.tenant.id):
        row = Space.objects.get(id=get_space_or_404(space_id, now).id)
        choice = read_choice(_join_asked(request), row)
    if request.method == "POST":
        return _erase_chosen(request, row, choice)
    offer = load_offer(row, choice) if choice.is_open else ErasureOffer()
    first = _load_first_turn(request, choice)
    target = choice.target
    plan, rows, staying = erase_targets.preview_erasure(row, target) if target else (None, [], [])
    overtaken = erase_targets.list_overtaken_erasures(row, target, now) if target else []
    order = list(_FATES)
    rows.sort(key=lambda each: (order.index(each.how), each.kind, each.role))
    reopened = [each for each in rows if each.how == "true again"]
    shown = [*rows[: len(rows) - len(reopened)][:MAX_SHOWN_ROWS], *reopened]
    with tenant_scope(request.tenant.id):
        shown = _name_rows(shown)
        return render_tab(
            request,
            get_space_or_404(space_id, now),
            "erase",
            "erasure/erase.html",
            choice=choice,
            target=target,
            first=first,
            offer=offer,
            plan=plan,
            fates=[(_FATES[how], list(each)) for how, each in groupby(shown, _get_fate)],
            hidden=len(rows) - len(shown),
            staying=staying,
            overtaken=overtaken,
        )


def _load_first_turn(request: ConsoleRequest, choice: ErasureChoice) -> Turn | None:
    """By which a conversation is known: how it began, and when."""
    if choice.session is None:
        return None
    with tenant_scope(request.tenant.id):
        held = Turn.objects.filter(session=choice.session).exclude(state=Turn.State.REDACTED)
        said: Turn | None = held.order_by("seq").first()
    return said


def _get_fate(row: ErasedRow) -> str:
    return row.how


def _name_rows(rows: Sequence[ErasedRow]) -> list[ErasedRow]:
    """With the first words of an exchange, and what a relation joins: neither has words of its own.
    Three statements at most."""
    pages = load_row_names(("page", row.id, None) for row in rows if row.kind == "page")
    joined = [row.id for row in rows if row.kind == "relation"]
    relations = {
        each.id: f"{each.src} {each.label.replace('_', ' ')} {each.dst}"
        for each in Relation.objects.filter(id__in=joined).select_related("src", "dst")
    }
    return [
        replace(row, text=relations.get(row.id) or pages.get(str(row.id)) or row.text)
        for row in rows
    ]


def _join_asked(request: ConsoleRequest) -> QueryDict:
    """What the form says; sent without one, what the address says."""
    named = ("all", "session", "facts", "turns", "wish")
    return request.POST if any(name in request.POST for name in named) else request.GET


def _erase_chosen(request: ConsoleRequest, space: Space, choice: ErasureChoice) -> HttpResponse:
    target, now = choice.target, timezone.now()
    if target is None:
        messages.error(request, gettext("Nothing was erased: select what to erase first."))
        return redirect(request.get_full_path())
    reason = request.POST.get("reason", "").replace("\0", "")[:500]
    typed = normalise_subject(request.POST.get("subject", ""))
    if target.kind == "subject" and typed != space.subject:
        messages.error(request, gettext("Nothing was erased: type the name to confirm."))
        return redirect(request.get_full_path())
    receipt = attempt(
        request,
        lambda: _carry_out(request, space, choice, target, reason),
        gettext("Nothing was erased: %(why)s."),
    )
    if receipt is None:
        return redirect(request.get_full_path())
    if not receipt.counts:
        messages.warning(request, gettext("There was nothing left to erase."))
        return redirect("space-history", space_id=space.id)
    messages.success(
        request, gettext("Erased at %(time)s. This is the receipt.") % {"time": f"{now:%H:%M} UTC"}
    )
    return redirect("receipt", receipt_id=receipt.id)


def _carry_out(
    request: ConsoleRequest,
    space: Space,
    choice: ErasureChoice,
    target: ErasureTarget,
    reason: str,
) -> Receipt:
    now = timezone.now()
    if choice.wish is not None:
        return answer_proposals.grant_request(
            choice.wish, target, request.actor, now, reason=reason
        )
    return erase_targets.execute_erasure(space, target, request.actor, now, reason=reason)


@page_at("receipts/", "receipts")
@tenant_page(role=ADMIN)
def receipt_list_page(request: ConsoleRequest) -> HttpResponse:
    page = load_page(Receipt.objects.all(), read_filters(request.GET).page)
    return render(request, "erasure/receipts.html", {"page": page})


@page_at("receipts/<uuid:receipt_id>/", "receipt")
@tenant_page(role=ADMIN)
def receipt_page(request: ConsoleRequest, receipt_id: UUID) -> HttpResponse:
    """`ids`: those that somebody holds against the checksum."""
    receipt = get_object_or_404(Receipt.objects.filter(id=receipt_id))
    given = request.GET.get("ids", "")[:20_000]
    context = {
        "receipt": receipt,
        "given": given,
        "matches": None,
        "has_shown_ids": _has_shown_ids(receipt),
    }
    if receipt.is_sealed:
        context["hold"] = is_kept_by_hold(receipt.sealed.space, [receipt])
    if given.strip():
        context["matches"] = _matches_checksum(receipt, given)
    return render(request, "erasure/receipt.html", context)


def _has_shown_ids(receipt: Receipt) -> bool:
    """Nobody has chosen what a policy erases, and a person's own page shows no ids."""
    return receipt.actor != corrections.ACTOR and not receipt.actor.startswith("policy: ")


def _matches_checksum(receipt: Receipt, given: str) -> bool:
    """Whether the receipt is of these ids and no others."""
    ids = sorted(str(each) for each in read_ids(given.replace(",", " ").split()))
    return hash_with_secret(receipt.target, *ids) == receipt.target_digest
