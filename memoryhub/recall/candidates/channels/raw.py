"""What was said, word for word: turns by meaning and by words."""

from __future__ import annotations

from memoryhub.dialogues.models import Turn
from memoryhub.recall.candidates.channels.hits import ChannelHit
from memoryhub.recall.candidates.channels.similar import find_similar_hits
from memoryhub.recall.question.prepare import PreparedQuestion


def find_hits(ask: PreparedQuestion) -> list[ChannelHit]:
    if ask.policy.recall.whole:
        return _list_all_turns(ask)
    return find_similar_hits(ask, "turn", ask.k)


def _list_all_turns(ask: PreparedQuestion) -> list[ChannelHit]:
    """Every turn in its order: the baseline that has no memory (spec §9, BL1)."""
    rows = Turn.objects.filter(space=ask.space).exclude(state=Turn.State.REDACTED)
    if ask.visibility.as_of:
        rows = rows.filter(occurred_at__lte=ask.visibility.as_of)
    ids = rows.order_by("seq").values_list("id", flat=True)
    return [ChannelHit("turn", at, 1.0, "everything said") for at in ids]
