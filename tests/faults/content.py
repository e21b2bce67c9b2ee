"""What a hub holds of somebody, made comparable between two runs.

Ids differ from run to run, and so do the times at which something was read: what is left is each
row's words, its times in the world that is told of, and its state. Rows are counted, as the order
in which steps end is nobody's promise; that of turns is, and is compared as it stands.

What gathers, sums up or links memories goes by what is there when it is its turn. So two long runs
that nothing disturbs differ in it, by thousands of rows of a thousand turns; of it that is compared
which they have in common (`LASTING`), and the rest is only counted.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.faults.backend import Backend

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_HASH = re.compile(r"[0-9a-f]{32,64}")  # of ids
_TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(?:\+00:00|Z)")
# What a run says of itself.
_HEADS = ("made_at", "sha256", "counts")
# What the hub did, it did not longer ago than this, by any clock; what is told of is older.
_LATELY = timedelta(days=1)

# By kind of row, the columns that do not depend on when something was gathered; none: how many.
LASTING: Mapping[str, tuple[str, ...]] = {
    "page": ("first_seq", "last_seq", "kind"),
    "note": ("content", "occurred_at", "enrichment"),
    "segmentpage": (),
}
# Rows of these kinds may be others, and more or fewer.
GATHERED = frozenset((
    "chain", "segment", "episode", "trait", "link", "proposal", "evolutionevent", "revision",
    "derivation", "end",
))  # fmt: skip

Content = dict[str, Counter[str]]


def read_content(backend: Backend, subjects: list[str], began: datetime) -> Content:
    """By kind of row, how often each is there; `turn order` has one row a subject, and what of a
    kind is of the moment stands under its name with a star."""
    content: Content = {}
    for subject in subjects:
        exported = backend.read_all(f"spaces/{subject}/export").text
        lines = [json.loads(line) for line in exported.splitlines() if line.strip()]
        for kind, row in _list_rows(lines, began):
            content.setdefault(kind, Counter())[row] += 1
        turns = [line for line in lines if line.get("row") == "turn"]
        order = [t["text"] for t in sorted(turns, key=lambda turn: turn["seq"])]
        content.setdefault("turn order", Counter())[json.dumps(order)] += 1
    return content


@dataclass(frozen=True)
class Difference:
    """Of a kind of row: how many there were, and those that are lost, and added."""

    kind: str
    total: int
    lost: Counter[str]
    added: Counter[str]

    @property
    def is_of_the_moment(self) -> bool:
        return self.kind.endswith("*")

    def __str__(self) -> str:
        return f"{self.kind} {self.total}: -{self.lost.total()} +{self.added.total()}"


def compare(before: Content, after: Content) -> list[Difference]:
    """The kinds that differ."""
    found = []
    for kind in sorted(before.keys() | after.keys()):
        one, other = before.get(kind, Counter()), after.get(kind, Counter())
        found.append(Difference(kind, one.total(), one - other, other - one))
    return [each for each in found if each.lost or each.added]


def _list_rows(lines: list[dict[str, Any]], began: datetime) -> Iterator[tuple[str, str]]:
    for line in lines:
        kind = line.get("row")
        if not kind:
            continue
        row = _strip(line, began)
        if kind in GATHERED or kind in LASTING:
            yield f"{kind}*", _write(row)
        if kind in LASTING:
            yield kind, _write({name: row.get(name) for name in LASTING[kind]})
        elif kind not in GATHERED:
            yield kind, _write(row)


def _write(row: dict[str, Any]) -> str:
    return json.dumps(row, sort_keys=True, ensure_ascii=False)


def _strip(value: Any, began: datetime) -> Any:
    """Without ids, and without times at which the hub did something."""
    if isinstance(value, dict):
        kept = {k: _strip(v, began) for k, v in value.items() if k not in _HEADS}
        return {k: v for k, v in kept.items() if v not in (None, [], {})}
    if isinstance(value, list):
        made = (_strip(each, began) for each in value)
        return [each for each in made if each is not None]
    if isinstance(value, str):
        if _TIME.fullmatch(value) and datetime.fromisoformat(value) > began - _LATELY:
            return None
        return None if _HASH.fullmatch(value) else _UUID.sub("", value) or None
    return value


def now() -> datetime:
    return datetime.now(UTC)
