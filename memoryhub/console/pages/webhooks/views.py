"""Webhooks: who is told what, whether it arrived, and its secret once."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache

from memoryhub.console.frame.access import ADMIN, action_at, page_at, tenant_page, tenant_view
from memoryhub.console.frame.lists import read_filters
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.frame.shown_once import keep_until_shown, take_shown_once
from memoryhub.console.pages.webhooks import queries
from memoryhub.errors import Conflict, InvalidInput, MemoryHubError
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import find_space
from memoryhub.webhooks import services
from memoryhub.webhooks.models import Delivery, Webhook
from memoryhub.webhooks.payloads import render_payload

SECRET_OVERLAP = timedelta(hours=24)
_NEW = "new_secret_of_webhook:"
USUAL_EVENTS = ("fact.added", "fact.superseded", "fact.ended", "fact.deleted")


@dataclass(frozen=True, slots=True)
class WebhookForm:
    """What was typed: a refused form shows it again."""

    name: str = ""
    url: str = ""
    subject: str = ""
    content: str = Webhook.Content.IDS
    events: tuple[str, ...] = USUAL_EVENTS

    @classmethod
    def read(cls, sent: Any) -> WebhookForm:
        values = [sent.get(key, "").replace("\0", "") for key in ("name", "url", "subject")]
        content = sent.get("content", "")
        known = content if content in Webhook.Content.values else Webhook.Content.IDS
        name, url, subject = (value.strip()[:2100] for value in values)
        return cls(name, url, subject, known, tuple(sent.getlist("events")[:100]))

    @classmethod
    def from_webhook(cls, hook: Webhook) -> WebhookForm:
        subject = hook.space.subject if hook.space else ""
        return cls(hook.name, hook.url, subject, hook.content, tuple(hook.events))


@page_at("webhooks/", "webhooks")
@tenant_page(role=ADMIN)
def webhook_list_page(request: ConsoleRequest) -> HttpResponse:
    filters = read_filters(request.GET, (queries.WEBHOOK_STATE_CHOICE,))
    page = queries.load_webhooks(filters)
    return render(request, "webhooks/list.html", {"filters": filters, "page": page})


@page_at("webhooks/new", "webhook-new")
@never_cache
@tenant_page(role=ADMIN)
def new_webhook_page(request: ConsoleRequest) -> HttpResponse:
    """The secret is shown on the page that follows, and never again."""
    if request.method != "POST":
        return _render_new_webhook(request, WebhookForm())
    form = WebhookForm.read(request.POST)
    try:
        space = find_space(form.subject) if form.subject else None
        if form.subject and space is None:
            raise InvalidInput(_("there is no space with this subject"), field="subject")
        wanted = services.WebhookDraft(
            form.name, form.url, form.events, space=space, content=form.content
        )
        hook, secret = services.create_webhook(
            request.tenant.id, wanted, request.actor, timezone.now()
        )
    except MemoryHubError as error:
        return _render_new_webhook(request, form, error)
    return _lead_to_secret(request, hook.id, secret)


def _lead_to_secret(request: ConsoleRequest, hook_id: UUID, secret: str) -> HttpResponse:
    keep_until_shown(request, f"{_NEW}{hook_id}", secret)
    return redirect("webhook", hook_id=hook_id)


def _render_new_webhook(
    request: ConsoleRequest, form: WebhookForm, trouble: MemoryHubError | None = None
) -> HttpResponse:
    groups = queries.group_events(Webhook.Style.NATIVE, form.events)
    context = {"form": form, "groups": groups, "trouble": trouble}
    return render(request, "webhooks/new.html", context, status=422 if trouble else 200)


@page_at("webhooks/<uuid:hook_id>/", "webhook")
@never_cache
@tenant_page(role=ADMIN)
def webhook_page(request: ConsoleRequest, hook_id: UUID) -> HttpResponse:
    """The webhook with its log. Sent, its name, address, events or content are changed."""
    if request.method != "POST":
        return _render_webhook(request, hook_id)
    queries.get_webhook_or_404(hook_id)
    form = WebhookForm.read(request.POST)
    values: dict[str, Any] = {"actor": request.actor, "name": form.name, "url": form.url}
    values |= {"events": form.events, "content": form.content}
    try:
        services.update_webhook(request.tenant.id, hook_id, timezone.now(), **values)
    except MemoryHubError as error:
        return _render_webhook(request, hook_id, form=form, trouble=error)
    messages.success(request, _("Changed."))
    return redirect("webhook", hook_id=hook_id)


def _render_webhook(
    request: ConsoleRequest,
    hook_id: UUID,
    *,
    form: WebhookForm | None = None,
    trouble: MemoryHubError | None = None,
) -> HttpResponse:
    hook = queries.get_webhook_or_404(hook_id)
    shown = form or WebhookForm.from_webhook(hook)
    choices = (queries.DELIVERY_STATE_CHOICE, queries.build_event_choice(hook))
    filters = read_filters(request.GET, choices)
    context = {
        "hook": hook,
        "secret": take_shown_once(request, f"{_NEW}{hook_id}"),
        "form": shown,
        "trouble": trouble,
        "groups": queries.group_events(hook.style, shown.events),
        "filters": filters,
        "page": queries.load_deliveries(hook, filters),
        "now": timezone.now(),
    }
    return render(request, "webhooks/webhook.html", context, status=422 if trouble else 200)


@action_at("webhooks/<uuid:hook_id>/rotate", "webhook-rotate")
@tenant_page(role=ADMIN)
def rotate_webhook_secret(request: ConsoleRequest, hook_id: UUID) -> HttpResponse:
    queries.get_webhook_or_404(hook_id)
    overlap = SECRET_OVERLAP if request.POST.get("now") != "1" else timedelta(0)
    now = timezone.now()
    rotated = services.rotate_secret(request.tenant.id, hook_id, now, overlap, actor=request.actor)
    return _lead_to_secret(request, hook_id, rotated[1])


@action_at("webhooks/<uuid:hook_id>/switch", "webhook-switch")
@tenant_page(role=ADMIN)
def switch_webhook(request: ConsoleRequest, hook_id: UUID) -> HttpResponse:
    queries.get_webhook_or_404(hook_id)
    on = request.POST.get("on") == "1"
    now = timezone.now()
    services.update_webhook(request.tenant.id, hook_id, now, actor=request.actor, is_active=on)
    told = _("Switched on: pending events are sent.")
    messages.success(request, told if on else _("Switched off: it receives nothing more."))
    return redirect("webhook", hook_id=hook_id)


@action_at("webhooks/<uuid:hook_id>/delete", "webhook-delete")
@tenant_page(role=ADMIN)
def delete_webhook(request: ConsoleRequest, hook_id: UUID) -> HttpResponse:
    hook = queries.get_webhook_or_404(hook_id)
    services.delete_webhook(request.tenant.id, hook_id, actor=request.actor)
    said = _("Deleted: %(name)s. It receives nothing more.")
    messages.success(request, said % {"name": hook.name})
    return redirect("webhooks")


@action_at("webhooks/<uuid:hook_id>/ping", "webhook-ping")
@tenant_view(role=ADMIN)
def ping_webhook(request: ConsoleRequest, hook_id: UUID) -> HttpResponse:
    """Sends while the person waits: no scope is open."""
    with tenant_scope(request.tenant.id):
        queries.get_webhook_or_404(hook_id)
    sent = services.ping_webhook(request.tenant.id, hook_id, timezone.now())
    if sent.state == Delivery.State.DELIVERED:
        said = _("The test was delivered: response %(status)s.")
        messages.success(request, said % {"status": sent.status})
    elif sent.state == Delivery.State.WAITING:
        messages.info(request, _("Another delivery is in progress: the test is next."))
    else:
        messages.error(request, _("The test was not delivered: %(why)s.") % {"why": _(sent.error)})
    return redirect("webhook-delivery", hook_id=hook_id, delivery_id=sent.id)


@page_at("webhooks/<uuid:hook_id>/deliveries/<uuid:delivery_id>/", "webhook-delivery")
@tenant_page(role=ADMIN)
def delivery_page(request: ConsoleRequest, hook_id: UUID, delivery_id: UUID) -> HttpResponse:
    found = queries.get_delivery_or_404(hook_id, delivery_id)
    # What is sent, without words.
    sent = json.dumps(render_payload(found, {}), indent=2, ensure_ascii=False)
    context = {"delivery": found, "hook": found.webhook, "sent": sent}
    return render(request, "webhooks/delivery.html", context)


@action_at("webhooks/<uuid:hook_id>/deliveries/<uuid:delivery_id>/replay", "webhook-replay")
@tenant_page(role=ADMIN)
def replay_delivery(request: ConsoleRequest, hook_id: UUID, delivery_id: UUID) -> HttpResponse:
    queries.get_delivery_or_404(hook_id, delivery_id)
    try:
        services.replay_delivery(request.tenant.id, delivery_id, timezone.now())
    except Conflict as error:
        messages.error(request, _("Not sent again: %(why)s.") % {"why": error.message})
    else:
        messages.success(request, _("It is sent again with the same event ID."))
    return redirect("webhook-delivery", hook_id=hook_id, delivery_id=delivery_id)
