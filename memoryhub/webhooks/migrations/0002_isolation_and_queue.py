"""Each tenant's rows are its own; a worker may ask which webhooks have something due."""

from __future__ import annotations

from django.db import migrations

from memoryhub.tenants.database.row_security import definer_function, isolate


class Migration(migrations.Migration):
    dependencies = [("webhooks", "0001_initial"), ("tenants", "0002_roles_and_isolation")]

    operations = [
        *isolate("webhooks_webhook", "webhooks_webhookevent", "webhooks_delivery"),
        definer_function(
            "memoryhub_due_webhooks(at timestamptz, most integer)",
            "TABLE (tenant_id uuid, webhook_id uuid)",
            "SELECT d.tenant_id, d.webhook_id FROM webhooks_delivery d "
            "JOIN webhooks_webhook w ON w.id = d.webhook_id "
            "WHERE w.is_active AND (w.quiet_until IS NULL OR w.quiet_until <= at) "
            "AND ((d.state IN ('waiting', 'retry') AND d.run_after <= at) "
            "OR (d.state = 'sending' AND d.lease_until < at)) "
            "AND NOT EXISTS (SELECT 1 FROM webhooks_delivery s WHERE s.webhook_id = w.id "
            "AND s.state = 'sending' AND s.lease_until >= at) "
            "GROUP BY d.tenant_id, d.webhook_id ORDER BY min(d.run_after) LIMIT most",
        ),
    ]
