"""What the API adds to the hub."""

from __future__ import annotations

from django.db.models import Q

from api.core.idempotency import erase_answers
from memoryhub.declarations import AppDeclaration, Growth

DECLARATION = AppDeclaration(
    erasable_texts={
        "mem0project": "settings of the tenant's",
        "idempotentrequest": erase_answers,
        "loggedrequest": "routes and codes, without what was asked or answered",
    },
    export_kinds={
        "mem0project": "how this hub answers mem0's clients",
        "idempotentrequest": "answers to requests that were made here",
        "loggedrequest": "a log of what was asked here",
        "ratewindow": "counts requests that were made here",
    },
    growth={
        "mem0project": Growth(kind="settings"),
        # Not of what is under way.
        "idempotentrequest": Growth(
            kind="answers", at="created_at", days="answer_days", only=~Q(status=102)
        ),
        "loggedrequest": Growth(
            kind="requests", at="at", days="request_days", hub_days="REQUEST_LOG_DAYS"
        ),
        "ratewindow": Growth(kind="settings"),
    },
)
