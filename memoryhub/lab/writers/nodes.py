"""Zep's summaries of entities (Rasmussen et al., 2025, section 2.2.1): written anew when something
new is said of them."""

from __future__ import annotations

from django.db.models import Q

from memoryhub.lab.writers.base import ACTOR, WriterInputs
from memoryhub.pipeline import corrections
from memoryhub.pipeline.corrections import UnitOfWork
from memoryhub.tenants.scope import tenant_scope
from notes.facts.validity import build_current_q
from notes.history.change_set import ChangeSet, filter_supports
from notes.models import Entity, Fact

_MOST_FACTS, _MOST_SENTENCES = 20, 5


def renew_node_summaries(place: WriterInputs) -> None:
    """Of every entity that the session spoke of, from what holds of it now, the newest first."""
    for entity, texts in _load_spoken_of(place):
        summary = place.engine.summarise_texts(texts, max_sentences=_MOST_SENTENCES)
        if summary != entity.summary:
            _write_summary(place, entity, summary)


def _load_spoken_of(place: WriterInputs) -> list[tuple[Entity, list[str]]]:
    with tenant_scope(place.space.tenant_id):
        told = filter_supports("fact", turn__session=place.session).values("child_id")
        touched = Entity.objects.filter(
            Q(relations_out__fact__in=told) | Q(relations_in__fact__in=told),
            space=place.space,
            merged_into=None,
            retired_at=None,
        )
        return [(entity, _load_texts(place, entity)) for entity in touched.distinct()]


def _load_texts(place: WriterInputs, entity: Entity) -> list[str]:
    about = Q(relations__src=entity) | Q(relations__dst=entity)
    facts = Fact.objects.filter(about, build_current_q(place.now), space=place.space).distinct()
    return list(facts.order_by("-asserted_at", "-id").values_list("text", flat=True)[:_MOST_FACTS])


def _write_summary(place: WriterInputs, entity: Entity, summary: str) -> None:
    def edit(bench: UnitOfWork, changes: ChangeSet) -> None:
        bench.edit_row(changes, bench.get_row("entity", entity.id), summary=summary)

    corrections.edit_rows(place.space, edit, ACTOR, place.now, reason="summed up anew")
