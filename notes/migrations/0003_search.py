"""Full-text search that stays fast under row-level security, and statistics for its planner.

`@@` is not leakproof: under a policy PostgreSQL would check every row's tenant first and never
use the GIN indexes. The function reads with its owner's rights, so it checks the scope itself.
"""

from __future__ import annotations

from django.db import migrations
from django.db.migrations import RunSQL

from memoryhub.tenants.database.row_security import CURRENT, definer_function

# Own words and the window's are added; a row without a window counts twice, as its vector does.
_BY_WORDS = f"""
SELECT hit.kind, hit.owner_id, hit.score FROM (
  SELECT ranked.*, row_number() OVER (PARTITION BY kind ORDER BY score DESC, owner_id) AS place
  FROM (
    SELECT e.kind, e.owner_id,
           ts_rank(e.words, query) + ts_rank(COALESCE(e.window_words, e.words), query) AS score
    FROM notes_indexentry e
    WHERE in_tenant = {CURRENT} AND e.tenant_id = in_tenant AND e.space_id = in_space
      AND e.kind = ANY (kinds) AND (e.words @@ query OR e.window_words @@ query)
  ) ranked
) hit WHERE hit.place <= per_kind
"""


class Migration(migrations.Migration):
    dependencies = [("notes", "0002_isolation")]

    operations = [
        definer_function(
            "memoryhub_by_words(in_tenant uuid, in_space uuid, kinds text[], query tsquery, "
            "per_kind int)",
            "TABLE (kind varchar, owner_id uuid, score real)",
            _BY_WORDS,
        ),
        # Expecting a thousand rows, the planner would scan what it can look up.
        RunSQL("ALTER FUNCTION memoryhub_by_words ROWS 60", RunSQL.noop),
        # A tenant's spaces are few of all spaces: independent columns would be underestimated.
        RunSQL(
            "CREATE STATISTICS notes_indexentry_places (ndistinct, dependencies, mcv) "
            "ON tenant_id, space_id, kind FROM notes_indexentry",
            "DROP STATISTICS notes_indexentry_places",
        ),
        # Index-only scans need the visibility map soon after rows come in.
        RunSQL(
            "ALTER TABLE notes_indexentry SET (autovacuum_vacuum_insert_scale_factor = 0.02)",
            "ALTER TABLE notes_indexentry RESET (autovacuum_vacuum_insert_scale_factor)",
        ),
    ]
