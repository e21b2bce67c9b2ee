"""Webhooks with what waits for them, and the log of what they were sent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db.models import Count, Q
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from memoryhub.console.frame.lists import (
    FilterChoice,
    Filters,
    ListPage,
    build_text_condition,
    load_page,
)
from memoryhub.webhooks import event_names
from memoryhub.webhooks.models import Delivery, Webhook
from memoryhub.webhooks.services import DISABLED_BY_HAND

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

_SWITCHED_BY_HAND = Q(disabled_because__in=("", DISABLED_BY_HAND))
_FAILING_CONDITION = Q(is_active=True, failures__gt=0) | Q(is_active=False) & ~_SWITCHED_BY_HAND
_WEBHOOK_STATES: dict[str, tuple[StrOrPromise, Q]] = {
    "all": (_("All"), Q()),
    "on": (_("On"), Q(is_active=True)),
    "off": (_("Off"), Q(is_active=False)),
    "failing": (_("Failing"), _FAILING_CONDITION),
}
WEBHOOK_STATE_CHOICE = FilterChoice(
    "state", _("State"), tuple((name, label) for name, (label, __) in _WEBHOOK_STATES.items())
)
_OPEN_DELIVERY_STATES = (Delivery.State.WAITING, Delivery.State.SENDING, Delivery.State.RETRY)
DELIVERY_STATES: dict[str, tuple[StrOrPromise, tuple[str, ...]]] = {
    "all": (_("All"), tuple(Delivery.State.values)),
    "open": (_("Not ended"), _OPEN_DELIVERY_STATES),
    "delivered": (_("Delivered"), (Delivery.State.DELIVERED,)),
    "dead": (_("Given up"), (Delivery.State.DEAD,)),
}
DELIVERY_STATE_CHOICE = FilterChoice(
    "state", _("State"), tuple((name, label) for name, (label, __) in DELIVERY_STATES.items())
)

# What the page calls an event's first word, and the field of a form that is wrong.
EVENT_HEAD_WORDS = (
    _("turns"), _("job"), _("fact"), _("note"), _("episode"),
    _("trait"), _("block"), _("conflict"), _("erasure"), _("budget"),
)  # fmt: skip
FORM_FIELD_WORDS = (
    pgettext_lazy("field", "name"), pgettext_lazy("field", "subject"),
    pgettext_lazy("field", "events"),
)  # fmt: skip


def load_webhooks(filters: Filters) -> ListPage[Webhook]:
    """Each with `waiting` and `dead`: how many of its deliveries are."""
    rows = Webhook.objects.filter(build_text_condition(filters.q, "name", "url", "space__subject"))
    rows = rows.filter(_WEBHOOK_STATES[filters["state"]][1])
    counted = rows.select_related("space").annotate(
        waiting=Count("deliveries", filter=Q(deliveries__state__in=_OPEN_DELIVERY_STATES)),
        dead=Count("deliveries", filter=Q(deliveries__state=Delivery.State.DEAD)),
    )
    return load_page(counted.order_by("-created_at", "-id"), filters.page)


def count_unreached_webhooks() -> int:
    """How many fail, or were switched off for it."""
    return Webhook.objects.filter(_FAILING_CONDITION).count()


def get_webhook_or_404(hook_id: UUID) -> Webhook:
    return get_object_or_404(Webhook.objects.select_related("space").filter(id=hook_id))


def build_event_choice(hook: Webhook) -> FilterChoice:
    names = [*hook.events, event_names.TEST_EVENT]
    return FilterChoice("event", _("Event"), (("", _("Any")), *((name, name) for name in names)))


def load_deliveries(hook: Webhook, filters: Filters) -> ListPage[Delivery]:
    rows = Delivery.objects.filter(webhook=hook, state__in=DELIVERY_STATES[filters["state"]][1])
    rows = rows.filter(
        build_text_condition(filters.q, "name", "error", "reply", "event__space__subject")
    )
    if filters["event"]:
        rows = rows.filter(name=filters["event"])
    return load_page(
        rows.select_related("event", "event__space").order_by("-created_at", "-id"), filters.page
    )


def get_delivery_or_404(hook_id: UUID, delivery_id: UUID) -> Delivery:
    return get_object_or_404(
        Delivery.objects.select_related("webhook", "event", "event__space").filter(
            webhook_id=hook_id, id=delivery_id
        )
    )


def group_events(
    style: str, chosen: Iterable[str]
) -> list[tuple[str, list[tuple[str, str, bool]]]]:
    """The events of a style by their first word: (name, what it says, whether it is chosen)."""
    ticked = set(chosen)
    known: Mapping[str, str] = event_names.list_events(style)
    found: dict[str, list[tuple[str, str, bool]]] = {}
    for name, said in known.items():
        head: Any = name.partition(".")[0] if style == Webhook.Style.NATIVE else "mem0"
        found.setdefault(head, []).append((name, said, name in ticked))
    return list(found.items())
