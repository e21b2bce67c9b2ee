"""How well reading and finding went in some days, in figures that lead to their rows."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import connection
from django.db.models import Count, Q

from api.models import LoggedRequest
from memoryhub.console.pages.feedback.views import UNFIT_CONDITION
from memoryhub.inference.models import ModelCall
from memoryhub.pipeline.review.answer_proposals import count_open_cases
from memoryhub.recall.models import RecallLog
from memoryhub.tenants.scope import get_current_tenant
from notes.models import Feedback

# Jobs whose decisions are counted, the latest: the page asks again every few seconds.
MAX_COUNTED_JOBS = 2000
_DECISIONS_SQL = """
WITH latest AS (
  SELECT result FROM pipeline_job
  WHERE tenant_id = %s AND created_at >= %s AND state = 'done' AND step = 'derive'
  ORDER BY created_at DESC LIMIT %s)
SELECT decision->>'op', count(*) FROM latest, jsonb_array_elements(
  CASE WHEN jsonb_typeof(result->'decisions') = 'array' THEN result->'decisions' ELSE '[]' END
) AS decision
GROUP BY 1 ORDER BY 2 DESC, 1
"""
_LOOK_BACK = timedelta(days=1)


def count_decisions(since: datetime) -> list[tuple[str, int]]:
    """(kind of decision, how many), of the latest MOST_JOBS readings. One statement."""
    with connection.cursor() as cursor:
        cursor.execute(_DECISIONS_SQL, [get_current_tenant(), since, MAX_COUNTED_JOBS])
        return [(op, count) for op, count in cursor.fetchall() if op]


def count_answer_signals(since: datetime) -> dict[str, int]:
    """`questions` that were asked, of which `insufficient` found too little and `degraded` were
    answered without a part; `unfit`: memories called harmful, unhelpful or untrue; `waiting`: cases
    for a person. Three statements."""
    asked: dict[str, int] = (
        RecallLog.objects.filter(asked_at__gte=since)
        .order_by()
        .aggregate(
            questions=Count("pk"),
            insufficient=Count("pk", filter=Q(insufficient=True)),
            degraded=Count("pk", filter=~Q(degraded=[])),
        )
    )
    unfit = Feedback.objects.filter(UNFIT_CONDITION, created_at__gte=since)
    return asked | {"unfit": unfit.count(), "waiting": count_open_cases()}


def count_requests(now: datetime) -> dict[str, int]:
    """Of the last day, how many there were and of these those `refused` or `failed`. One
    statement."""
    rows = LoggedRequest.objects.filter(at__gte=now - _LOOK_BACK).order_by()
    found: dict[str, int] = rows.aggregate(
        count=Count("pk"),
        refused=Count("pk", filter=Q(status__gte=400, status__lt=500)),
        failed=Count("pk", filter=Q(status__gte=500)),
    )
    return found


def find_latest_model_error(now: datetime) -> str:
    """What the latest call to a model in a day said, if it failed; "" if it did not."""
    rows = ModelCall.objects.filter(created_at__gte=now - _LOOK_BACK)
    latest = rows.values_list("status", "error").first()
    return latest[1] if latest and latest[0] == ModelCall.Status.FAILED else ""
