"""A row's page: what it says and rests on, what hangs on it, and pictures of its life."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import reduce
from typing import TYPE_CHECKING, Any

from django.db.models import Model, Q
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.dateformat import format as written
from django.utils.html import strip_tags
from django.utils.translation import gettext

from memoryhub.console.admin.actions import list_fitting_actions
from memoryhub.console.admin.columns import say_value
from memoryhub.console.admin.elsewhere import find_other_way
from memoryhub.console.admin.names import is_named
from memoryhub.console.admin.row_names import name_row
from memoryhub.console.admin.warmth import prepare_rows
from memoryhub.console.frame import charts
from memoryhub.console.frame.admin_addresses import find_console_address, find_row_address
from memoryhub.console.frame.text.quotes import load_sources
from memoryhub.console.pages.graph.link_graph import GraphNode
from memoryhub.console.pages.graph.link_picture import LinkPicture, build_link_picture
from memoryhub.console.pages.graph.queries import load_graph_neighbours
from memoryhub.console.pages.heat.life import MemoryLife, build_memory_life, load_recalls_of
from memoryhub.console.pages.history.row_changes import MemoryChange, describe_changes, load_changes
from memoryhub.policies.schema import Policy
from memoryhub.policies.services import load_effective_policy
from memoryhub.tenants.models import Space
from notes.history.row_kinds import list_row_kinds
from notes.models import Entity, Episode, EvolutionEvent, Fact, Note, Segment
from notes.retention.decay import SAID_COLUMNS
from notes.topics.heat import annotate_heat

if TYPE_CHECKING:
    from memoryhub.console.admin.base import HubAdmin
    from memoryhub.console.admin.columns import Column

MAX_RELATED = 10  # rows of a table on another row's page
MAX_RELATED_COLUMNS = 4
MAX_CHANGES = 50
_FEW_CHARACTERS, _FEW_LINES = 240, 6  # that a stored value's place has room for, however narrow
_GRAPH_MODELS = {
    Note: "note",
    Fact: "fact",
    Entity: "entity",
    Segment: "segment",
    Episode: "episode",
}


@dataclass(frozen=True, slots=True)
class RelatedRows:
    """The first rows of another table that name this one, with the columns of their own list."""

    title: str
    labels: list[str]
    rows: list[tuple[str, list[tuple[str, Any]]]]
    total: int
    address: str


@dataclass(frozen=True, slots=True)
class ChangeMark:
    """A change on a line of 600, `x` of it."""

    x: float
    at: datetime
    what: str
    address: str


def build_row_page(
    request: HttpRequest,
    row: Any,
    columns: Sequence[Column],
    related: Sequence[tuple[HubAdmin, Sequence[str]]],
    hidden: Collection[str],
) -> dict[str, Any]:
    """For the template. Call inside the tenant's scope; the number of statements does not depend
    on how much hangs on the row."""
    now, space = timezone.now(), _find_space(row)
    kinds = {kind.model: kind.name for kind in list_row_kinds()}
    kind = kinds.get(type(row), "")
    found: dict[str, Any] = {
        "headline": _describe(row, columns),
        "stored": list_stored_values(row, hidden),
        "console_address": find_console_address(row),
        "row_actions": list_fitting_actions(row),
        "other_way": find_other_way(row),
        "kind": kind,
        "space": space,
        "related": [t for each in related if (t := load_related_rows(request, row, *each)).total],
        "here": find_row_address(row),
    }
    if space is None:
        return found
    if isinstance(row, EvolutionEvent):
        pairs = [(row, revision) for revision in row.revisions.all()[:MAX_CHANGES]]
        return found | {"changes": describe_changes(pairs), "several": True}
    if not kind:
        return found
    changes = load_changes(kind, [row.id])
    found |= {
        "sources": load_sources(kind, [row.id])[row.id],
        "changes": changes[:MAX_CHANGES],
        "strip": build_change_strip(changes, now),
    }
    return found | _build_pictures(row, space, now)


@dataclass(frozen=True, slots=True)
class StoredValue:
    """A column with what the row holds in it; `address` of the row that it names. `is_code`: as
    programs write it."""

    label: str
    value: Any
    address: str = ""
    is_code: bool = False

    @property
    def is_time(self) -> bool:
        return isinstance(self.value, datetime)

    @property
    def may_scroll(self) -> bool:
        """Whether it may be higher than its place, where a keyboard has to reach it to scroll."""
        text = str(self.value)
        return not self.address and (len(text) > _FEW_CHARACTERS or text.count("\n") > _FEW_LINES)


def list_stored_values(row: Any, hidden: Collection[str]) -> list[StoredValue]:
    """What the row holds, without what is empty and the hub's own book-keeping. Expects what
    foreign keys name to be loaded."""
    found = []
    for field in row._meta.concrete_fields:
        value = say_value(row, field.name)
        if field.name in ("id", "tenant", *hidden) or value in (None, "", [], {}):
            continue
        label = str(field.verbose_name)
        if not is_named(type(row), field.name):
            continue
        if isinstance(value, Model):
            found.append(StoredValue(label, name_row(value), find_row_address(value)))
        elif isinstance(value, list) and all(isinstance(each, str) for each in value):
            found.append(StoredValue(label, ", ".join(value)))
        elif isinstance(value, list | dict):
            text = json.dumps(value, ensure_ascii=False, indent=1, default=str)
            found.append(StoredValue(label, text, is_code=True))
        elif isinstance(value, bool):
            found.append(StoredValue(label, gettext("yes") if value else gettext("no")))
        elif isinstance(value, date) and not isinstance(value, datetime):
            found.append(StoredValue(label, written(value, gettext("j M Y"))))
        elif isinstance(value, float):
            found.append(StoredValue(label, f"{value:.2f}"))
        else:
            found.append(StoredValue(label, value))
    return found


def _find_space(row: Any) -> Space | None:
    return row if isinstance(row, Space) else getattr(row, "space", None)


def _describe(row: Any, columns: Sequence[Column]) -> str:
    """The whole of what the first column of its list cuts to a line; of a number or a key, what
    the row is called."""
    name = columns[0].__name__
    said = getattr(row, name, "")
    if isinstance(said, int) or name == "key":
        return name_row(row)
    is_text = isinstance(said, str) and not hasattr(row, f"get_{name}_display")
    return said if is_text and said else strip_tags(str(columns[0](row))) or gettext("no text yet")


def load_related_rows(
    request: HttpRequest, row: Any, table: HubAdmin, own: Sequence[str]
) -> RelatedRows:
    """As their own list reads them. Two statements, and one for their warmth."""
    names = reduce(Q.__or__, (Q(**{column: row.pk}) for column in own))
    rows = table.get_queryset(request).filter(names)
    # What names this row says nothing on its page, unless it may be either of two.
    told = {"space", *(own if len(own) == 1 else ())}
    columns = [c for c in table.bound_columns if c.__name__ not in told][:MAX_RELATED_COLUMNS]
    shown = list(rows[:MAX_RELATED])
    prepare_rows(shown)
    opts = table.model._meta
    labels = [str(c.short_description) for c in columns]  # type: ignore[attr-defined]
    base = reverse(f"admin:{opts.app_label}_{opts.model_name}_changelist")
    return RelatedRows(
        str(opts.verbose_name_plural),
        labels,
        [
            (find_row_address(each), list(zip(labels, (c(each) for c in columns), strict=True)))
            for each in shown
        ],
        rows.count() if len(shown) == MAX_RELATED else len(shown),
        f"{base}?{own[0]}={row.pk}" if len(own) == 1 else "",
    )


def _build_pictures(row: Any, space: Space, now: datetime) -> dict[str, Any]:
    policy = load_effective_policy(space).policy
    found: dict[str, Any] = {}
    if kind := _GRAPH_MODELS.get(type(row)):
        found["links"] = load_link_picture(row, kind, space, policy, now)
    if isinstance(row, Segment):
        warm = annotate_heat(Segment.objects.filter(id=row.id), policy.heat, now).get()
        top = 1.05 * max(warm.heat, policy.heat.tau)
        found["parts"] = charts.build_heat_parts(warm, top, policy.heat)
        found["tau"], found["tau_x"] = policy.heat.tau, round(100 * policy.heat.tau / top, 2)
    if type(row) in SAID_COLUMNS and policy.forget.mode != "off":
        found["life"] = _load_life(row, kind or "", space, policy, now)
    return found


def _load_life(row: Any, kind: str, space: Space, policy: Policy, now: datetime) -> MemoryLife:
    logs = load_recalls_of(space, kind, row.id)
    return build_memory_life(row, logs, policy.forget, now)


def load_link_picture(
    row: Any, kind: str, space: Space, policy: Policy, now: datetime
) -> LinkPicture | None:
    """None without links."""
    node = GraphNode(str(row.id), kind, "", 0.0)
    found = load_graph_neighbours(space, node, policy.heat, now)
    return build_link_picture([(edge, other) for edge, other, _ in found], _find_node_address)


def _find_node_address(node: GraphNode) -> str:
    return reverse(f"admin:notes_{node.kind}_change", args=[node.id])


def build_change_strip(changes: Sequence[MemoryChange], now: datetime) -> list[ChangeMark]:
    """When it changed, on a line from its making until now; never on the line's edge."""
    if not changes:
        return []
    start = changes[-1].event.created_at
    whole = max((now - start).total_seconds(), 1.0)
    return [
        ChangeMark(
            round(12 + 576 * (change.event.created_at - start).total_seconds() / whole, 1),
            change.event.created_at,
            f"{change.event.get_kind_display()}: {change.how}",
            find_row_address(change.event),
        )
        for change in reversed(changes)
    ]
