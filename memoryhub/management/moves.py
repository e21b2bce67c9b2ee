"""Moving a tenant to another cell: all of its rows as they are, while it is served.

Everything is copied as of one moment, in a transaction of the other cell's that nobody sees. Then
whoever enters the tenant's scope waits, here and there, while what changed since is copied and the
routes are switched; what waited here is told to come again. So the tenant is open in one place at
most at any time, and a move that breaks off has changed nothing, or is ended by being repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic
from uuid import UUID

import psycopg
from psycopg.sql import SQL, Composed, Identifier, Literal

from memoryhub.errors import MemoryHubError

# How long whoever is at work in the tenant's scope may take to leave it.
HOLD_PATIENCE = "20s"
# At the cell it comes to, until it is open there.
ARRIVING = "arriving"
_TENANT = "tenants_tenant"
# Of people who come along: what they sign in with beside the password.
_SIGN_IN_TABLES = ("tenants_secondfactor", "tenants_recoverycode", "tenants_signonidentity")
_HOLD_SQL = "SELECT pg_advisory_xact_lock(hashtext('memoryhub.move'), hashtext(%s))"
_TABLES_SQL = """
SELECT c.relname, array_agg(a.attname::text ORDER BY a.attnum) FILTER (WHERE a.attgenerated = '')
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition
  AND c.relnamespace = 'public'::regnamespace
GROUP BY c.relname HAVING bool_or(a.attname = 'tenant_id') OR c.relname = ANY(%s)
ORDER BY c.relname
"""
# No operator of one hub becomes one of another by the way.
_NO_OPERATOR = {"is_superuser": SQL("false"), "is_staff": SQL("false")}


class MoveError(MemoryHubError):
    """The tenant stays where it is; the message says why."""

    code = "move"


@dataclass(frozen=True, slots=True)
class Routes:
    """By what a proxy finds a cell: beginnings of keys' prefixes, and tenants."""

    keys: list[str]
    slugs: list[str]


@dataclass(frozen=True, slots=True)
class MoveSummary:
    """`changed`: of the rows, those copied while writes were held, and how long that was."""

    rows: int
    changed: int
    copy_seconds: float
    held_seconds: float


def move_tenant(
    slug: str, source_dsn: str, target_dsn: str, cell: str, switch: Callable[[Routes], None]
) -> MoveSummary:
    """From here to the database of `cell`, both as the owner of their tables. `switch` has proxies
    send its requests there: called while everybody waits. Raises MoveError."""
    with psycopg.connect(source_dsn) as source, psycopg.connect(target_dsn) as target:
        tenant_id, moved_to = _find_tenant(source, slug)
        if moved_to:
            if moved_to != cell:
                raise MoveError(f"{slug} has moved to {moved_to} already.")
            return _finish_move(slug, tenant_id, target, switch)
        _check_schemas(source, target)
        _make_room(target, slug, tenant_id)
        copy = _TenantCopy(source, target, tenant_id)
        began = monotonic()
        position = copy.copy_all()
        with (
            _hold_tenant(source_dsn, tenant_id) as held,
            _hold_tenant(target_dsn, tenant_id) as gate,
        ):
            began_hold = monotonic()
            copy.source = held
            changed = copy.copy_changes(position)
            rows = copy.check_counts()
            _close_arrival(target, tenant_id, cell)
            target.commit()
            switch(_list_routes(held, SQL("t.id = {}").format(Literal(tenant_id))))
            _mark_moved(held, tenant_id, cell)
            held.commit()
            _mark_moved(gate, tenant_id, "")
            gate.commit()
    ended = monotonic()
    return MoveSummary(rows, changed, began_hold - began, ended - began_hold)


def purge_moved_tenant(slug: str, dsn: str) -> int:
    """Delete what a tenant that has moved left here: all but its own row, which says where to.
    Returns how many rows. Raises MoveError for one that is here."""
    with psycopg.connect(dsn) as connection:
        tenant_id, moved_to = _find_tenant(connection, slug)
        if not moved_to:
            raise MoveError(f"{slug} is served here: only what has moved is deleted.")
        tables = [name for name, _ in _list_tables(connection) if name != _TENANT]
        return sum(
            connection.execute(
                SQL("DELETE FROM {} WHERE tenant_id = %s").format(Identifier(name)), [tenant_id]
            ).rowcount
            for name in tables
        )


def list_routes(dsn: str, cell: str) -> Routes:
    """All that lead to a cell: its own two characters, the whole prefix of each key that was made
    elsewhere, and its tenants. The longest that fits is a key's way."""
    with psycopg.connect(dsn) as connection:
        routes = _list_routes(connection, SQL("moved_to = '' AND NOT own_clock"))
    made_elsewhere = [prefix for prefix in routes.keys if not (cell and prefix.startswith(cell))]
    return Routes([cell] * bool(cell) + made_elsewhere, routes.slugs)


def _list_routes(connection: psycopg.Connection, which: SQL | Composed) -> Routes:
    tenants = SQL("SELECT slug FROM tenants_tenant t WHERE {} ORDER BY slug").format(which)
    keys = SQL(
        "SELECT prefix FROM tenants_apikey k JOIN tenants_tenant t ON t.id = k.tenant_id "
        "WHERE {} ORDER BY prefix"
    ).format(which)
    found = (connection.execute(query).fetchall() for query in (keys, tenants))
    return Routes(*([value for (value,) in rows] for rows in found))


class _TenantCopy:
    """Reads the tenant's rows from `source` into one open transaction of `target`."""

    def __init__(
        self, source: psycopg.Connection, target: psycopg.Connection, tenant_id: UUID
    ) -> None:
        self.source, self._target, self._tenant_id = source, target, tenant_id
        self._tables = _list_tables(target)

    def copy_all(self) -> str:
        """As of one moment. Returns the transaction from which on later ones may have changed
        something."""
        self.source.rollback()
        self.source.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        row = self.source.execute("SELECT pg_snapshot_xmin(pg_current_snapshot())::text")
        position = str(row.fetchone()[0])  # type: ignore[index]  # a SELECT without FROM
        self._bring_people()
        for table, columns in self._tables:
            self._bring_rows(table, columns, SQL("true"))
            self._insert_incoming(table, columns)
        self.source.rollback()
        # What holds now need not be looked at while everybody waits.
        self._target.execute("SET CONSTRAINTS ALL IMMEDIATE")
        self._target.execute("SET CONSTRAINTS ALL DEFERRED")
        return position

    def copy_changes(self, position: str) -> int:
        """What was written by that transaction or a later one, and what is there no longer."""
        self._bring_people()
        since = SQL("age(xmin) <= age((({}::numeric) % 4294967296)::text::xid)").format(
            Literal(position)
        )
        changed = 0
        for table, columns in self._tables:
            self._bring_rows(table, columns, since)
            changed += self._delete_gone(table)
            changed += self._insert_incoming(table, columns)
        # Whoever was at work on them can't end it: somebody else takes them at once.
        self._target.execute(
            "UPDATE pipeline_job SET lease_until = now() "
            "WHERE tenant_id = %s AND state = 'running'",
            [self._tenant_id],
        )
        return changed

    def check_counts(self) -> int:
        """How many rows there are. Raises MoveError where the two sides differ."""
        here, there = (self._count_rows(side) for side in (self.source, self._target))
        wrong = sorted(name for name in here if here[name] != there[name])
        if wrong:
            raise MoveError(f"Not all of it arrived; other counts in {', '.join(wrong)}.")
        return sum(here.values())

    def _count_rows(self, side: psycopg.Connection) -> dict[str, int]:
        counts = SQL(" UNION ALL ").join(
            SQL("SELECT {}, count(*) FROM {} WHERE {}").format(
                Literal(table), Identifier(table), self._belongs(table)
            )
            for table, _ in self._tables
        )
        return {str(name): int(count) for name, count in side.execute(counts).fetchall()}

    def _belongs(self, table: str) -> Composed:
        column = Identifier("id" if table == _TENANT else "tenant_id")
        return SQL("{} = {}").format(column, Literal(self._tenant_id))

    def _bring_rows(self, table: str, columns: list[str], which: SQL | Composed) -> None:
        """Into `incoming`, a table of the transaction's own: where row-level security is on, COPY
        writes into no other."""
        self._make_temporary("incoming", table, columns)
        rows = SQL("SELECT {} FROM {} WHERE {} AND {}").format(
            _join(columns), Identifier(table), self._belongs(table), which
        )
        self._pipe(rows, "incoming", columns)
        if table == "tenants_membership":
            self._target.execute(
                "UPDATE incoming SET user_id = p.target FROM people p WHERE p.source = user_id"
            )

    def _delete_gone(self, table: str) -> int:
        """What the source has no longer, and what is about to come in anew. Returns how many of
        the first."""
        self._make_temporary("present", table, ["id"])
        ids = SQL("SELECT id FROM {} WHERE {}").format(Identifier(table), self._belongs(table))
        self._pipe(ids, "present", ["id"])
        self._target.execute("ANALYZE present")
        name = Identifier(table)
        gone = SQL(
            "DELETE FROM {} t WHERE {} AND NOT EXISTS (SELECT FROM present WHERE present.id = t.id)"
        ).format(name, self._belongs(table))
        renewed = SQL("DELETE FROM {} t USING incoming WHERE t.id = incoming.id").format(name)
        count = self._target.execute(gone).rowcount
        self._target.execute(renewed)
        return count

    def _insert_incoming(self, table: str, columns: list[str]) -> int:
        names = _join(columns)
        return self._target.execute(
            SQL("INSERT INTO {} ({}) SELECT {} FROM incoming").format(
                Identifier(table), names, names
            )
        ).rowcount

    def _make_temporary(self, name: str, table: str, columns: list[str]) -> None:
        self._target.execute(SQL("DROP TABLE IF EXISTS {}").format(Identifier("pg_temp", name)))
        self._target.execute(
            SQL("CREATE TEMP TABLE {} ON COMMIT DROP AS SELECT {} FROM {} WITH NO DATA").format(
                Identifier(name), _join(columns), Identifier(table)
            )
        )

    def _pipe(self, rows: Composed, into: str, columns: list[str]) -> None:
        read = SQL("COPY ({}) TO STDOUT (FORMAT binary)").format(rows)
        write = SQL("COPY {} ({}) FROM STDIN (FORMAT binary)").format(
            Identifier(into), _join(columns)
        )
        with (
            self.source.cursor().copy(read) as source,
            self._target.cursor().copy(write) as target,
        ):
            for block in source:
                target.write(block)

    def _bring_people(self) -> None:
        """Accounts of the tenant's members, with what they sign in with, unless they are there:
        `people` says who is who. Raises MoveError where a name is somebody else's."""
        target, columns = self._target, _list_columns(self._target, "tenants_user")
        self._make_temporary("person", "tenants_user", columns)
        members = SQL("id IN (SELECT user_id FROM tenants_membership WHERE tenant_id = {})").format(
            Literal(self._tenant_id)
        )
        self._pipe(
            SQL("SELECT {} FROM tenants_user WHERE {}").format(_join(columns), members),
            "person",
            columns,
        )
        taken = target.execute(
            "SELECT username FROM person p JOIN tenants_user u USING (username) "
            "WHERE u.date_joined <> p.date_joined ORDER BY username"
        ).fetchall()
        if taken:
            names = ", ".join(name for (name,) in taken)
            raise MoveError(f"Somebody else is called so in that cell: {names}. Rename one first.")
        given = [name for name in columns if name != "id"]
        values = SQL(", ").join(_NO_OPERATOR.get(name, Identifier(name)) for name in given)
        new = target.execute(
            SQL(
                "INSERT INTO tenants_user ({}) SELECT {} FROM person p WHERE NOT EXISTS "
                "(SELECT FROM tenants_user u WHERE u.username = p.username) RETURNING id"
            ).format(_join(given), values)
        ).fetchall()
        target.execute("DROP TABLE IF EXISTS pg_temp.people")
        target.execute(
            "CREATE TEMP TABLE people ON COMMIT DROP AS SELECT p.id AS source, u.id AS target "
            "FROM person p JOIN tenants_user u USING (username)"
        )
        for table in _SIGN_IN_TABLES:
            self._bring_sign_in(table, members, [account for (account,) in new])

    def _bring_sign_in(self, table: str, members: Composed, new: list[int]) -> None:
        columns = _list_columns(self._target, table)
        self._make_temporary("incoming", table, columns)
        accounts = SQL("account_id IN (SELECT id FROM tenants_user WHERE {})").format(members)
        self._pipe(
            SQL("SELECT {} FROM {} WHERE {}").format(_join(columns), Identifier(table), accounts),
            "incoming",
            columns,
        )
        self._target.execute(
            "UPDATE incoming SET account_id = p.target FROM people p WHERE p.source = account_id"
        )
        self._target.execute("DELETE FROM incoming WHERE account_id <> ALL(%s)", [new])
        self._insert_incoming(table, columns)


@contextmanager
def _hold_tenant(dsn: str, tenant_id: UUID) -> Iterator[psycopg.Connection]:
    """Once nobody is in the tenant's scope, and until the connection's transaction ends nobody
    enters it. Raises MoveError where somebody does not leave it in time."""
    with psycopg.connect(dsn) as connection:
        connection.execute(SQL("SET LOCAL lock_timeout = {}").format(Literal(HOLD_PATIENCE)))
        try:
            connection.execute(_HOLD_SQL, [str(tenant_id)])
        except psycopg.errors.LockNotAvailable as error:
            raise MoveError("Somebody works in it and does not make way; try again.") from error
        yield connection


def _find_tenant(connection: psycopg.Connection, slug: str) -> tuple[UUID, str]:
    found = connection.execute(
        "SELECT id, moved_to FROM tenants_tenant WHERE slug = %s", [slug]
    ).fetchone()
    if found is None:
        raise MoveError(f"There is no tenant {slug}.")
    return found[0], found[1]


def _check_schemas(source: psycopg.Connection, target: psycopg.Connection) -> None:
    here, there = (
        set(side.execute("SELECT app, name FROM django_migrations").fetchall())
        for side in (source, target)
    )
    if here != there:
        raise MoveError("The two cells are of different versions: bring both to the same first.")


def _make_room(target: psycopg.Connection, slug: str, tenant_id: UUID) -> None:
    """Takes away the row of a tenant that once moved from there."""
    found = target.execute(
        "SELECT id, moved_to FROM tenants_tenant WHERE slug = %s OR id = %s", [slug, tenant_id]
    ).fetchall()
    if not found:
        return
    if [row[0] for row in found] != [tenant_id] or not found[0][1]:
        raise MoveError(f"There is a tenant {slug} in that cell.")
    try:
        target.execute("DELETE FROM tenants_tenant WHERE id = %s", [tenant_id])
        target.execute("SET CONSTRAINTS ALL IMMEDIATE")
    except psycopg.errors.ForeignKeyViolation as error:
        raise MoveError(f"What {slug} left in that cell is still there: purge it first.") from error
    target.execute("SET CONSTRAINTS ALL DEFERRED")


def _close_arrival(target: psycopg.Connection, tenant_id: UUID, cell: str) -> None:
    _mark_moved(target, tenant_id, ARRIVING)
    target.execute(
        "INSERT INTO tenants_auditentry (id, tenant_id, action, actor, about, detail, at) "
        "VALUES (gen_random_uuid(), %s, 'tenant.changed', 'operator', %s, '', now())",
        [tenant_id, f"moved to the cell {cell}"],
    )


def _finish_move(
    slug: str, tenant_id: UUID, target: psycopg.Connection, switch: Callable[[Routes], None]
) -> MoveSummary:
    """Open where it arrived what is closed here: the move broke off in between."""
    own = SQL("t.id = {} AND t.moved_to = {}").format(Literal(tenant_id), Literal(ARRIVING))
    routes = _list_routes(target, own)
    if not routes.slugs:
        raise MoveError(f"{slug} has moved there already.")
    switch(routes)
    _mark_moved(target, tenant_id, "")
    return MoveSummary(0, 0, 0.0, 0.0)


def _mark_moved(connection: psycopg.Connection, tenant_id: UUID, cell: str) -> None:
    connection.execute("UPDATE tenants_tenant SET moved_to = %s WHERE id = %s", [cell, tenant_id])


def _list_tables(connection: psycopg.Connection) -> list[tuple[str, list[str]]]:
    return connection.execute(_TABLES_SQL, [[_TENANT]]).fetchall()


def _list_columns(connection: psycopg.Connection, table: str) -> list[str]:
    found = connection.execute(
        "SELECT attname::text FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 "
        "AND NOT attisdropped AND attgenerated = '' ORDER BY attnum",
        [table],
    )
    return [name for (name,) in found.fetchall()]


def _join(columns: list[str]) -> Composed:
    return SQL(", ").join(map(Identifier, columns))
