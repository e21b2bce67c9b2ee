"""Every change to webhooks, and what people may ask of their deliveries: one function each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from memoryhub.dialogues.messages import clean_text
from memoryhub.errors import Conflict, InvalidInput, NotFound, VersionOutdated
from memoryhub.languages import use_stored_language
from memoryhub.tenants.audit import HUB_ACTOR, Action, record_audit_entry
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from memoryhub.webhooks import dispatch, event_names, outbox, queue, targets
from memoryhub.webhooks.models import Delivery, Webhook, WebhookEvent

MOST_WEBHOOKS = 50  # a tenant
NAME_LENGTH = 120
MOST_OVERLAP = timedelta(days=30)
DISABLED_BY_HAND = gettext_noop("Switched off by hand.")


@dataclass(frozen=True, slots=True)
class WebhookDraft:
    """A webhook as it was asked for. `space` None: of all spaces."""

    name: str
    url: str
    events: Iterable[str]
    space: Space | None = None
    style: str = Webhook.Style.NATIVE
    content: str = Webhook.Content.IDS


def create_webhook(
    tenant_id: UUID, wanted: WebhookDraft, actor: str, now: datetime
) -> tuple[Webhook, str]:
    """(row, secret). The secret can't be shown again. Raises InvalidInput naming the field."""
    hook = Webhook(
        tenant_id=tenant_id,
        name=_clean_name(wanted.name),
        url=_check_url(wanted.url),
        space=wanted.space,
        style=wanted.style,
        content=wanted.content,
        events=event_names.clean_events(wanted.style, wanted.events),
        created_by=actor[:120],
        created_at=now,
        changed_at=now,
    )
    with tenant_scope(tenant_id):
        if Webhook.objects.count() >= MOST_WEBHOOKS:
            raise InvalidInput(
                _("at most %(limit)s webhooks a tenant") % {"limit": MOST_WEBHOOKS}, field="url"
            )
        hook.save(force_insert=True)
        _record_change(hook, Action.WEBHOOK_MADE, actor, hook.url)
    return hook, dispatch.derive_webhook_secret(hook, hook.generation)


def _record_change(hook: Webhook, action: Action, actor: str, detail: str = "") -> None:
    """What is about one subject's webhook goes with the subject."""
    record_audit_entry(hook.tenant_id, action, actor, hook.name, detail, space=hook.space)


def update_webhook(
    tenant_id: UUID,
    webhook_id: UUID,
    now: datetime,
    *,
    actor: str = HUB_ACTOR,
    version: int | None = None,
    **given: Any,
) -> Webhook:
    """Other values of `name`, `url`, `events`, `content` or `is_active`; those not given stay.

    Switched on again, it starts without failures, and what waits is sent. Raises NotFound,
    InvalidInput, and Outdated where it is not in the `version` that was read.
    """
    with tenant_scope(tenant_id):
        hook = get_webhook(webhook_id, lock=True)
        if version not in (None, hook.version):
            message = _("the webhook was changed since it was read")
            raise VersionOutdated(message, version=hook.version)
        values = {name: _check_value(hook, name, value) for name, value in given.items()}
        if values.get("is_active") and not hook.is_active:
            values |= {"disabled_because": "", "failures": 0, "given_up": 0, "quiet_until": None}
        elif values.get("is_active") is False and hook.is_active:
            values["disabled_because"] = DISABLED_BY_HAND
        _update_columns(hook, now, **values)
        _record_change(hook, Action.WEBHOOK_CHANGED, actor, ", ".join(sorted(given)))
        if hook.is_active:
            outbox.ring_on_commit(tenant_id, [hook.id])
    return hook


def rotate_secret(
    tenant_id: UUID, webhook_id: UUID, now: datetime, overlap: timedelta, *, actor: str = HUB_ACTOR
) -> tuple[Webhook, str]:
    """(row, secret): another secret. Until `overlap` is over both sign. Raises NotFound."""
    if not timedelta(0) <= overlap <= MOST_OVERLAP:
        message = _("0 to %(hours)s hours") % {"hours": MOST_OVERLAP.days * 24}
        raise InvalidInput(message, field="overlap_hours")
    with tenant_scope(tenant_id):
        hook = get_webhook(webhook_id, lock=True)
        _update_columns(hook, now, generation=hook.generation + 1, previous_until=now + overlap)
        _record_change(hook, Action.WEBHOOK_ROTATED, actor)
    return hook, dispatch.derive_webhook_secret(hook, hook.generation)


def delete_webhook(tenant_id: UUID, webhook_id: UUID, *, actor: str = HUB_ACTOR) -> None:
    """With its deliveries. Raises NotFound."""
    with tenant_scope(tenant_id):
        hook = get_webhook(webhook_id)
        _record_change(hook, Action.WEBHOOK_DELETED, actor, hook.url)
        hook.delete()


def ping_webhook(tenant_id: UUID, webhook_id: UUID, now: datetime) -> Delivery:
    """Send a test event at once, also while it is switched off, and give back what came of it.

    It is tried a single time. While another delivery is being sent it waits for its turn.
    Raises NotFound.
    """
    with tenant_scope(tenant_id):
        hook = get_webhook(webhook_id)
        event = WebhookEvent.objects.create(
            tenant_id=tenant_id,
            kind=event_names.TEST_EVENT,
            space_id=hook.space_id,
            data={"webhook_id": str(hook.id)},
            occurred_at=now,
            created_at=now,
        )
        made = outbox.build_delivery(hook, event, event_names.TEST_EVENT, now)
        made.save(force_insert=True)
        leased = queue.lease_delivery(made, now)
        if leased is None:
            outbox.ring_on_commit(tenant_id, [hook.id])
    if leased is not None:
        with use_stored_language():  # as a worker does it
            dispatch.attempt_delivery(leased)
    return get_delivery(tenant_id, made.id)


def replay_delivery(tenant_id: UUID, delivery_id: UUID, now: datetime) -> Delivery:
    """Send it again, with the same event id, and as often as a new one. Raises NotFound, and
    Conflict while it has not ended or the webhook is switched off."""
    with tenant_scope(tenant_id):
        delivery = get_delivery(tenant_id, delivery_id)
        if not delivery.webhook.is_active:
            raise Conflict(_("the webhook is switched off"), code="webhook_off")
        ended = Delivery.objects.filter(
            id=delivery_id, state__in=(Delivery.State.DELIVERED, Delivery.State.DEAD)
        )
        if not ended.update(state=Delivery.State.WAITING, tries=0, run_after=now, finished_at=None):
            raise Conflict(_("it has not ended yet"), code="delivery_under_way")
        Webhook.objects.filter(id=delivery.webhook_id).update(quiet_until=None)
        outbox.ring_on_commit(tenant_id, [delivery.webhook_id])
    return get_delivery(tenant_id, delivery_id)


def get_webhook(webhook_id: UUID, *, lock: bool = False) -> Webhook:
    """Call inside the scope. Raises NotFound."""
    rows = Webhook.objects.select_for_update() if lock else Webhook.objects.all()
    hook: Webhook | None = rows.filter(id=webhook_id).first()
    if hook is None:
        raise NotFound(_("There is no such webhook."))
    return hook


def get_delivery(tenant_id: UUID, delivery_id: UUID) -> Delivery:
    """With its webhook and event. Raises NotFound."""
    with tenant_scope(tenant_id):
        rows = Delivery.objects.select_related("webhook", "event", "event__space")
        found: Delivery | None = rows.filter(id=delivery_id).first()
    if found is None:
        raise NotFound(_("There is no such delivery."))
    return found


def _update_columns(hook: Webhook, now: datetime, **values: Any) -> None:
    for name, value in values.items():
        setattr(hook, name, value)
    hook.version, hook.changed_at = hook.version + 1, now
    hook.save(update_fields=[*values, "version", "changed_at"])


def _check_value(hook: Webhook, name: str, value: Any) -> Any:
    if name == "name":
        return _clean_name(value)
    if name == "url":
        return _check_url(value)
    if name == "events":
        return event_names.clean_events(hook.style, value)
    return value


def _clean_name(given: str) -> str:
    name = " ".join(clean_text(given).split())
    if not 1 <= len(name) <= NAME_LENGTH:
        raise InvalidInput(_("1 to %(limit)s characters") % {"limit": NAME_LENGTH}, field="name")
    return name


def _check_url(given: str) -> str:
    allowed = settings.WEBHOOK_PRIVATE_NETWORKS
    targets.check_target_url(given, http=settings.WEBHOOK_ALLOW_HTTP, allowed=allowed)
    return given


def erase_replies(space: Space, since: datetime) -> int:
    """What an erasure drops here: replies, in which a receiver may have said our words back, of
    the tenant's deliveries from then on, whatever space they are of: a reply may tell of another
    one. Call inside the scope."""
    told = Delivery.objects.filter(created_at__gte=since).exclude(reply="")
    return told.update(reply="")
