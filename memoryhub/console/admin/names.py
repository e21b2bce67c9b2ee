"""What tables and columns are called in the admin, in the reader's language.

They are set when the admin is loaded, and not in the models: there each would ask for a migration
that changes no table. Columns of memories are called what `memory_fields` says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.apps import apps
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from memoryhub.tenants.models import TenantModel

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

# One and several of each table.
MODEL_NAMES: dict[str, tuple[StrOrPromise, StrOrPromise]] = {
    "api.IdempotentRequest": (_("idempotent request"), _("idempotent requests")),
    "api.LoggedRequest": (_("request"), _("requests")),
    "api.Mem0Project": (_("mem0 project"), _("mem0 projects")),
    "api.RateWindow": (_("key usage per minute"), _("key usage per minute")),
    "dialogues.Session": (_("session"), _("sessions")),
    "dialogues.Turn": (_("turn"), _("turns")),
    "golden.GoldenQuestion": (_("test question"), _("test questions")),
    "golden.ReplayAnswer": (_("replay answer"), _("replay answers")),
    "golden.ReplayRun": (_("replay"), _("replays")),
    "importers.ImportFile": (_("imported file"), _("imported files")),
    "importers.ImportPart": (_("imported file part"), _("imported file parts")),
    "importers.ImportRun": (_("import"), _("imports")),
    "inference.ModelCall": (_("model call"), _("model calls")),
    "items.Item": (_("item"), _("items")),
    "items.ItemText": (_("item text"), _("item texts")),
    "lab.LabDerivation": (_("lab derivation"), _("lab derivations")),
    "lab.LabOutcome": (_("lab answer"), _("lab answers")),
    "lab.LabRun": (_("lab run"), _("lab runs")),
    "notes.Chain": (_("exchange chain"), _("exchange chains")),
    "notes.Derivation": (_("source"), _("sources")),
    "notes.Entity": (_("entity"), _("entities")),
    "notes.Episode": (_("episode"), _("episodes")),
    "notes.EvolutionEvent": (pgettext_lazy("of memories", "change"), _("memory changes")),
    "notes.Fact": (_("fact"), _("facts")),
    "notes.Feedback": (_("verdict"), _("verdicts")),
    "notes.Fingerprint": (_("fingerprint"), _("fingerprints")),
    "notes.IndexEntry": (_("index entry"), _("index entries")),
    "notes.Link": (pgettext_lazy("of notes", "link"), pgettext_lazy("of notes", "links")),
    "notes.Note": (_("note"), _("notes")),
    "notes.Page": (_("exchange"), _("exchanges")),
    "notes.Proposal": (_("inbox case"), _("inbox cases")),
    "notes.Receipt": (_("erasure receipt"), _("erasure receipts")),
    "notes.Relation": (_("relation"), _("relations")),
    "notes.ReviewRule": (_("inbox rule"), _("inbox rules")),
    "notes.Revision": (_("changed row"), _("changed rows")),
    "notes.Segment": (_("topic"), _("topics")),
    "notes.SegmentPage": (_("topic exchange"), _("topic exchanges")),
    "notes.Tombstone": (_("erasure tombstone"), _("erasure tombstones")),
    "personas.BlockAttachment": (_("block attachment"), _("block attachments")),
    "personas.BlockVersion": (_("block version"), _("block versions")),
    "personas.CoreBlock": (_("block"), _("blocks")),
    "personas.ProfileAttribute": (_("profile entry"), _("profile entries")),
    "personas.Trait": (_("trait"), _("traits")),
    "personas.Window": (_("window"), _("windows")),
    "pipeline.EmbeddingMigration": (_("embedder change"), _("embedder changes")),
    "pipeline.Job": (_("job"), _("jobs")),
    "pipeline.QualityReading": (_("quality measurement"), _("quality measurements")),
    "pipeline.SealedErasure": (
        _("pending erasure"),
        _("pending erasures"),
    ),
    "pipeline.SpaceMap": (_("embedding map"), _("embedding maps")),
    "policies.PolicyVersion": (_("policy version"), _("policy versions")),
    "recall.RecallLog": (_("recall"), _("recalls")),
    "recall.RecallLogItem": (_("recalled memory"), _("recalled memories")),
    "tenants.AccountEvent": (_("account event"), _("account events")),
    "tenants.ApiKey": (_("API key"), _("API keys")),
    "tenants.AuditEntry": (_("tenant change"), _("tenant changes")),
    "tenants.Membership": (_("membership"), _("memberships")),
    "tenants.PersonLink": (_("personal link"), _("personal links")),
    "tenants.Space": (_("space"), _("spaces")),
    "tenants.Tenant": (_("tenant"), _("tenants")),
    "tenants.User": (_("person"), _("people")),
    "webhooks.Delivery": (_("delivery"), _("deliveries")),
    "webhooks.Webhook": (_("webhook"), _("webhooks")),
    "webhooks.WebhookEvent": (_("webhook event"), _("webhook events")),
}
# Columns that several tables have under the same name.
FIELD_NAMES: dict[str, StrOrPromise] = {
    "action": _("action"),
    "active": _("linked"),
    "actor": _("who"),
    "address": _("address"),
    "about": _("about"),
    "agent": _("agent"),
    "asked_at": _("asked"),
    "at": _("when"),
    "attempts": _("attempts"),
    "child_id": _("memory"),
    "child_type": _("kind"),
    "cost": _("cost"),
    "created_at": _("created"),
    "created_by": _("created by"),
    "date_joined": _("joined"),
    "decided_at": _("decided"),
    "decided_by": _("decided by"),
    "detail": _("detail"),
    "email": _("e-mail"),
    "ended_at": _("ended"),
    "engine": _("engine"),
    "error": _("error"),
    "event": pgettext_lazy("of memories", "change"),
    "expires_at": _("expires"),
    "finished_at": _("finished"),
    "form": _("form"),
    "job_id": _("job"),
    "kind": _("kind"),
    "last_activity_at": _("last activity"),
    "last_login": _("last signed in"),
    "last_used_at": _("last used"),
    "milliseconds": _("milliseconds"),
    "model": _("model"),
    "name": _("name"),
    "occurred_at": _("occurred at"),
    "paused_at": _("paused"),
    "policy_version": _("policy"),
    "prefix": _("begins with"),
    "purpose": _("purpose"),
    "query": _("question"),
    "reason": _("reason"),
    "received_at": _("received"),
    "revoked_at": _("revoked"),
    "role": _("role"),
    "run_after": _("due"),
    "scopes": pgettext_lazy("what a key may do", "permissions"),
    "session": _("session"),
    "slug": _("short name"),
    "space": _("space"),
    "speaker": _("speaker"),
    "speakers": _("speakers"),
    "started_at": _("started"),
    "state": _("state"),
    "status": _("status"),
    "step": _("step"),
    "subject": _("subject"),
    "tenant": _("tenant"),
    "text": _("text"),
    "timezone": _("time zone"),
    "tries": _("attempts"),
    "trigger": _("because of"),
    "turn": _("turn"),
    "updated_at": _("changed"),
    "user": _("person"),
    "username": _("name"),
    "value": _("value"),
    "version": _("version"),
    # of what may fade
    "strength": _("strength"),
    "recall_count": _("times recalled"),
    "last_recall_at": _("last recalled"),
    "forget_at": _("fades on"),
}


def name_models() -> None:
    """Give every table of the hub its names. Called once, when the admin is loaded."""
    for label, (one, several) in MODEL_NAMES.items():
        model = apps.get_model(label)
        model._meta.verbose_name, model._meta.verbose_name_plural = one, several
        for field in model._meta.concrete_fields:
            field.verbose_name = find_field_name(model, field.name)


def find_field_name(model: Any, name: str) -> StrOrPromise:
    """What a column is called: by the memory's own words, else as in other tables."""
    return _find_memory_label(model, name) or FIELD_NAMES.get(name) or name.replace("_", " ")


def is_named(model: Any, name: str) -> bool:
    """Whether a column is for people: of memories, what none of them is told is book-keeping."""
    is_memory = hasattr(model, "memory_fields")
    return not is_memory or bool(_find_memory_label(model, name)) or name in FIELD_NAMES


def _find_memory_label(model: Any, name: str) -> StrOrPromise:
    told = getattr(model, "memory_fields", {})
    return next((f.label for n in (name, f"{name}_id") if (f := told.get(n)) and f.label), "")


def list_unnamed_tables() -> list[str]:
    """Tables of tenants that nobody has named."""
    ours = [m._meta.label for m in apps.get_models() if issubclass(m, TenantModel)]
    return [label for label in ours if label not in MODEL_NAMES]
