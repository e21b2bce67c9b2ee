"""Workers leave tenants alone whose dialogue is replayed: their work is due by another clock."""

from __future__ import annotations

from django.db import migrations

_DUE = """
CREATE OR REPLACE FUNCTION memoryhub_due_spaces(at timestamptz, most integer)
RETURNS TABLE (tenant_id uuid, space_id uuid) LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = public, pg_temp AS $$
SELECT j.tenant_id, j.space_id FROM pipeline_job j
WHERE j.run_after <= at AND (j.state IN ('queued', 'retry')
  OR (j.state = 'running' AND j.lease_until < at)){whose}
GROUP BY j.tenant_id, j.space_id ORDER BY min(j.run_after) LIMIT most
$$
"""
_NOT_REPLAYED = """
  AND NOT EXISTS (SELECT 1 FROM tenants_tenant t WHERE t.id = j.tenant_id AND t.own_clock)"""


class Migration(migrations.Migration):
    dependencies = [
        ("pipeline", "0008_migration_isolation"),
        ("tenants", "0005_own_clock"),
    ]

    operations = [
        migrations.RunSQL(_DUE.format(whose=_NOT_REPLAYED), _DUE.format(whose="")),
    ]
