"""Words of one model's entries: while another model's are being made, none is found twice (E17).

What has no entry of that model is found by those it has.
"""

from __future__ import annotations

from django.db import migrations
from django.db.migrations import RunSQL

from memoryhub.tenants.database.row_security import CURRENT

_NAME = "memoryhub_by_words"
_OLD = "uuid, uuid, text[], tsquery, int"
_RETURNS = "TABLE (kind varchar, owner_id uuid, score real)"


def _body(of_model: str) -> str:
    return f"""
SELECT hit.kind, hit.owner_id, hit.score FROM (
  SELECT ranked.*, row_number() OVER (PARTITION BY kind ORDER BY score DESC, owner_id) AS place
  FROM (
    SELECT e.kind, e.owner_id,
           ts_rank(e.words, query) + ts_rank(COALESCE(e.window_words, e.words), query) AS score
    FROM notes_indexentry e
    WHERE in_tenant = {CURRENT} AND e.tenant_id = in_tenant AND e.space_id = in_space
      AND e.kind = ANY (kinds) AND (e.words @@ query OR e.window_words @@ query){of_model}
  ) ranked
) hit WHERE hit.place <= per_kind
"""


_OF_MODEL = """
      AND (of_model = '' OR e.model = of_model OR NOT EXISTS (
        SELECT 1 FROM notes_indexentry o
        WHERE o.owner_id = e.owner_id AND o.kind = e.kind AND o.model = of_model))"""


def _made(arguments: str, body: str) -> str:
    return (
        f"CREATE FUNCTION {_NAME}({arguments}) RETURNS {_RETURNS} LANGUAGE sql STABLE "
        f"SECURITY DEFINER ROWS 60 SET search_path = public, pg_temp AS $${body}$$;"
    )


_ARGUMENTS = "in_tenant uuid, in_space uuid, kinds text[], query tsquery, per_kind int"


class Migration(migrations.Migration):
    dependencies = [("notes", "0005_isolation")]

    operations = [
        RunSQL(
            f"DROP FUNCTION {_NAME}({_OLD});"
            + _made(f"{_ARGUMENTS}, of_model text DEFAULT ''", _body(_OF_MODEL)),
            f"DROP FUNCTION {_NAME}({_OLD}, text);" + _made(_ARGUMENTS, _body("")),
        )
    ]
