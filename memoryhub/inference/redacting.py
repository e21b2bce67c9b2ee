"""Taking the words out of calls: what was asked and answered goes, the figures stay."""

from __future__ import annotations

from django.db.models import F, Func, QuerySet, Value

from memoryhub.inference.models import ModelCall


def redact(calls: QuerySet[ModelCall]) -> int:
    """How many had words. Of an error its code stays, which the breaker goes by; what follows it
    may quote the model. Call inside the tenant's scope."""
    worded = calls.exclude(input=None, output="", error="")
    code = Func(F("error"), Value(":"), Value(1), function="split_part")
    count: int = worded.order_by().update(input=None, output="", error=code)
    return count
