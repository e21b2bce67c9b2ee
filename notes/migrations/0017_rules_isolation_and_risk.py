"""Each tenant's rows are its own; what waits already gets the risk of its kind."""

from __future__ import annotations

from django.db import migrations

from memoryhub.tenants.database.row_security import isolate

_RISK = """
UPDATE notes_proposal SET risk = CASE kind
  WHEN 'erase' THEN 'high' WHEN 'merge' THEN 'low' ELSE 'medium' END
"""


class Migration(migrations.Migration):
    dependencies = [("notes", "0016_review_rules")]

    operations = [
        *isolate("notes_reviewrule"),
        migrations.RunSQL(_RISK, migrations.RunSQL.noop),
    ]
