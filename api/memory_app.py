"""What the API adds to the hub."""

from __future__ import annotations

from api.core.idempotency import erase_answers
from api.core.request_log import sweep_request_log
from memoryhub.declarations import AppDeclaration

DECLARATION = AppDeclaration(
    space_sweeps=(sweep_request_log,),
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
)
