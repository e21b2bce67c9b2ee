"""Dialogues with updates, told to the hub and measured: `manage.py lab truth` and `everyday`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from memoryhub.dialogues.messages import Message
from memoryhub.engines.types import Engine
from memoryhub.lab.throwaway.tenants import open_throwaway_tenant
from memoryhub.lab.truth.dialogues import TruthDialogue
from memoryhub.lab.truth.junk import DerivedSample, collect_samples, draw_samples
from memoryhub.lab.truth.measure import TruthScore
from memoryhub.lab.truth.reading import measure_reading
from memoryhub.pipeline.ingest.services import IngestRequest, ingest_messages
from memoryhub.pipeline.jobs.runner import drain_space
from memoryhub.pipeline.tasks import silence_doorbell
from memoryhub.policies.services import set_policy
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import ensure_space

Measure = Callable[[Space, TruthDialogue, datetime], TruthScore]
# What was said last has been read by then; nothing is asked of the future.
_READ_AFTER = timedelta(hours=1)
_SUMMED_UP_AFTER = timedelta(days=1)


@dataclass(slots=True)
class TruthReport:
    """`scores`: by author, and by language over all of its authors."""

    dialogues: int = 0
    scores: dict[str, TruthScore] = field(default_factory=lambda: defaultdict(TruthScore))

    def to_dict(self) -> dict[str, Any]:
        return {
            "dialogues": self.dialogues,
            "scores": {
                name: {
                    "checks": {c: [score.right[c], score.asked[c]] for c in sorted(score.asked)},
                    "causes": dict(score.causes),
                    "failures": score.failures,
                }
                for name, score in self.scores.items()
            },
        }


def measure_readings(dialogues: Sequence[TruthDialogue], engine: Engine) -> TruthReport:
    """What the engine reads of them, by author and language, with no database."""
    report = TruthReport(len(dialogues))
    for author in sorted({(dialogue.language, dialogue.author) for dialogue in dialogues}):
        own = [d for d in dialogues if (d.language, d.author) == author]
        score = measure_reading(engine, own)
        report.scores["-".join(author)].add(score)
        report.scores[author[0]].add(score)
    return report


def tell_dialogue(tenant: Tenant, dialogue: TruthDialogue) -> tuple[Space, datetime]:
    """The dialogue told session by session, each read an hour after its last word: its space, and
    that hour."""
    with tenant_scope(tenant.id):
        space = ensure_space(tenant.id, f"{dialogue.id}-{dialogue.subject}", name=dialogue.name)
    now = next(dialogue.turns).at
    for name, turns in dialogue.sessions:
        said = [Message(turn.role, turn.text, turn.speaker, timestamp=turn.at) for turn in turns]
        now = turns[-1].at + _READ_AFTER
        with silence_doorbell():
            ingest_messages(tenant.id, IngestRequest(space.subject, said, name), now)
            drain_space(tenant.id, space.id, now)
    with tenant_scope(tenant.id):
        space.refresh_from_db()
    return space, now


def derive_samples(
    dialogues: Sequence[TruthDialogue], *, engine: str, preset: str, progress: Callable[[str], None]
) -> list[DerivedSample]:
    """What is derived of them, a day after the last word: days are summed up by then."""
    found: list[DerivedSample] = []
    with _open_tenant(engine, preset) as tenant:
        for number, dialogue in enumerate(dialogues, 1):
            space, now = tell_dialogue(tenant, dialogue)
            with silence_doorbell():
                drain_space(tenant.id, space.id, now + _SUMMED_UP_AFTER)
            found += collect_samples(space, dialogue)
            _tell_progress(progress, number, len(dialogues))
    return draw_samples(found)


@contextmanager
def _open_tenant(engine: str, preset: str) -> Iterator[Tenant]:
    with open_throwaway_tenant() as tenant:
        with tenant_scope(tenant.id):
            Tenant.objects.filter(id=tenant.id).update(engine=engine)
        set_policy(tenant.id, actor="lab", preset=preset)
        yield tenant


def _tell_progress(progress: Callable[[str], None], number: int, of: int) -> None:
    if number % 10 == 0:
        progress(f"{number} of {of} dialogues")


def measure_dialogues(
    dialogues: Sequence[TruthDialogue],
    measure: Measure,
    *,
    engine: str,
    preset: str,
    progress: Callable[[str], None],
) -> TruthReport:
    """Each dialogue in a space of its own, all in one tenant that is deleted afterwards."""
    report = TruthReport()
    with _open_tenant(engine, preset) as tenant:
        for number, dialogue in enumerate(dialogues, 1):
            space, now = tell_dialogue(tenant, dialogue)
            score = measure(space, dialogue, now)
            report.scores[f"{dialogue.language}-{dialogue.author}"].add(score)
            report.scores[dialogue.language].add(score)
            report.dialogues = number
            _tell_progress(progress, number, len(dialogues))
    return report
