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

from memoryhub.console.frame.form_values import read_time
from memoryhub.errors import InvalidInput
from memoryhub.tenants.models import Space
from notes.corrections import edits
from notes.corrections.edits import Edit
from notes.models import Fact, Note

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

MAX_REASON_LENGTH = 500
MAX_LIST_WORDS = 50


@dataclass(frozen=True, slots=True)
class CorrectionAction:
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
    CorrectionAction(
        "edit", _("Say it in other words"), _("Say it in other words"),
        _("A new version of the same memory; the old one stays in its history."),
        _("Save the new words"), _("Put in other words."), _("put in other words"),
    ),
    CorrectionAction(
        "describe", _("Describe"), _("Describe it in other words"),
        _("What the note says stays; how it is described and found changes."),
        _("Save the description"), _("Described anew."), _("described by hand"),
    ),
    CorrectionAction(
        "never", _("Never true"), _("It was never true"),
        _("No question about any time finds it again, and what it had replaced holds again."),
        _("Withdraw it"), _("Withdrawn: it was never true."), _("was never true"), danger=True,
    ),
    CorrectionAction(
        "end", _("No longer true"), _("It is no longer true"),
        _("It stays true of the time until then."),
        _("End it"), _("Ended."), _("no longer true"),
    ),
    CorrectionAction(
        "pin", _("Pin"), _("Pin it"),
        _("It does not fade, and the pipeline asks before it changes it."),
        _("Pin it"), _("Pinned."), _("pinned"),
    ),
    CorrectionAction(
        "unpin", _("Unpin"), _("Unpin it"),
        _("It may fade again, and the pipeline may change it."),
        _("Unpin it"), _("No longer pinned."), _("no longer pinned"),
    ),
    CorrectionAction(
        "merge", _("Merge"), _("Merge it into another memory"),
        _("This one is taken out, and what it rests on supports the other."),
        _("Merge"), _("Merged."), _("says the same as another"),
    ),
    CorrectionAction(
        "forget", _("Forget"), _("Forget it"),
        _("It is held no longer, and found by no question. Its history stays, so that it can be"
        " restored; erasing is for good."),
        _("Forget it"), _("Forgotten."), _("forgotten"), danger=True,
    ),
    CorrectionAction(
        "restore", _("Restore"), _("Restore it"),
        _("It is so after all, and still."),
        _("Restore it"), _("Restored."), _("restored"),
    ),
)  # fmt: skip
ACTIONS_BY_NAME = {action.name: action for action in _ACTIONS}
# As older pages and scripts say it.
_OLD_ACTION_NAMES = {"delete": "forget"}


def find_action(name: str) -> CorrectionAction | None:
    return ACTIONS_BY_NAME.get(_OLD_ACTION_NAMES.get(name, name))


def list_offered_actions(kind: str, row: Any) -> list[CorrectionAction]:
    """What can be done to the row as it is."""
    pin = "unpin" if row.pinned else "pin"
    if kind == "note":
        held = ["describe", pin, "merge", "forget"]
        return [ACTIONS_BY_NAME[name] for name in (["restore"] if row.retired_at else held)]
    gone = row.retired_at or row.status == Fact.Status.RETRACTED
    if gone:
        return [ACTIONS_BY_NAME["restore"]]
    open_ended = row.status == Fact.Status.ACTIVE
    middle = ["end"] if open_ended else ["restore"]
    return [ACTIONS_BY_NAME[name] for name in ("edit", *middle, "never", pin, "merge", "forget")]


@dataclass(frozen=True, slots=True)
class CorrectionInput:
    """A form as it was filled in, by the names of its fields."""

    kind: str
    row_id: UUID
    values: Mapping[str, str]
    space: Space

    def __getitem__(self, name: str) -> str:
        return self.values.get(name, "").replace("\0", "").strip()

    @property
    def reason(self) -> str:
        return self["reason"][:MAX_REASON_LENGTH]


def build_correction_work(name: str, given: CorrectionInput) -> Edit:
    """Raises InvalidInput for what is not offered or not filled in."""
    action = find_action(name)
    make = None if action is None else _WORK_BUILDERS[given.kind].get(action.name)
    if make is None:
        raise InvalidInput(gettext("there is no such action"), field="action")
    return make(given)


def _build_correct_work(given: CorrectionInput) -> Edit:
    # As it was sent: what the words lack is said by the check of texts.
    return edits.plan_correct_text(given.row_id, given.values.get("text", ""))


def _build_end_work(given: CorrectionInput) -> Edit:
    at: datetime | None = None
    if given["at"] and (at := read_time(given["at"], given.space)) is None:
        raise InvalidInput(gettext("not a time that can be read"), field="at")
    return edits.plan_end_fact(given.row_id, at)


def _build_merge_work(given: CorrectionInput) -> Edit:
    try:
        other = UUID(given["other"])
    except ValueError:
        raise InvalidInput(gettext("choose the memory that says the same"), field="other") from None
    return edits.plan_merge(given.kind, given.row_id, other)


def _build_describe_work(given: CorrectionInput) -> Edit:
    context = given["context"]
    if len(context) > 500:
        raise InvalidInput(gettext("at most %(most)s characters") % {"most": 500}, field="context")
    lists = {name: _parse_word_list(name, given[name]) for name in ("keywords", "tags")}
    return edits.plan_describe_note(given.row_id, {"context": context, **lists})


def _parse_word_list(field: str, text: str) -> list[str]:
    """Separated by commas, also the Chinese ones."""
    for comma in "，、":
        text = text.replace(comma, ",")
    found = list(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))
    if len(found) > MAX_LIST_WORDS or any(len(word) > 120 for word in found):
        message = gettext("at most %(most)s, each of at most %(characters)s characters")
        raise InvalidInput(message % {"most": MAX_LIST_WORDS, "characters": 120}, field=field)
    return found


_WORK_BUILDERS: dict[str, dict[str, Callable[[CorrectionInput], Edit]]] = {
    "fact": {
        "edit": _build_correct_work,
        "never": lambda given: edits.plan_retract_fact(given.row_id),
        "end": _build_end_work,
        "restore": lambda given: edits.plan_restore_fact(given.row_id),
        "pin": lambda given: edits.plan_set_pinned("fact", given.row_id, True),
        "unpin": lambda given: edits.plan_set_pinned("fact", given.row_id, False),
        "merge": _build_merge_work,
        "forget": lambda given: edits.plan_forget_facts([given.row_id]),
    },
    "note": {
        "describe": _build_describe_work,
        "restore": lambda given: edits.plan_restore_note(given.row_id),
        "pin": lambda given: edits.plan_set_pinned("note", given.row_id, True),
        "unpin": lambda given: edits.plan_set_pinned("note", given.row_id, False),
        "merge": _build_merge_work,
        "forget": lambda given: edits.plan_forget_note(given.row_id),
    },
}


def build_initial_values(kind: str, row: Fact | Note) -> dict[str, str]:
    """What the form of an action is filled with at first: the memory as it is."""
    if isinstance(row, Fact):
        return {"text": row.text}
    return {
        "context": row.context,
        "keywords": ", ".join(row.keywords),
        "tags": ", ".join(row.tags),
    }
