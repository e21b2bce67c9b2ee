"""Rows that end by their age: logs, jobs, answers, deliveries, the list of changes.

Each app says in `growth` of its memory_app.py which switch of `retention` ends rows of a table, and
which setting of the hub; the fewer days count. Rows end at the beginning of a day (UTC), a portion
of each tenant at a time, tenants in turns, with a line in the tenant's list of changes. Under a
legal hold nothing ends: of the tenant, or of the spaces that are held. What was said ends with the
sweep of its space (erasure/erase_targets.py), which is only planned here.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import Any
from uuid import UUID

from django.apps import apps
from django.conf import settings
from django.db import connection
from django.db.models import Model, OuterRef, QuerySet, Subquery
from django.utils import timezone

from memoryhub.declarations import Growth, load_declarations
from memoryhub.dialogues.models import Turn
from memoryhub.pipeline.models import Job
from memoryhub.pipeline.steps.maintenance import sweep
from memoryhub.policies.models import PolicyVersion
from memoryhub.policies.schema import Policy
from memoryhub.policies.services import load_space_policies, load_tenant_policy
from memoryhub.tenants.audit import HUB_ACTOR, record_audit_entry
from memoryhub.tenants.models import AuditEntry, Space, Tenant
from memoryhub.tenants.scope import tenant_scope

# Rows that one transaction ends, and seconds that a sweep of the hub takes for it at most.
PORTION, SECONDS_A_SWEEP = 2_000, 2.0
# Seconds from one round of all tenants to the next.
ROUND_SECONDS = 3600.0
# Spaces whose sweep one round plans for a tenant.
MOST_SPACES = 200

_TENANTS_SQL = "SELECT tenant_id FROM memoryhub_ageing_tenants()"
_LOCK_SQL = "SELECT pg_try_advisory_xact_lock(hashtext('memoryhub.ageing'), hashtext(%s))"


@dataclass(frozen=True, slots=True)
class AgeingTable:
    """A table of tenants' rows, and why it grows."""

    label: str
    model: type[Model]
    growth: Growth

    def find_days(self, policy: Policy) -> int | None:
        """After how many days its rows end; None: never by their age."""
        told = getattr(policy.retention, self.growth.days) if self.growth.days else None
        hub = getattr(settings, self.growth.hub_days) if self.growth.hub_days else None
        return min((days for days in (told, hub) if days is not None), default=None)


def list_growing_tables() -> list[AgeingTable]:
    """Every table that an app says something of, in the order of the apps."""
    return [
        AgeingTable(f"{label}.{name}", apps.get_model(label, name), growth)
        for label, app in load_declarations().items()
        for name, growth in app.growth.items()
    ]


@dataclass(frozen=True, slots=True)
class _Holds:
    """Where a legal hold is on: in the tenant as a whole, or in these spaces."""

    whole: bool
    spaces: frozenset[UUID]


class TenantRound:
    """Goes round the tenants, a portion of each at a time. One a process."""

    def __init__(self) -> None:
        self._waiting: deque[UUID] = deque()
        self._next_at = 0.0

    def go_on(self, now: datetime, seconds: float = SECONDS_A_SWEEP) -> None:
        """End rows for so many seconds; a round that is through begins again after an hour."""
        until = monotonic() + seconds
        if not self._waiting and monotonic() >= self._next_at:
            self._waiting.extend(_list_tenants())
            self._next_at = monotonic() + ROUND_SECONDS
        while self._waiting and monotonic() < until:
            tenant_id = self._waiting.popleft()
            if end_old_rows(tenant_id, now):
                plan_turn_sweeps(tenant_id, now)
            else:
                self._waiting.append(tenant_id)


_round = TenantRound()


def sweep_old_rows() -> None:
    """A task of the hub's sweep."""
    _round.go_on(timezone.now())


def _list_tenants() -> list[UUID]:
    with connection.cursor() as cursor:
        cursor.execute(_TENANTS_SQL)
        return [row[0] for row in cursor.fetchall()]


def end_old_rows(tenant_id: UUID, now: datetime) -> bool:
    """End a portion of the tenant's rows that are past their days; whether none are left.

    One transaction: the rows and the line that tells of them. Another worker that is at it is left
    alone. Opens its own scope.
    """
    with tenant_scope(tenant_id):
        if not _take_turn(tenant_id) or not Tenant.objects.filter(id=tenant_id).exists():
            return True
        policy = load_tenant_policy(tenant_id).policy
        holds = _find_holds(tenant_id, policy)
        if holds.whole:
            return True
        ended: Counter[str] = Counter()
        left = PORTION
        for table, rows in _list_ending_rows(policy, holds, now):
            ids = list(rows.values_list("pk", flat=True)[:left])
            if ids:
                # Not what the database keeps: it lets go of no line of an audit within a year.
                _, gone = table.model._default_manager.filter(pk__in=ids).delete()
                ended[table.label] += gone.get(table.model._meta.label, 0)
                left -= gone.get(table.model._meta.label, 0)
            if not left:
                break
        if ended.total():
            _tell_what_ended(tenant_id, ended)
        return left > 0


def _take_turn(tenant_id: UUID) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(_LOCK_SQL, [str(tenant_id)])
        return bool(cursor.fetchone()[0])


def _find_holds(tenant_id: UUID, policy: Policy) -> _Holds:
    own = PolicyVersion.objects.exclude(space=None).values_list("space_id", flat=True).distinct()
    told = load_space_policies(tenant_id, list(own))
    held = frozenset(space for space, its in told.items() if its.erase.hold)
    return _Holds(policy.erase.hold, held)


def _list_ending_rows(
    policy: Policy, holds: _Holds, now: datetime
) -> Iterator[tuple[AgeingTable, QuerySet[Any]]]:
    """By table, the rows that are past their days, the oldest first."""
    today = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    for table in list_growing_tables():
        days = table.find_days(policy)
        if not table.growth.at or days is None or table.growth.kind == "said":
            continue
        at = table.growth.at
        rows = table.model._default_manager.filter(**{f"{at}__lt": today - timedelta(days=days)})
        if table.growth.only is not None:
            rows = rows.filter(table.growth.only)
        if holds.spaces and any(field.name == "space" for field in table.model._meta.fields):
            rows = rows.exclude(space_id__in=holds.spaces)
        yield table, rows.order_by(at)


def _tell_what_ended(tenant_id: UUID, ended: Counter[str]) -> None:
    detail = ", ".join(f"{label} {count}" for label, count in sorted(ended.items()) if count)
    record_audit_entry(
        tenant_id, AuditEntry.Action.AGED_OUT, HUB_ACTOR, f"{sum(ended.values())}", detail
    )


def plan_turn_sweeps(tenant_id: UUID, now: datetime) -> None:
    """Have the spaces swept in which something was said too long ago. Opens its own scope."""
    with tenant_scope(tenant_id):
        policy = load_tenant_policy(tenant_id).policy
        own = PolicyVersion.objects.exclude(space=None).values_list("space_id", flat=True)
        apart = load_space_policies(tenant_id, list(own.distinct()))
        groups: list[tuple[Policy, QuerySet[Space]]] = [
            (policy, Space.objects.exclude(id__in=list(apart))),
            *((its, Space.objects.filter(id=space)) for space, its in apart.items()),
        ]
        for its, spaces in groups:
            for space in _find_outlived_spaces(its, spaces, now):
                sweep.plan_sweep(space, now, now)


def _find_outlived_spaces(
    policy: Policy, spaces: QuerySet[Space], now: datetime
) -> Iterable[Space]:
    days = policy.retention.turn_days
    if days is None or policy.erase.hold:
        return ()
    # In the order of the turns, so that the index is left at the first that is still there.
    turns = Turn.objects.filter(space=OuterRef("pk")).exclude(state=Turn.State.REDACTED)
    oldest = Subquery(turns.order_by("seq").values("received_at")[:1])
    waiting = Job.objects.filter(step=Job.Step.SWEEP, state__in=Job.UNFINISHED_STATES)
    due = spaces.annotate(oldest=oldest).filter(oldest__lt=now - timedelta(days=days))
    due = due.exclude(id__in=waiting.filter(run_after__lte=now + sweep.HOUR).values("space_id"))
    return due.order_by("id")[:MOST_SPACES]
