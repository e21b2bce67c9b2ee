"""Every row that a read may not change (I11): a picture of the tables, to compare with later."""

from __future__ import annotations

from typing import Any

from django.apps import apps

from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope

# What recalling counts, and nothing else.
RECALL_COUNTERS = frozenset(
    {"strength", "last_recall_at", "recall_count", "forget_at"}
    | {"visits_total", "promo_visits", "last_visited_at"}
)
# Fingerprints are the loop guard's record of what was given out, not memory.
_IGNORED_MODELS = frozenset({"Fingerprint"})


def take_snapshot(tenant: Tenant, *, without: frozenset[str] = frozenset()) -> dict[str, list[Any]]:
    """All rows of every memory, dialogue, job and persona, by model, less the columns `without`."""
    models = [
        model
        for label in ("dialogues", "notes", "personas", "pipeline")
        for model in apps.get_app_config(label).get_models()
        if model.__name__ not in _IGNORED_MODELS
    ]
    with tenant_scope(tenant.id):
        return {
            model.__name__: [
                {name: str(value) for name, value in row.items() if name not in without}
                for row in model._default_manager.order_by("pk").values()
            ]
            for model in models
        }
