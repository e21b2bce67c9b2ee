"""The latest exchanges, and every turn that is not read yet, whatever is asked (E11, C18)."""

from __future__ import annotations

from functools import reduce
from operator import or_

from django.db.models import Q

from memoryhub.dialogues.models import Turn
from memoryhub.recall.asking import Ask
from memoryhub.recall.channels.hits import Hit
from memoryhub.recall.hydration import UNREAD
from notes.models import Page

# A dialogue imported at once is unread for a while: the newest of it is shown.
MOST = 200


def find(ask: Ask) -> list[Hit]:
    """In the order they were said."""
    pages = Page.objects.filter(space=ask.space, tier=Page.Tier.SHORT, retired_at=None)
    newest = pages.order_by("-first_seq")[: ask.policy.stm.pages]
    spans = [Q(session_id=p.session_id, seq__range=(p.first_seq, p.last_seq)) for p in newest]
    rows = Turn.objects.filter(reduce(or_, spans, Q(state__in=UNREAD)), space=ask.space)
    rows = rows.exclude(state=Turn.State.REDACTED)
    if ask.visibility.as_of:
        rows = rows.filter(occurred_at__lte=ask.visibility.as_of)
    found = list(rows.order_by("-seq").values_list("id", "state")[:MOST])
    return [
        Hit("turn", at, 1.0, "not read yet" if state in UNREAD else "just said")
        for at, state in reversed(found)
    ]
