"""How much there is of what the settings are about."""

from __future__ import annotations

from typing import Any

from memoryhub.tenants.models import ApiKey, Membership, Space
from memoryhub.webhooks.models import Webhook
from notes.models import Receipt


def count_settings_rows() -> dict[str, Any]:
    """Counts by name. A statement each."""
    return {
        "people_count": Membership.objects.count(),
        "key_count": ApiKey.objects.filter(revoked_at=None).count(),
        "hook_count": Webhook.objects.count(),
        "space_count": Space.objects.count(),
        "receipt_count": Receipt.objects.count(),
    }
