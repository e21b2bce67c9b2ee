"""ReadAgent's pages (Lee et al., 2024, section 3.1): a session is cut where the engine would pause,
between a least and a largest size, and each page gets a gist.

Pages are topic episodes, of which the policy derives none itself. A session's end is a pause.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Max

from memoryhub.dialogues.models import Turn
from memoryhub.engines.embedding.model_files import count_tokens
from memoryhub.engines.types import Engine, Passage
from memoryhub.lab.writers.base import ACTOR, WriterInputs
from memoryhub.tenants.scope import tenant_scope
from notes.episodes.store import EpisodeContent, compute_coverage, draft_episode, save_episode
from notes.history.change_set import ChangeSet
from notes.models import Episode, EvolutionEvent


def write_pages(place: WriterInputs) -> None:
    """Options: `page_tokens`, the least and the most tokens of a page."""
    least, most = place.options["page_tokens"]
    while turns := _load_unpaged_turns(place):
        passages = [
            Passage(f"t{n}", f"{turn.speaker}: {turn.text}", turn.occurred_at)
            for n, turn in enumerate(turns, 1)
        ]
        size = find_page_end(passages, place.engine, least, most)
        _write_page(place, turns[:size], passages[:size])


def find_page_end(passages: Sequence[Passage], engine: Engine, least: int, most: int) -> int:
    """How many of the passages, in order, are the next page. What fits in one is one, and nobody
    is asked; a passage larger than a page is a page."""
    total, reached, fitting = 0, 0, 0
    for size in count_tokens([passage.text for passage in passages]):
        total += size
        if total > most:
            break
        fitting += 1
        reached += total < least
    if fitting == len(passages) or fitting < 2:
        return max(fitting, 1)
    return engine.find_pause(passages[:fitting], min(reached + 1, fitting))


def _load_unpaged_turns(place: WriterInputs) -> list[Turn]:
    with tenant_scope(place.space.tenant_id):
        pages = Episode.objects.filter(session=place.session, kind=Episode.Kind.TOPIC)
        last = pages.aggregate(last=Max("to_seq"))["last"] or 0
        turns = Turn.objects.filter(session=place.session, seq__gt=last)
        return list(turns.exclude(state=Turn.State.REDACTED).order_by("seq"))


def _write_page(place: WriterInputs, turns: Sequence[Turn], passages: Sequence[Passage]) -> None:
    gist = place.engine.summarise_episode(passages)
    stamp = f"{place.engine.name}/{place.engine.version}"[:60]
    draft = draft_episode(
        place.space,
        Episode.Kind.TOPIC,
        EpisodeContent(gist.text, gist.title),
        compute_coverage(turns),
        stamp,
        session=place.session,
    )
    kind, reason = EvolutionEvent.Kind.DIGEST, "a page was read"
    changes = ChangeSet(place.space, kind, ACTOR, place.now, reason, engine=stamp)
    with tenant_scope(place.space.tenant_id):
        save_episode(changes, draft)
        changes.save()
