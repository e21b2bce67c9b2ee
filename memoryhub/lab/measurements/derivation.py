"""What the write path makes of a dialogue: counts by kind, pace, and what models were asked."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.apps import apps
from django.db.models import Count, Q, QuerySet, Sum

from memoryhub.dialogues.models import Turn
from memoryhub.inference.models import ModelCall
from memoryhub.lab.datasets.types import Dialogue
from memoryhub.lab.metrics.aggregate import sum_calls
from memoryhub.lab.throwaway.replay import cut_dialogue, replay_dialogue
from memoryhub.lab.throwaway.tenants import open_throwaway_tenant
from memoryhub.pipeline.models import Job
from memoryhub.policies.services import set_policy
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from notes.models import Derivation, Derived, EvolutionEvent, Fact, Proposal

Progress = Callable[[str], None]
_GROUPING_COLUMNS = {"fact": "status", "episode": "kind", "segment": "tier", "page": "tier"}


@dataclass
class DerivationReport:
    turns: int = 0
    seconds: float = 0.0
    counts: Counter[str] = field(default_factory=Counter)
    calls: dict[str, dict[str, float]] = field(default_factory=dict)
    facts: list[dict[str, str]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        return {
            "turns": self.turns,
            "seconds": round(self.seconds, 1),
            "turns_per_second": round(self.turns / self.seconds, 2) if self.seconds else 0,
            "counts": self.counts,
            "calls": self.calls,
            "errors": self.errors,
            "facts": self.facts,
        }


def measure_derivation(
    dialogues: Sequence[Dialogue],
    *,
    engine: str,
    preset: str,
    most_turns: int | None,
    progress: Progress,
) -> DerivationReport:
    """Replay each dialogue session by session, on its own clock, in a tenant of its own."""
    report = DerivationReport()
    for dialogue in dialogues:
        with open_throwaway_tenant() as tenant:
            with tenant_scope(tenant.id):
                Tenant.objects.filter(id=tenant.id).update(engine=engine)
            set_policy(tenant.id, actor="lab", preset=preset)
            start = time.perf_counter()
            told = cut_dialogue(dialogue, most_turns)
            space = replay_dialogue(tenant, told)
            report.seconds += time.perf_counter() - start
            report.turns += told.turn_count
            with tenant_scope(tenant.id):
                report.counts.update(count_space_rows(space))
                report.calls = sum_calls([report.calls, _sum_model_calls(space)])
                report.facts += _list_facts_with_quotes(space)
                report.errors += list_errors(space)
            progress(f"{dialogue.name}: {told.turn_count} turns")
    return report


def count_space_rows(space: Space) -> dict[str, int]:
    """Rows by table and by what tells them apart, and what must be nought."""
    counts: dict[str, int] = {}
    for model in apps.get_models():
        if issubclass(model, Derived):
            name = model.__name__.lower()
            held = model.objects.filter(space=space, retired_at=None)
            counts |= _count_by_column(name, held, _GROUPING_COLUMNS.get(name))
    counts |= _count_by_column("event", EvolutionEvent.objects.filter(space=space), "kind")
    counts |= _count_by_column("proposal", Proposal.objects.filter(space=space), "kind")
    counts |= _count_by_column("turn", Turn.objects.filter(space=space), "state")
    counts |= _count_by_column("job", Job.objects.filter(space=space), "state")
    facts = Fact.objects.filter(space=space)
    counts["facts on the shelf"] = facts.exclude(shelf="").count()
    supported = Derivation.objects.filter(space=space, child_type="fact", role="support")
    unsupported = facts.exclude(id__in=supported.values("child_id"))
    return counts | {"facts without support": unsupported.count()}


def _count_by_column(name: str, rows: QuerySet[Any], column: str | None) -> dict[str, int]:
    if column is None:
        return {name: rows.count()}
    found = rows.order_by(column).values_list(column).annotate(number=Count("id"))
    return {f"{name} {value}": number for value, number in found}


def _sum_model_calls(space: Space) -> dict[str, dict[str, float]]:
    rows = ModelCall.objects.filter(space=space).order_by("purpose").values("purpose")
    found = rows.annotate(
        calls=Count("id"),
        requests=Sum("attempts"),
        failed=Count("id", filter=Q(status=ModelCall.Status.FAILED)),
        repaired=Count("id", filter=Q(status=ModelCall.Status.REPAIRED)),
        rejected=Sum("rejected"),
        prompt_tokens=Sum("prompt_tokens"),
        completion_tokens=Sum("completion_tokens"),
        seconds=Sum("milliseconds") / 1000,
    )
    figures = [dict[str, Any](row) for row in found]
    return {row.pop("purpose"): row for row in figures}


def _list_facts_with_quotes(space: Space) -> list[dict[str, str]]:
    """Every fact beside the words it was read from, to be judged by eye."""
    links = Derivation.objects.filter(space=space, child_type="fact", role="support")
    said = {link.child_id: link.turn.text for link in links.select_related("turn")}
    facts = Fact.objects.filter(space=space).order_by("asserted_at", "id")
    return [
        {"text": fact.text, "status": fact.status, "said": said.get(fact.id, "")} for fact in facts
    ]


def list_errors(space: Space) -> list[str]:
    """What failed on the way, model calls and jobs, whether or not another try went well."""
    calls = ModelCall.objects.filter(space=space, status=ModelCall.Status.FAILED)
    jobs = Job.objects.filter(space=space).exclude(error="")
    return [
        *(f"{purpose}: {error}" for purpose, error in calls.values_list("purpose", "error")),
        *(f"job {step}: {error}" for step, error in jobs.values_list("step", "error")),
    ]
