"""Which exchange a turn belongs to, and which segment an exchange belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from memoryhub.dialogues.models import Session, Turn
from notes.models import Page

# Within a session, a silence this long begins another topic.
TOPIC_GAP = timedelta(minutes=30)


def form_pages(session: Session, new: Sequence[Turn]) -> list[Page]:
    """Put consecutive new turns of a session into pages (spec C16).

    An exchange is somebody's words and the replies of others; it ends when the first speaker
    speaks again. Call in the transaction that stored the turns.
    """
    page = Page.objects.filter(session=session).order_by("-first_seq").first()
    speaker = _first_speaker(page)
    made, grown = [], []
    for turn in new:
        if page is None or turn.speaker == speaker:
            page, speaker = _open(session, turn), turn.speaker
            made.append(page)
            continue
        page.last_seq, page.kind = turn.seq, Page.Kind.EXCHANGE
        if page not in made and page not in grown:
            grown.append(page)
    Page.objects.bulk_update(grown, ["last_seq", "kind"])
    Page.objects.bulk_create(made)
    return [*grown, *made]


def _first_speaker(page: Page | None) -> str:
    if page is None:
        return ""
    turns = Turn.objects.filter(space_id=page.space_id, seq=page.first_seq)
    return str(turns.values_list("speaker", flat=True).get())


def _open(session: Session, turn: Turn) -> Page:
    return Page(
        tenant_id=turn.tenant_id,
        space_id=turn.space_id,
        session=session,
        first_seq=turn.seq,
        last_seq=turn.seq,
    )


def starts_topic(first: Turn, previous: Turn | None, cue: bool) -> bool:
    """Time first, then words: a new session or a long silence, else a greeting or a new theme."""
    if previous is None or previous.session_id != first.session_id:
        return True
    return cue or first.occurred_at - previous.occurred_at > TOPIC_GAP
