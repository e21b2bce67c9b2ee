"""The turns that pages hold."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from uuid import UUID

from django.db.models import Q

from memoryhub.dialogues.models import IS_INNER, Turn
from notes.models import Page

PageTurns = dict[UUID, list[Turn]]


def load_page_turns(pages: Sequence[Page]) -> PageTurns:
    """The turns of each page, in order, without agents' own steps. One statement. Call inside the
    tenant's scope."""
    wanted = Q(pk=None)
    for page in pages:
        wanted |= Q(session=page.session_id, seq__range=(page.first_seq, page.last_seq))
    turns = list(Turn.objects.filter(wanted).exclude(IS_INNER).order_by("seq")) if pages else []
    by_session: dict[UUID, list[Turn]] = defaultdict(list)
    for turn in turns:
        by_session[turn.session_id].append(turn)
    return {page.id: [t for t in by_session[page.session_id] if page.covers(t)] for page in pages}
