"""Episodes: which turns belong to one, what of them may be found, and the summary so far."""

from __future__ import annotations

from django.db.models import Q

from memoryhub.dialogues.models import Session
from memoryhub.tenants.models import Space
from notes.models import Episode

# Spans that are searched. The summary so far and the portraits are handed over whole.
SEARCHED = (Episode.Kind.TOPIC, Episode.Kind.SESSION, Episode.Kind.DAY, Episode.Kind.GLOBAL)


def live() -> Q:
    """Held at present and true to what it covers: neither retired nor stale."""
    return Q(retired_at=None, stale=False)


def live_sql(alias: str) -> str:
    return f"({alias}.retired_at IS NULL AND NOT {alias}.stale)"


def rolling(space: Space, session: Session | None = None) -> Episode | None:
    """The row of the summary so far, stale or not: the space's, or a session's window's."""
    rows = Episode.objects.filter(
        space=space, kind=Episode.Kind.ROLLING, session=session, retired_at=None
    )
    found: Episode | None = rows.order_by("-to_seq").first()
    return found


def rolling_text(space: Space, session: Session | None = None) -> str:
    """S: what was said so far, in brief; "" before the first fold and while it is stale."""
    row = rolling(space, session)
    return row.text if row is not None and not row.stale else ""
