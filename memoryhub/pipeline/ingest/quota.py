"""How many messages a tenant may keep, so that none fills the disk of all.

Counted at most once a minute in a process, which adds what came through itself since: several
processes may together go beyond it by what they take in a minute.
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from time import monotonic
from uuid import UUID

from django.conf import settings
from django.utils.translation import gettext as _

from memoryhub.dialogues.models import Turn
from memoryhub.errors import QuotaReached

_RECOUNT_SECONDS = 60.0
_MOST_TENANTS = 10_000  # whose count a process remembers


@dataclass(frozen=True, slots=True)
class _Count:
    kept: int
    at: float


_counts: dict[UUID, _Count] = {}
_lock = Lock()


def check_quota(tenant_id: UUID, own: int | None, new: int) -> None:
    """Raises QuotaReached where the `new` messages, which are written but not committed, are more
    than the tenant may keep: `own`, or what the settings say (None), or any number (0). Call inside
    the tenant's scope. At most one statement."""
    most = read_quota(own)
    if not most:
        return
    now = monotonic()
    with _lock:
        known = _counts.get(tenant_id)
    if known is None or now - known.at > _RECOUNT_SECONDS:
        kept, at = count_kept_messages() - new, now
    else:
        kept, at = known.kept, known.at
    fits = kept + new <= most
    with _lock:
        if len(_counts) >= _MOST_TENANTS:
            _counts.clear()
        _counts[tenant_id] = _Count(kept + new * fits, at)
    if not fits:
        told = _(
            "This tenant may keep %(most)s messages and has %(kept)s: erase some, or have an "
            "operator raise its quota."
        )
        raise QuotaReached(told % {"most": f"{most:,}", "kept": f"{kept:,}"})


def read_quota(own: int | None) -> int:
    """Of a tenant that has `own` (None: none of its own); 0 for any number."""
    return int(settings.MAX_TURNS) if own is None else own


def count_kept_messages() -> int:
    """Erased ones left a mark that has no words and counts no more. Call inside the tenant's
    scope."""
    return Turn.objects.exclude(state=Turn.State.REDACTED).count()
