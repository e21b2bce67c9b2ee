"""What events are called: by the hub itself, and by mem0's webhooks. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from memoryhub.background.news import NEWS_KINDS
from memoryhub.errors import InvalidInput
from memoryhub.webhooks.models import Webhook

TEST_EVENT = "webhook.test"
NATIVE_EVENTS: Mapping[str, str] = NEWS_KINDS
# As their documentation has them. What never happens here may be subscribed to all the same.
MEM0_EVENTS: Mapping[str, str] = {
    "memory_add": gettext_noop("A memory was added"),
    "memory_update": gettext_noop("A memory was reworded or replaced"),
    "memory_delete": gettext_noop("A memory was removed or is no longer true"),
    "memory_categorize": gettext_noop("Never sent: a memory has its category from the start"),
    "ingest_job_completed": gettext_noop("What was added has been read"),
    "ingest_job_partially_completed": gettext_noop(
        "Never sent: an add is read whole or not at all"
    ),
    "ingest_job_failed": gettext_noop("What was added could not be read"),
    "ingest_job_cancelled": gettext_noop("Never sent: adds are not cancelled"),
}
_MEM0_EVENT_OF_KIND = {
    "fact.added": "memory_add",
    "fact.restored": "memory_add",
    "fact.changed": "memory_update",
    "fact.ended": "memory_delete",
    "fact.retracted": "memory_delete",
    "fact.deleted": "memory_delete",
    "job.done": "ingest_job_completed",
    "job.failed": "ingest_job_failed",
}
_EVENTS_OF_STYLE = {Webhook.Style.NATIVE: NATIVE_EVENTS, Webhook.Style.MEM0: MEM0_EVENTS}


def list_events(style: str) -> Mapping[str, str]:
    """The events of a style, with what each says."""
    return _EVENTS_OF_STYLE[Webhook.Style(style)]


def clean_events(style: str, events: Iterable[str]) -> list[str]:
    """In the style's own order, each once. Raises InvalidInput."""
    given = list(dict.fromkeys(events))
    names = list_events(style)
    if unknown := [each for each in given if each not in names]:
        told = {"unknown": repr(unknown[0][:60]), "known": ", ".join(names)}
        message = _("there is no event %(unknown)s; known: %(known)s")
        raise InvalidInput(message % told, field="events")
    if not given:
        raise InvalidInput(_("at least one event"), field="events")
    return [name for name in names if name in given]


def find_event_name(style: str, kind: str, data: Mapping[str, Any]) -> str:
    """What this is called in the style; "" if it knows nothing of the sort."""
    if style == Webhook.Style.NATIVE or kind == TEST_EVENT:
        return kind
    name = _MEM0_EVENT_OF_KIND.get(kind, "")
    if kind == "fact.added" and data.get("lineage_version", 1) > 1:
        return "memory_update"  # a memory of theirs is all versions of a claim
    return "" if kind.startswith("job.") and data.get("step") != "derive" else name
