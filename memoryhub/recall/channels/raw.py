"""What was said, word for word: turns by meaning and by words."""

from __future__ import annotations

from memoryhub.dialogues.models import Turn
from memoryhub.recall.asking import Ask
from memoryhub.recall.channels.hits import Hit
from memoryhub.recall.channels.similar import hits


def find(ask: Ask) -> list[Hit]:
    if ask.policy.recall.whole:
        return _whole(ask)
    return hits(ask, "turn", ask.k)


def _whole(ask: Ask) -> list[Hit]:
    """Every turn in its order: the baseline that has no memory (spec §9, BL1)."""
    rows = Turn.objects.filter(space=ask.space).exclude(state=Turn.State.REDACTED)
    if ask.visibility.as_of:
        rows = rows.filter(occurred_at__lte=ask.visibility.as_of)
    ids = rows.order_by("seq").values_list("id", flat=True)
    return [Hit("turn", at, 1.0, "everything said") for at in ids]
