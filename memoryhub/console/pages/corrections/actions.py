"""What an editor can do to a memory, what a form asks for, and the operation it stands for. Labels
are everyday words: *Mark as false* retracts, *Hide* forgets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from memoryhub.console.frame.forms import read_time
from memoryhub.errors import InvalidInput
from memoryhub.pipeline import corrections
from memoryhub.pipeline.corrections import (
    Correction,
    CorrectionOptions,
    FactCorrection,
    build_value_pattern,
    find_facts_naming,
    replace_named_value,
)
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.facts.validity import is_fact_current
from notes.models import Fact, Note

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

MAX_REASON_LENGTH = 500
MAX_LIST_WORDS = 50


@dataclass(frozen=True, slots=True)
class CorrectionAction:
    """`name` is the operation's; `title` heads its form, `button` does it, `done` is said
    afterwards."""

    name: str
    label: StrOrPromise
    title: StrOrPromise
    help: StrOrPromise
    button: StrOrPromise
    done: StrOrPromise
    danger: bool = False

    @property
    def why(self) -> str:
        """The reason that stands in the history when the editor gives none."""
        return gettext(corrections.REASONS[self.name])


_ACTIONS = (
    CorrectionAction(
        "correct", _("Correct"), _("Correct it"),
        _("Write what is true. Your correction becomes its source; the earlier wording "
"stays in the history, and the profile takes the new value."),
        _("Correct it"), _("Corrected."),
    ),
    CorrectionAction(
        "describe", _("Describe"), _("Edit the description"),
        _("The note's content stays the same; its description, and how it is found, "
"change."),
        _("Save description"), _("Description updated."),
    ),
    CorrectionAction(
        "retract", _("Mark as false"), _("Mark it as false: it was never true"),
        _("No search finds it any more, for any time, and what it replaced becomes "
"current again."),
        _("Mark it as false"), _("Marked as false: it was never true."), danger=True,
    ),
    CorrectionAction(
        "end", _("End"), _("End it: it is no longer true"),
        _("It stays true for the time before that."),
        _("End it"), _("Ended."),
    ),
    CorrectionAction(
        "pin", _("Pin"), _("Pin it"),
        _("It does not fade, and the hub asks before changing it."),
        _("Pin it"), _("Pinned."),
    ),
    CorrectionAction(
        "unpin", _("Unpin"), _("Unpin it"),
        _("It may fade again, and the hub may change it."),
        _("Unpin it"), _("No longer pinned."),
    ),
    CorrectionAction(
        "merge", _("Merge"), _("Merge it into another memory"),
        _("This memory is removed, and its sources support the other one."),
        _("Merge"), _("Merged."),
    ),
    CorrectionAction(
        "forget", _("Hide"), _("Hide it"),
        _("It is no longer used, and no search finds it. Its history stays, so it can be "
"restored. Erasing is permanent."),
        _("Hide it"), _("Hidden."), danger=True,
    ),
    CorrectionAction(
        "restore", _("Restore"), _("Restore it"),
        _("It is true after all, and still is."),
        _("Restore it"), _("Restored."),
    ),
)  # fmt: skip
ACTIONS_BY_NAME = {action.name: action for action in _ACTIONS}
# As older pages and scripts say it.
_OLD_ACTION_NAMES = {"edit": "correct", "never": "retract", "delete": "forget"}


def find_action(name: str) -> CorrectionAction | None:
    return ACTIONS_BY_NAME.get(_OLD_ACTION_NAMES.get(name, name))


def list_offered_actions(kind: str, row: Any) -> list[CorrectionAction]:
    """What can be done to the row as it is."""
    pin = "unpin" if row.pinned else "pin"
    if kind == "note":
        names = ["restore"] if row.retired_at else ["describe", pin, "merge", "forget"]
        return [ACTIONS_BY_NAME[name] for name in names]
    gone = row.retired_at or row.status == Fact.Status.RETRACTED
    if gone:
        return [ACTIONS_BY_NAME["restore"]]
    open_ended = row.status == Fact.Status.ACTIVE
    middle = ["end"] if open_ended else ["restore"]
    held = ["correct", *middle, "retract", pin, "merge", "forget"]
    return [ACTIONS_BY_NAME[name] for name in held]


@dataclass(frozen=True, slots=True)
class CorrectionInput:
    """A form as it was filled in, by the names of its fields."""

    kind: str
    row_id: UUID
    values: Mapping[str, str]
    space: Space
    also: Sequence[UUID] = ()  # other facts in which the old value is put right, too

    def __getitem__(self, name: str) -> str:
        return self.values.get(name, "").replace("\0", "").strip()

    @property
    def reason(self) -> str:
        return self["reason"][:MAX_REASON_LENGTH]


def run_action(
    name: str, given: CorrectionInput, actor: str, now: datetime, *, dry_run: bool = False
) -> Correction[Any]:
    """What the form asks for; with `dry_run` it is planned only, by the same operation, so that
    the two agree. Opens its own scopes. Raises InvalidInput for what is not offered or not filled
    in, and what operations raise."""
    action = find_action(name)
    space, row_id, by = given.space, given.row_id, (actor, now)
    options: CorrectionOptions = {"reason": given.reason, "dry_run": dry_run}
    match given.kind, action.name if action else "":
        case "fact", "correct":
            wanted = _read_corrections(given, now)
            return corrections.correct_facts(space, wanted, *by, **options)
        case "fact", "retract":
            return corrections.retract_fact(space, row_id, *by, **options)
        case "fact", "end":
            at = _read_end(given)
            return corrections.end_fact(space, row_id, *by, at=at, **options)
        case "fact", "restore":
            return corrections.restore_fact(space, row_id, *by, **options)
        case "fact", "forget":
            return corrections.forget_facts(space, [row_id], *by, **options)
        case "note", "describe":
            values = _read_descriptors(given)
            return corrections.describe_note(space, row_id, *by, **values, **options)
        case "note", "restore":
            return corrections.restore_note(space, row_id, *by, **options)
        case "note", "forget":
            return corrections.forget_note(space, row_id, *by, **options)
        case kind, "pin" | "unpin" as verb:
            return corrections.set_pinned(space, kind, row_id, verb == "pin", *by, **options)
        case kind, "merge":
            other = _read_other(given)
            return corrections.merge_memories(space, kind, row_id, other, *by, **options)
    raise InvalidInput(gettext("there is no such action"), field="action")


def _read_corrections(given: CorrectionInput, now: datetime) -> dict[UUID, FactCorrection]:
    """What becomes of the fact, and of the others that were chosen, which name its old value."""
    space = given.space
    with tenant_scope(space.tenant_id):
        fact = Fact.objects.filter(space=space, id=given.row_id).first()
        if fact is None:
            return {given.row_id: FactCorrection(given["text"])}
        named = {other.id: other for other in find_facts_naming(space, fact)}
    text = compose_statement(given, fact)
    value: str | None = given["value"]
    if value in ("", fact.object):
        reworded = text.strip() != fact.text
        value = corrections.read_claim_value(fact, text, now) if reworded else None
        if value is None and reworded and fact.object not in fact.text:
            value = fact.object  # neither words say it: it stands in the form, and stays
        if value is None and given.also:
            raise InvalidInput(gettext("give its value in a word or two"), field="value")
    elif text.strip() and (value or "").casefold() not in text.casefold():
        message = gettext("the sentence doesn't say “%(value)s”: put it there too")
        raise InvalidInput(message % {"value": value}, field="value")
    since = _read_since(given, fact)
    wanted = {fact.id: FactCorrection(text, value=value, since=since)}
    for other_id in given.also if value else ():
        if other := named.get(other_id):
            wanted[other_id] = replace_named_value(other, fact.object, value or "")
    return wanted


def compose_statement(given: CorrectionInput, fact: Fact) -> str:
    """The words of the form, as they were sent: what they lack is said by the check of texts. Where
    only the value is another, it takes the old one's place in them."""
    text, value = given.values.get("text", ""), given["value"]
    is_value_alone = value not in ("", fact.object) and text.strip() == fact.text
    if not is_value_alone or not fact.object:
        return text
    return build_value_pattern(fact.object).sub(lambda _: value, fact.text)


def _read_since(given: CorrectionInput, fact: Fact) -> datetime | None:
    """None where it stays as it is: a field of minutes would cut the seconds."""
    if not given["since"] or given["since"] == _format_since(fact, given.space):
        return None
    since = read_time(given["since"], given.space)
    if since is None:
        raise InvalidInput(gettext("this time is not valid"), field="since")
    return since


def leaves_gap(given: CorrectionInput, fact: Fact, now: datetime) -> bool:
    """Whether the correction takes the place of what holds now and begins only later: until then
    nothing is held."""
    since = read_time(given["since"], given.space)
    return since is not None and since > now and is_fact_current(fact, now)


def _format_since(fact: Fact, space: Any) -> str:
    return f"{fact.valid_from.astimezone(ZoneInfo(space.timezone)):%Y-%m-%dT%H:%M}"


def _read_end(given: CorrectionInput) -> datetime | None:
    if not given["at"]:
        return None
    at = read_time(given["at"], given.space)
    if at is None:
        raise InvalidInput(gettext("this time is not valid"), field="at")
    return at


def _read_other(given: CorrectionInput) -> UUID:
    try:
        return UUID(given["other"])
    except ValueError:
        raise InvalidInput(gettext("choose the memory that says the same"), field="other") from None


def _read_descriptors(given: CorrectionInput) -> dict[str, Any]:
    context = given["context"]
    if len(context) > 500:
        raise InvalidInput(gettext("at most %(most)s characters") % {"most": 500}, field="context")
    lists = {name: _parse_word_list(name, given[name]) for name in ("keywords", "tags")}
    return {"context": context, **lists}


def _parse_word_list(field: str, text: str) -> list[str]:
    """Separated by commas, also the Chinese ones."""
    for comma in "，、":
        text = text.replace(comma, ",")
    found = list(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))
    if len(found) > MAX_LIST_WORDS or any(len(word) > 120 for word in found):
        message = gettext("at most %(most)s, each of at most %(characters)s characters")
        raise InvalidInput(message % {"most": MAX_LIST_WORDS, "characters": 120}, field=field)
    return found


def build_initial_values(kind: str, row: Fact | Note, space: Any) -> dict[str, str]:
    """What the form of an action is filled with at first: the memory as it is."""
    if isinstance(row, Fact):
        return {"text": row.text, "value": row.object, "since": _format_since(row, space)}
    return {
        "context": row.context,
        "keywords": ", ".join(row.keywords),
        "tags": ", ".join(row.tags),
    }
