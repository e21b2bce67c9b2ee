"""What an editor can do to a memory, and what a form of it asks for. Pure but for the works.

A correction is shown before it is made and made by the same `Work`, so that the two agree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from memoryhub.console.reading import read_time
from memoryhub.errors import InvalidInput
from memoryhub.tenants.models import Space
from notes import works
from notes.models import Fact, Note
from notes.works import Work

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

MOST_REASON = 500
MOST_WORDS = 50


@dataclass(frozen=True, slots=True)
class Action:
    """`title` heads its form, `button` does it, `done` is said afterwards. `why`: the reason that
    stands in the history when the editor gives none."""

    name: str
    label: StrOrPromise
    title: StrOrPromise
    help: StrOrPromise
    button: StrOrPromise
    done: StrOrPromise
    why: StrOrPromise
    danger: bool = False


_ACTIONS = (
    Action(
        "edit", _("Say it in other words"), _("Say it in other words"),
        _("A new version of the same memory; the old one stays in its history."),
        _("Save the new words"), _("Put in other words."), _("put in other words"),
    ),
    Action(
        "describe", _("Describe"), _("Describe it in other words"),
        _("What the note says stays; how it is described and found changes."),
        _("Save the description"), _("Described anew."), _("described by hand"),
    ),
    Action(
        "never", _("Never true"), _("It was never true"),
        _("No question about any time finds it again, and what it had replaced holds again."),
        _("Withdraw it"), _("Withdrawn: it was never true."), _("was never true"), danger=True,
    ),
    Action(
        "end", _("No longer true"), _("It is no longer true"),
        _("It stays true of the time until then."),
        _("End it"), _("Ended."), _("no longer true"),
    ),
    Action(
        "pin", _("Pin"), _("Pin it"),
        _("It does not fade, and the pipeline asks before it changes it."),
        _("Pin it"), _("Pinned."), _("pinned"),
    ),
    Action(
        "unpin", _("Unpin"), _("Unpin it"),
        _("It may fade again, and the pipeline may change it."),
        _("Unpin it"), _("No longer pinned."), _("no longer pinned"),
    ),
    Action(
        "merge", _("Merge"), _("Merge it into another memory"),
        _("This one is taken out, and what it rests on supports the other."),
        _("Merge"), _("Merged."), _("says the same as another"),
    ),
    Action(
        "forget", _("Forget"), _("Forget it"),
        _("It is held no longer, and found by no question. Its history stays, so that it can be"
        " restored; erasing is for good."),
        _("Forget it"), _("Forgotten."), _("forgotten"), danger=True,
    ),
    Action(
        "restore", _("Restore"), _("Restore it"),
        _("It is so after all, and still."),
        _("Restore it"), _("Restored."), _("restored"),
    ),
)  # fmt: skip
ACTIONS = {action.name: action for action in _ACTIONS}
# As older pages and scripts say it.
_ALSO = {"delete": "forget"}


def named(name: str) -> Action | None:
    return ACTIONS.get(_ALSO.get(name, name))


def offered(kind: str, row: Any) -> list[Action]:
    """What can be done to the row as it is."""
    pin = "unpin" if row.pinned else "pin"
    if kind == "note":
        held = ["describe", pin, "merge", "forget"]
        return [ACTIONS[name] for name in (["restore"] if row.retired_at else held)]
    gone = row.retired_at or row.status == Fact.Status.RETRACTED
    if gone:
        return [ACTIONS["restore"]]
    open_ended = row.status == Fact.Status.ACTIVE
    middle = ["end"] if open_ended else ["restore"]
    return [ACTIONS[name] for name in ("edit", *middle, "never", pin, "merge", "forget")]


@dataclass(frozen=True, slots=True)
class Given:
    """A form as it was filled in, by the names of its fields."""

    kind: str
    row_id: UUID
    values: Mapping[str, str]
    space: Space

    def __getitem__(self, name: str) -> str:
        return self.values.get(name, "").replace("\0", "").strip()

    @property
    def reason(self) -> str:
        return self["reason"][:MOST_REASON]


def work_of(name: str, given: Given) -> Work:
    """Raises InvalidInput for what is not offered or not filled in."""
    action = named(name)
    make = None if action is None else _WORKS[given.kind].get(action.name)
    if make is None:
        raise InvalidInput(gettext("there is no such action"), field="action")
    return make(given)


def _edit(given: Given) -> Work:
    # As it was sent: what the words lack is said by the check of texts.
    return works.rewording(given.row_id, given.values.get("text", ""))


def _end(given: Given) -> Work:
    at: datetime | None = None
    if given["at"] and (at := read_time(given["at"], given.space)) is None:
        raise InvalidInput(gettext("not a time that can be read"), field="at")
    return works.ending(given.row_id, at)


def _merge(given: Given) -> Work:
    try:
        other = UUID(given["other"])
    except ValueError:
        raise InvalidInput(gettext("choose the memory that says the same"), field="other") from None
    return works.merging(given.kind, given.row_id, other)


def _describe(given: Given) -> Work:
    context = given["context"]
    if len(context) > 500:
        raise InvalidInput(gettext("at most %(most)s characters") % {"most": 500}, field="context")
    lists = {name: _words(name, given[name]) for name in ("keywords", "tags")}
    return works.describing(given.row_id, {"context": context, **lists})


def _words(field: str, text: str) -> list[str]:
    """Separated by commas, also the Chinese ones."""
    for comma in "，、":
        text = text.replace(comma, ",")
    found = list(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))
    if len(found) > MOST_WORDS or any(len(word) > 120 for word in found):
        message = gettext("at most %(most)s, each of at most %(characters)s characters")
        raise InvalidInput(message % {"most": MOST_WORDS, "characters": 120}, field=field)
    return found


_WORKS: dict[str, dict[str, Callable[[Given], Work]]] = {
    "fact": {
        "edit": _edit,
        "never": lambda given: works.withdrawing(given.row_id),
        "end": _end,
        "restore": lambda given: works.restoring(given.row_id),
        "pin": lambda given: works.pinning("fact", given.row_id, True),
        "unpin": lambda given: works.pinning("fact", given.row_id, False),
        "merge": _merge,
        "forget": lambda given: works.removing([given.row_id]),
    },
    "note": {
        "describe": _describe,
        "restore": lambda given: works.returning(given.row_id),
        "pin": lambda given: works.pinning("note", given.row_id, True),
        "unpin": lambda given: works.pinning("note", given.row_id, False),
        "merge": _merge,
        "forget": lambda given: works.deleting(given.row_id),
    },
}


def first_values(kind: str, row: Fact | Note) -> dict[str, str]:
    """What the form of an action is filled with at first: the memory as it is."""
    if isinstance(row, Fact):
        return {"text": row.text}
    return {
        "context": row.context,
        "keywords": ", ".join(row.keywords),
        "tags": ", ".join(row.tags),
    }
