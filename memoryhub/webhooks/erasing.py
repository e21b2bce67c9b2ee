"""What an erasure drops here: replies, in which a receiver may have said our words back."""

from __future__ import annotations

from datetime import datetime

from memoryhub.tenants.models import Space
from memoryhub.webhooks.models import Delivery


def forget_replies(space: Space, since: datetime) -> int:
    """Of the tenant's deliveries from then on, whatever space they are of: a reply may tell of
    another one. Call inside the scope."""
    told = Delivery.objects.filter(created_at__gte=since).exclude(reply="")
    return told.update(reply="")
