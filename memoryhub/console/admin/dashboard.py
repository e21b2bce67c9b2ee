"""The admin's first page: how the hub of this tenant stands, and where its rows are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.contrib.admin import AdminSite
from django.db.models import Count, Model, Value
from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from memoryhub.console.frame import charts
from memoryhub.console.pages.history.queries import load_latest_entries
from memoryhub.console.pages.overview.queries import (
    load_latest_failures,
    load_liveliest_spaces,
    load_queue_state,
)
from memoryhub.pipeline.review.answer_proposals import count_open_cases
from memoryhub.policies.services import load_tenant_policy
from notes.models import Segment
from notes.topics.heat import annotate_heat

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

_LATEST_CHANGES = 8
# The tables by what they are about; those of no room stand in the last one.
_ROOMS: tuple[tuple[StrOrPromise, tuple[str, ...]], ...] = (
    (
        _("Memories"),
        ("notes.Fact", "notes.Note", "notes.Link", "notes.Entity", "notes.Relation"),
    ),
    (
        _("Conversations"),
        ("dialogues.Turn", "dialogues.Session", "notes.Page", "notes.Chain"),
    ),
    (
        _("Summaries and topics"),
        ("notes.Segment", "notes.SegmentPage", "notes.Episode", "pipeline.SpaceMap"),
    ),
    (
        _("People and spaces"),
        (
            "personas.Trait", "personas.ProfileAttribute", "personas.CoreBlock",
            "personas.BlockVersion", "personas.BlockAttachment", "personas.Window",
        ),
    ),
    (
        _("Changes and reasons"),
        (
            "notes.EvolutionEvent", "notes.Revision", "notes.Derivation", "notes.Proposal",
            "notes.ReviewRule", "notes.Feedback", "notes.Receipt", "notes.Tombstone",
        ),
    ),
    (
        _("Work"),
        (
            "pipeline.Job", "inference.ModelCall", "recall.RecallLog", "recall.RecallLogItem",
            "importers.ImportRun", "pipeline.EmbeddingMigration", "webhooks.Delivery",
        ),
    ),
    (
        _("Access"),
        (
            "tenants.Tenant", "tenants.Space", "tenants.User", "tenants.Membership",
            "tenants.ApiKey", "tenants.PersonLink", "webhooks.Webhook", "tenants.AuditEntry",
            "tenants.AccountEvent", "policies.PolicyVersion",
        ),
    ),
)  # fmt: skip
_COUNTED = (
    "notes.Fact", "notes.Note", "notes.Link", "notes.Entity", "notes.Relation", "dialogues.Turn",
    "dialogues.Session", "notes.Page", "notes.Segment", "notes.Episode", "personas.Trait",
    "personas.CoreBlock", "notes.EvolutionEvent", "notes.Proposal", "pipeline.Job",
    "recall.RecallLog", "tenants.Space", "tenants.Membership", "tenants.ApiKey",
)  # fmt: skip
_HOTTEST = 5


@dataclass(frozen=True, slots=True)
class Table:
    """`count`: its rows, None where nobody counted."""

    name: str
    address: str
    count: int | None


@dataclass(frozen=True, slots=True)
class WarmTopic:
    """`parts`: its heat on a bar of width 100."""

    segment: Any
    parts: list[tuple[str, str, float, float]]


def build_dashboard(site: AdminSite, tenant_id: UUID, now: datetime) -> dict[str, Any]:
    """Inside the tenant's scope. As many statements whatever is held."""
    return {
        "rooms": list_rooms(site, count_rows(site)),
        "queue": load_queue_state(now),
        "cases": count_open_cases(),
        "topics": load_hottest_topics(tenant_id, now),
        "changes": load_latest_entries(None, _LATEST_CHANGES),
        "failures": load_latest_failures(),
        "spaces": load_liveliest_spaces(now),
    }


def count_rows(site: AdminSite) -> dict[str, int]:
    """By label, of the tables that are worth a number. One statement."""
    models = {model._meta.label: model for model in site._registry}
    counts = [
        models[label]
        ._default_manager.order_by()
        .annotate(label_=Value(label))
        .values("label_")
        .annotate(n=Count("pk"))
        .values_list("label_", "n")
        for label in _COUNTED
    ]
    return dict(counts[0].union(*counts[1:], all=True))


def list_rooms(
    site: AdminSite, counts: Mapping[str, int]
) -> list[tuple[StrOrPromise, list[Table]]]:
    models = {model._meta.label: model for model in site._registry}
    housed = {label for _, labels in _ROOMS for label in labels}
    rest = sorted(models.keys() - housed, key=lambda label: str(models[label]._meta.verbose_name))
    rooms = (*_ROOMS, (_("Other tables"), tuple(rest)))
    return [
        (title, [_build_table(models[label], counts) for label in labels])
        for title, labels in rooms
    ]


def _build_table(model: type[Model], counts: Mapping[str, int]) -> Table:
    opts = model._meta
    address = reverse(f"admin:{opts.app_label}_{opts.model_name}_changelist")
    count = counts.get(opts.label, 0) if opts.label in _COUNTED else None
    return Table(capfirst(str(opts.verbose_name_plural)), address, count)


def load_hottest_topics(tenant_id: UUID, now: datetime) -> list[WarmTopic]:
    """Of all spaces, by the tenant's own weights. Two statements."""
    weights = load_tenant_policy(tenant_id).policy.heat
    held = Segment.objects.filter(retired_at=None).select_related("space")
    rows = list(annotate_heat(held, weights, now).order_by("-heat", "-id")[:_HOTTEST])
    top = max((row.heat for row in rows), default=0.0)
    return [WarmTopic(row, charts.build_heat_parts(row, top, weights)) for row in rows]
