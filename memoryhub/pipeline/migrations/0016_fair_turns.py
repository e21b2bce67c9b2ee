"""Of the spaces with due work each tenant's first come first, however many another one has; and how
long work waits in each lane, for who looks after the hub."""

from __future__ import annotations

from django.db import migrations, models

from memoryhub.tenants.database.row_security import definer_function, isolate

_DUE = """
CREATE OR REPLACE FUNCTION memoryhub_due_spaces(at timestamptz, most integer)
RETURNS TABLE (tenant_id uuid, space_id uuid) LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = public, pg_temp AS $$
SELECT j.tenant_id, j.space_id FROM pipeline_job j
WHERE j.run_after <= at AND (j.state IN ('queued', 'retry')
  OR (j.state = 'running' AND j.lease_until < at))
  AND NOT EXISTS (SELECT 1 FROM tenants_tenant t WHERE t.id = j.tenant_id AND t.own_clock)
GROUP BY j.tenant_id, j.space_id ORDER BY {order} LIMIT most
$$
"""
_BY_TENANT = (
    "row_number() OVER (PARTITION BY j.tenant_id ORDER BY min(j.run_after)), min(j.run_after)"
)
_LAG = """
SELECT lane, count(*), greatest(0, extract(epoch FROM now() - min(run_after)))::float8
FROM pipeline_job WHERE state IN ('queued', 'retry') AND run_after <= now() GROUP BY lane
"""


class Migration(migrations.Migration):
    dependencies = [("pipeline", "0015_wake_step")]

    operations = [
        migrations.RunSQL(
            _DUE.format(order=_BY_TENANT), _DUE.format(order="min(j.run_after)")
        ),
        definer_function(
            "memoryhub_queue_lag()", "TABLE (lane varchar, waiting bigint, seconds float8)", _LAG
        ),
        migrations.AddIndex(
            model_name="job",
            index=models.Index(
                condition=models.Q(("state__in", ["queued", "retry", "running"])),
                fields=["tenant"],
                name="job_waiting",
            ),
        ),
    ]
