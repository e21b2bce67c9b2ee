"""The loop guard: sentences the hub gave out, recognised when they come back (spec §10, E27).

Integrators put memories into prompts, and agents say them aloud: what returns so is no news, and
corroborates nothing. Whoever said it first keeps it: words a person had said before the hub ever
gave them out are theirs to repeat (E7).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import reduce
from operator import or_
from uuid import UUID

from django.db.models import Q

from memoryhub.dialogues.messages import hash_text, normalise_text
from memoryhub.dialogues.models import Turn
from memoryhub.engines.local.language import HAN
from memoryhub.tenants.database.prepared import open_prepared_cursor
from memoryhub.tenants.ids import new_id
from memoryhub.tenants.models import Space
from notes.models import Fingerprint

TextSpan = tuple[int, int]
_SENTENCE = re.compile(r"[^\n.!?。！？;；]+(?:\.(?=\S)[^\n.!?。！？;；]+)*")
_OUTER_MARKS = re.compile(r"^[\W_]+|[\W_]+$")
_HAN = re.compile(f"[{HAN}]")
# A block of memories stands between these, wherever it is pasted.
OPEN, CLOSE = "<memory>", "</memory>"
_MEMORY_BLOCK = re.compile(rf"{OPEN}.*?(?:{CLOSE}|\Z)", re.S)
LEAST_WORDS, LEAST_HAN = 3, 6  # shorter sentences are said by everybody
MAX_SENTENCES = 400  # sentences of one answer


def find_sentences(text: str) -> list[TextSpan]:
    """Where each sentence stands, without marks and bullets around it."""
    found = []
    for match in _SENTENCE.finditer(text):
        bare = _OUTER_MARKS.sub("", match[0])
        if _is_long_enough(bare):
            start = match.start() + match[0].index(bare)
            found.append((start, start + len(bare)))
    return found


def _is_long_enough(sentence: str) -> bool:
    han = len(_HAN.findall(sentence))
    return han >= LEAST_HAN or (not han and len(sentence.split()) >= LEAST_WORDS)


_SAVE_FINGERPRINTS_SQL = """
INSERT INTO notes_fingerprint AS held (id, tenant_id, space_id, digest, seen_at, given_at)
SELECT id, %s, %s, digest, seen_at, given_at
FROM unnest(%s::uuid[], %s::text[], %s::timestamptz[], %s::timestamptz[])
  AS given(id, digest, seen_at, given_at)
ON CONFLICT (space_id, digest) DO UPDATE SET given_at = EXCLUDED.given_at
WHERE held.given_at < EXCLUDED.given_at - interval '1 day'
"""


def save_fingerprints(space: Space, texts: Iterable[str], at: datetime) -> None:
    """Texts that were given out: derived ones, in whatever form they were shown.

    A sentence given out before keeps its first time, and lasts from the day it was given out
    last. Call inside the tenant's scope, and not in a request's transaction.
    """
    save_fingerprints_of_answers(space, [(texts, at)])


def save_fingerprints_of_answers(
    space: Space, answers: Iterable[tuple[Iterable[str], datetime]]
) -> None:
    """`remember` of the texts of several answers, in one statement."""
    times: dict[str, list[datetime]] = {}
    for texts, at in answers:
        digests = {hash_text(text[a:b]) for text in texts for a, b in find_sentences(text)}
        for digest in sorted(digests)[:MAX_SENTENCES]:
            times.setdefault(digest, []).append(at)
    if not times:
        return
    known = sorted(times)  # two who remember the same wait for each other and never both
    with open_prepared_cursor() as cursor:
        cursor.execute(
            _SAVE_FINGERPRINTS_SQL,
            [
                space.tenant_id,
                space.id,
                [new_id() for _ in known],
                known,
                [min(times[digest]) for digest in known],
                [max(times[digest]) for digest in known],
            ],
        )


def find_echoes(space: Space, turns: Sequence[Turn]) -> dict[UUID, list[TextSpan]]:
    """By turn, the sentences and blocks that came from the hub. Call inside the tenant's scope.

    Two statements for any number of turns.
    """
    said = {
        (turn.id, span): hash_text(turn.words[span[0] : span[1]])
        for turn in turns
        for span in find_sentences(turn.words)
    }
    rows = Fingerprint.objects.filter(space=space, digest__in=set(said.values()))
    given = dict(rows.values_list("digest", "seen_at"))
    by_id = {turn.id: turn for turn in turns}
    hits = [
        (by_id[turn], span, given[digest])
        for (turn, span), digest in said.items()
        if digest in given and given[digest] <= by_id[turn].received_at
    ]
    own = _find_own_words(space, [hit for hit in hits if hit[0].role == Turn.Role.USER])
    found: dict[UUID, list[TextSpan]] = {}
    for turn in turns:
        if blocks := [match.span() for match in _MEMORY_BLOCK.finditer(turn.text)]:
            found[turn.id] = blocks
    for turn, span, _ in hits:
        if (turn.id, span) not in own:
            found.setdefault(turn.id, []).append(span)
    return found


def _find_own_words(
    space: Space, hits: Sequence[tuple[Turn, TextSpan, datetime]]
) -> set[tuple[UUID, TextSpan]]:
    """Those that a person had said before the hub first gave them out."""
    if not hits:
        return set()
    asked = [
        Q(received_at__lt=seen, text__icontains=turn.text[span[0] : span[1]])
        for turn, span, seen in hits[:MAX_SENTENCES]
    ]
    earlier = Turn.objects.filter(reduce(or_, asked), space=space, role=Turn.Role.USER)
    told = [(turn.received_at, normalise_text(turn.text)) for turn in earlier[:MAX_SENTENCES]]
    return {
        (turn.id, span)
        for turn, span, seen in hits
        if any(
            when < seen and normalise_text(turn.text[span[0] : span[1]]) in text
            for when, text in told
        )
    }


def mask_spans(text: str, spans: Iterable[TextSpan]) -> str:
    """`text` with these stretches blank, and everything else where it was."""
    for start, end in spans:
        text = f"{text[:start]}{' ' * (end - start)}{text[end:]}"
    return text
