"""One full-text index instead of two: a window holds all the words of its turn.

The words looked for may be fewer than those ranked by: see memoryhub/recall/candidates/common_words.py.
"""

from __future__ import annotations

from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import migrations
from django.db.migrations import RunSQL
from django.db.models.functions import Coalesce

from memoryhub.tenants.database.row_security import CURRENT

_NAME = "memoryhub_by_words"
_ARGUMENTS = (
    "in_tenant uuid, in_space uuid, kinds text[], query tsquery, per_kind int, "
    "of_model text DEFAULT ''"
)
_MORE = ", sought tsquery DEFAULT NULL, most_read int DEFAULT 20000"


def _body(read: str) -> str:
    return f"""
SELECT hit.kind, hit.owner_id, hit.score FROM (
  SELECT ranked.*, row_number() OVER (PARTITION BY kind ORDER BY score DESC, owner_id) AS place
  FROM (
    SELECT e.kind, e.owner_id,
           ts_rank(e.words, query) + ts_rank(COALESCE(e.window_words, e.words), query) AS score
    FROM {read}
  ) ranked
) hit WHERE hit.place <= per_kind
"""


def _where(matches: str) -> str:
    return f"""
    WHERE in_tenant = {CURRENT} AND e.tenant_id = in_tenant AND e.space_id = in_space
      AND e.kind = ANY (kinds) AND ({matches})
      AND (of_model = '' OR e.model = of_model OR NOT EXISTS (
        SELECT 1 FROM notes_indexentry o
        WHERE o.owner_id = e.owner_id AND o.kind = e.kind AND o.model = of_model))"""


_BEFORE = _body(
    "notes_indexentry e" + _where("e.words @@ query OR e.window_words @@ query")
)
# The limit is for what no estimate foresaw.
_NOW = _body(
    f"""(
      SELECT e.kind, e.owner_id, e.words, e.window_words FROM notes_indexentry e
      {_where("COALESCE(e.window_words, e.words) @@ COALESCE(sought, query)")}
      LIMIT most_read
    ) e"""
)


def _made(arguments: str, body: str) -> str:
    return (
        f"CREATE FUNCTION {_NAME}({arguments}) RETURNS TABLE (kind varchar, owner_id uuid, "
        "score real) LANGUAGE sql STABLE SECURITY DEFINER ROWS 60 "
        f"SET search_path = public, pg_temp AS $${body}$$;"
    )


_OLD = "uuid, uuid, text[], tsquery, int, text"


class Migration(migrations.Migration):
    dependencies = [("notes", "0007_merges_and_expiry")]

    operations = [
        migrations.AddIndex(
            "indexentry",
            GinIndex(
                OpClass("space_id", name="uuid_ops"),
                OpClass(Coalesce("window_words", "words"), name="tsvector_ops"),
                name="entry_all_words",
            ),
        ),
        # A long list of what is not sorted in yet would be read by every search.
        RunSQL(
            "ALTER INDEX entry_all_words SET (gin_pending_list_limit = 512)", RunSQL.noop
        ),
        RunSQL(
            f"DROP FUNCTION {_NAME}({_OLD});" + _made(_ARGUMENTS + _MORE, _NOW),
            f"DROP FUNCTION {_NAME}({_OLD}, tsquery, int);" + _made(_ARGUMENTS, _BEFORE),
        ),
        migrations.RemoveIndex("indexentry", "entry_words"),
        migrations.RemoveIndex("indexentry", "entry_window_words"),
    ]
