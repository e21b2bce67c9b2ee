"""How many messages a tenant may keep, so that none fills the disk of all.

Counted at most once a minute in a process, which adds what came through itself since: several
processes may together go beyond it by what they take in a minute.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from threading import Lock
from time import monotonic
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _

from memoryhub.dialogues.models import Turn
from memoryhub.errors import QuotaReached
from memoryhub.tenants.models import Tenant

_RECOUNT_SECONDS = 60.0
_MOST_TENANTS = 10_000  # whose count a process remembers


@dataclass(frozen=True, slots=True)
class _Count:
    kept: int
    at: float


_counts: dict[UUID, _Count] = {}
_lock = Lock()


def check_quota(tenant: Tenant, new: int) -> None:
    """Raises QuotaReached where so many `new` messages are more than the tenant may keep. Call
    before they are written, in their transaction. At most one statement, none without a quota."""
    most = read_quota(tenant)
    if not most:
        return
    kept = _find_count(tenant.id)
    if kept + new > most:
        raise _build_refusal(most, kept)
    transaction.on_commit(partial(_add, tenant.id, new))


def check_quota_after(tenant: Tenant, new: int) -> None:
    """The same after so many were written, for what tells only in its end how many it brings."""
    most = read_quota(tenant)
    if not most or not new:
        return
    kept = count_kept_messages()
    if kept > most:
        raise _build_refusal(most, kept - new)
    transaction.on_commit(partial(_add, tenant.id, new))


def _build_refusal(most: int, kept: int) -> QuotaReached:
    told = _(
        "This tenant may keep %(most)s messages and has %(kept)s: erase some, or have an operator "
        "raise its quota."
    )
    return QuotaReached(told % {"most": f"{most:,}", "kept": f"{kept:,}"})


def read_quota(tenant: Tenant) -> int:
    """0 for any number."""
    return int(settings.MAX_TURNS) if tenant.max_turns is None else tenant.max_turns


def count_kept_messages() -> int:
    """Erased ones left a mark that has no words and counts no more. Call inside the tenant's
    scope."""
    return Turn.objects.exclude(state=Turn.State.REDACTED).count()


def _find_count(tenant_id: UUID) -> int:
    now, known = monotonic(), _counts.get(tenant_id)
    if known is not None and now - known.at <= _RECOUNT_SECONDS:
        return known.kept
    counted = _Count(count_kept_messages(), now)
    with _lock:
        if len(_counts) >= _MOST_TENANTS:
            _counts.clear()
        _counts[tenant_id] = counted
    return counted.kept


def _add(tenant_id: UUID, new: int) -> None:
    with _lock:
        if known := _counts.get(tenant_id):
            _counts[tenant_id] = replace(known, kept=known.kept + new)
