"""The moment a space is looked at: now, or an earlier one that the address names.

Two clocks can be meant (spec §11.7). `then`: what MemoryHub held at that time, right or wrong, as
its history tells. `now`: what was so in the world at that time, by all that is known today.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Literal
from urllib.parse import urlencode
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db.models import Model, QuerySet
from django.utils.translation import gettext_lazy as _

from memoryhub.console.frame.forms import read_time
from memoryhub.dialogues.models import Turn
from memoryhub.tenants.models import Space
from notes.history import timeline
from notes.models import Episode, EvolutionEvent, Fact, Note, Revision, Segment
from personas.models import Trait

KnownWhen = Literal["then", "now"]
KNOWN_OPTIONS = (("then", _("what was known then")), ("now", _("what is known now")))
# When a row begins to be so in the world. Kinds without such a time are undated.
_BEGIN_COLUMNS: dict[type[Model], str] = {
    Turn: "occurred_at",
    Fact: "valid_from",
    Note: "occurred_at",
    Segment: "started_at",
    Episode: "to_at",
    Trait: "valid_from",
    EvolutionEvent: "created_at",
}
# Records, which are written once and never change: when the hub got them.
_RECORDED_COLUMNS: dict[type[Model], str] = {Turn: "received_at", EvolutionEvent: "created_at"}


@dataclass(frozen=True, slots=True)
class SpaceMoment:
    """`at` is the present unless `is_past`. `asked`: what the address says; `wrong`: what of it
    can't be read. `kept`: the rest of the address, page number aside."""

    at: datetime
    known: KnownWhen = "then"
    is_past: bool = False
    as_of_text: str = ""
    is_unreadable: bool = False
    other_params: list[tuple[str, str]] = field(default_factory=list)

    @property
    def query(self) -> str:
        """What takes the moment along in an address; nothing at the present."""
        return f"?{urlencode(dict(self.form_fields))}" if self.is_past else ""

    @property
    def form_fields(self) -> list[tuple[str, str]]:
        """The same as fields of a form."""
        if not self.is_past:
            return []
        chosen = [("as_of", self.as_of_text)]
        return chosen if self.known == "then" else [*chosen, ("known", self.known)]

    @property
    def is_rewound(self) -> bool:
        """Whether rows are those that were held then."""
        return self.is_past and self.known == "then"

    @property
    def recorded_by(self) -> datetime | None:
        """What was recorded later was not there yet; None where that is no matter."""
        return self.at if self.is_rewound else None

    def rows(self, space: Space, model: type[Any]) -> QuerySet[Any]:
        """The rows of the space to choose from. Take them through `row` or `by_id`."""
        rows: QuerySet[Any] = model.objects.filter(space=space)
        if not self.is_past:
            return rows
        if self.is_rewound and model not in _RECORDED_COLUMNS:
            return timeline.select_rows_held_at(space, model, self.at)
        begins = (_RECORDED_COLUMNS if self.is_rewound else _BEGIN_COLUMNS)[model]
        return rows.filter(**{f"{begins}__lte": self.at})

    def row(self, found: Any) -> Any:
        """A row of `rows` as one of its model's."""
        return timeline.build_past_row(found) if isinstance(found, Revision) else found

    def load_rows_by_id(
        self, space: Space, model: type[Any], ids: Collection[UUID]
    ) -> dict[UUID, Any]:
        """Those of the rows that were there, in one statement."""
        name = "row_id__in" if self.is_rewound and model not in _RECORDED_COLUMNS else "id__in"
        found = self.rows(space, model).filter(**{name: list(ids)})
        return {row.id: row for row in map(self.row, found)}

    def is_dated(self, model: type[Any]) -> bool:
        """Whether rows of the model can be told at this moment."""
        return not self.is_past or self.is_rewound or model in _BEGIN_COLUMNS


def read_moment(query: Mapping[str, str], space: Space, now: datetime) -> SpaceMoment:
    """What an address asks for. A day alone is its end; a time to come is the present."""
    asked = query.get("as_of", "").replace("\0", "").strip()[:40]
    known: KnownWhen = "now" if query.get("known") == "now" else "then"
    named = {"as_of", "known", "page"}
    kept = [(name, query[name]) for name in query if name not in named]
    at = _parse_moment(asked, space)
    if at is None or at >= now:
        return SpaceMoment(now, known, is_unreadable=bool(asked) and at is None, other_params=kept)
    return SpaceMoment(at, known, is_past=True, as_of_text=asked, other_params=kept)


def _parse_moment(asked: str, space: Space) -> datetime | None:
    try:
        day = date.fromisoformat(asked)
    except ValueError:
        return read_time(asked, space)
    if not 1900 < day.year < 2200:
        return None
    return datetime.combine(day, time.max, ZoneInfo(space.timezone))


def format_moment(at: datetime) -> str:
    """A time as addresses name it. They have milliseconds: what happened at `at` is within it."""
    up = at.astimezone(UTC) + timedelta(microseconds=-at.microsecond % 1000)
    return up.isoformat(timespec="milliseconds").replace("+00:00", "Z")
