"""From a row in the admin to its page in the console, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.urls import NoReverseMatch, reverse

# The page that shows a row: its name, and the columns that its address is made of.
_PAGES: dict[str, tuple[str, tuple[str, ...]]] = {
    "dialogues.turn": ("space-turn", ("space_id", "id")),
    "golden.goldenquestion": ("space-golden-question", ("space_id", "id")),
    "golden.replayrun": ("replay", ("id",)),
    "importers.importrun": ("import", ("id",)),
    "inference.modelcall": ("usage-call", ("id",)),
    "lab.labrun": ("lab-run", ("id",)),
    "notes.entity": ("space-entities", ("space_id",)),
    "notes.episode": ("space-episode", ("space_id", "id")),
    "notes.evolutionevent": ("space-event", ("space_id", "id")),
    "notes.fact": ("space-fact", ("space_id", "id")),
    "notes.link": ("space-note", ("space_id", "a_id")),
    "notes.note": ("space-note", ("space_id", "id")),
    "notes.page": ("space-timeline", ("space_id",)),
    "notes.proposal": ("review-case", ("id",)),
    "notes.receipt": ("receipt", ("id",)),
    "notes.relation": ("space-fact", ("space_id", "fact_id")),
    "notes.revision": ("space-event", ("space_id", "event_id")),
    "notes.segment": ("space-segment", ("space_id", "id")),
    "notes.segmentpage": ("space-segment", ("space_id", "segment_id")),
    "personas.blockversion": ("space-block", ("space_id", "block_id")),
    "personas.coreblock": ("space-block", ("space_id", "id")),
    "personas.profileattribute": ("space-persona", ("space_id",)),
    "personas.trait": ("space-persona", ("space_id",)),
    "pipeline.job": ("job", ("id",)),
    "pipeline.qualityreading": ("space-quality", ("space_id",)),
    "pipeline.spacemap": ("space-map", ("space_id",)),
    "recall.recalllog": ("recall", ("id",)),
    "tenants.accountevent": ("account", ()),
    "tenants.apikey": ("keys", ()),
    "tenants.auditentry": ("changes", ()),
    "tenants.membership": ("people", ()),
    "tenants.personlink": ("space-person", ("space_id",)),
    "tenants.space": ("space-timeline", ("id",)),
    "tenants.tenant": ("settings", ()),
    "tenants.user": ("people", ()),
    "webhooks.webhook": ("webhook", ("id",)),
}
# The row that a page is about: its table, and the parameter of the address that names it.
_ROWS = {
    "job": ("pipeline_job", "job_id"),
    "recall": ("recall_recalllog", "recall_id"),
    "replay": ("golden_replayrun", "run_id"),
    "review-case": ("notes_proposal", "proposal_id"),
    "space-block": ("personas_coreblock", "block_id"),
    "space-episode": ("notes_episode", "episode_id"),
    "space-event": ("notes_evolutionevent", "event_id"),
    "space-fact": ("notes_fact", "fact_id"),
    "space-note": ("notes_note", "note_id"),
    "space-segment": ("notes_segment", "segment_id"),
    "space-timeline": ("tenants_space", "space_id"),
    "space-turn": ("dialogues_turn", "turn_id"),
    "usage-call": ("inference_modelcall", "call_id"),
    "webhook": ("webhooks_webhook", "hook_id"),
}


def find_console_address(row: Any) -> str:
    """Of the page that shows the row; "" where none does."""
    name, columns = _PAGES.get(row._meta.label_lower, ("", ()))
    values = [getattr(row, column) for column in columns]
    return reverse(name, args=values) if name and None not in values else ""


def find_row_address(row: Any) -> str:
    """Of the row in the admin; "" for what is not shown there."""
    try:
        return reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_change", args=[row.pk])
    except NoReverseMatch:
        return ""


def find_admin_address(page: str, given: Mapping[str, Any]) -> str:
    """Of the row that a page of the console is about, else of the admin's first page."""
    if page not in _ROWS:
        return reverse("admin:index")
    table, parameter = _ROWS[page]
    return reverse(f"admin:{table}_change", args=[given[parameter]])
