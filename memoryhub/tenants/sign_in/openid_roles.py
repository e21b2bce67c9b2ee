"""What an OpenID provider says of a person, as roles in tenants: read from one claim by a table
that the operator writes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

# The later stands above the earlier.
ROLES = ("viewer", "editor", "admin")


class RoleRule(NamedTuple):
    """Whoever has this value in the claim has this role in the tenant of this slug."""

    value: str
    tenant: str
    role: str


def parse_role_rules(text: str) -> tuple[RoleRule, ...]:
    """From JSON: {"a value of the claim": "tenant:role" or a list of such}. Raises ValueError."""
    if not text:
        return ()
    table = json.loads(text)
    if not isinstance(table, dict):
        raise ValueError('use JSON as {"group": "tenant:role"}')
    rules = []
    for value, given in table.items():
        for place in given if isinstance(given, list) else [given]:
            tenant, _, role = str(place).rpartition(":")
            if not tenant or role not in ROLES:
                raise ValueError(f"{place!r}: use tenant:role with one of {', '.join(ROLES)}")
            rules.append(RoleRule(value, tenant, role))
    return tuple(rules)


def choose_roles(
    claims: Mapping[str, Any], path: str, rules: tuple[RoleRule, ...]
) -> dict[str, str | None]:
    """The highest role by tenant; None in a tenant of the table that nothing gives one in. `path`:
    the claim, with dots where it lies within another ("realm_access.roles")."""
    held = _read_values(claims, path)
    chosen: dict[str, str | None] = {rule.tenant: None for rule in rules}
    for rule in sorted(rules, key=lambda rule: ROLES.index(rule.role)):
        if rule.value in held:
            chosen[rule.tenant] = rule.role
    return chosen


def _read_values(claims: Mapping[str, Any], path: str) -> set[str]:
    """A claim whose name has dots itself stands before one within another."""
    found: Any = claims.get(path)
    if found is None:
        found = claims
        for name in path.split("."):
            found = found.get(name) if isinstance(found, dict) else None
    values = found if isinstance(found, list) else [found]
    return {value for value in values if isinstance(value, str)}
