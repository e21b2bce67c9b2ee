"""Times, validity and small parts, in templates."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import uuid4
from zoneinfo import ZoneInfo

from django.contrib.messages.storage.base import Message
from django.template import Library
from django.template.defaultfilters import stringfilter
from django.templatetags.static import static
from django.utils import timezone
from django.utils.dateformat import format as written
from django.utils.dateparse import parse_datetime
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from memoryhub.console.frame.text import nouns, wording
from memoryhub.console.frame.text.predicate_words import format_predicate
from memoryhub.console.frame.text.purpose_words import format_purpose
from memoryhub.console.frame.text.quotes import QuotePiece
from memoryhub.console.frame.text.reasons import translate_reason
from memoryhub.console.frame.text.recall_words import format_recall_term, get_score_tone
from memoryhub.console.frame.text.wording import LINK_KINDS, NODE_KINDS
from memoryhub.engines.local.language import detect_language
from memoryhub.pipeline.models import Job
from memoryhub.policies.presets import PRESETS
from memoryhub.tenants.models import Space
from notes.facts.validity import is_fact_over
from notes.models import Fact, Receipt
from personas.agent.executor import StepOutcome

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

register = Library()


@register.simple_tag
def icon(name: str, label: str = "") -> SafeString:
    """An icon of the sprite. Without a label it is decoration."""
    hidden = format_html('role="img" aria-label="{}"', label) if label else 'aria-hidden="true"'
    drawn = '<svg class="icon" {}><use href="{}#{}"/></svg>'
    return format_html(drawn, SafeString(hidden), static("icons.svg"), name)


@register.simple_tag
def once() -> str:
    """A name for a form's message, so that sending it twice is sending it once."""
    return uuid4().hex


@register.simple_tag
def since(at: datetime | None, zone: str = "UTC") -> SafeString:
    """ "3 hours ago", the exact time on hover. A dash for none."""
    if at is None:
        return format_html('<span class="none">{}</span>', gettext("never"))
    local, now = _localise(at, zone)
    return _render_time(local, wording.format_ago(local, now))


@register.simple_tag
def on_day(at: datetime | None, zone: str = "UTC") -> SafeString:
    if at is None:
        return SafeString("")
    local, now = _localise(at, zone)
    return _render_time(local, wording.format_day(local, now))


@register.simple_tag
def clock(at: datetime, zone: str = "UTC") -> SafeString:
    local = at.astimezone(ZoneInfo(zone))
    return _render_time(local, f"{local:%H:%M}")


def _localise(at: datetime, zone: str) -> tuple[datetime, datetime]:
    """The time and the present, there."""
    return at.astimezone(ZoneInfo(zone)), timezone.now().astimezone(ZoneInfo(zone))


def _render_time(local: datetime, words: str) -> SafeString:
    shown = '<time datetime="{}" title="{}">{}</time>'
    return format_html(shown, local.isoformat(), wording.format_exact_time(local), words)


@register.simple_tag
def validity(
    fact: Fact, successor: Fact | None, zone: str = "UTC", now: datetime | None = None
) -> str:
    """`now`: the moment that is shown, if it is not the present."""
    return wording.describe_validity(fact, successor, now or timezone.now(), ZoneInfo(zone))


@register.filter
def lang_of(text: str) -> str:
    """For a `lang` attribute; empty where the language is none that can be told."""
    found = detect_language(text)
    return "" if found == "other" else found


@register.filter
def marked(pieces: Iterable[QuotePiece]) -> SafeString:
    """A quote with what supports a memory set off. Nothing stands behind it, not even the end of a
    line: that would be a blank before a closing mark."""
    words = (format_html(_PIECE_TAGS[piece.marked], piece.text) for piece in pieces)
    return format_html_join("", "{}", ((each,) for each in words))


_PIECE_TAGS = {True: "<mark>{}</mark>", False: "{}"}


@register.filter
def over(fact: Fact, now: datetime | None = None) -> bool:
    """Struck out: no longer true, or never. What is still to come is not."""
    return is_fact_over(fact, now or timezone.now())


@register.filter
def undoable(receipt: Receipt) -> bool:
    """Whether what it tells of can still be brought back."""
    return receipt.is_undoable(timezone.now())


@register.filter
def decision(op: str) -> str:
    return str(wording.DECISION_WORDS.get(op, op))


@register.filter
def value(given: Any) -> str:
    """A column's value as a person reads it."""
    if given is None or given == "" or given == []:
        return gettext("nothing")
    if isinstance(given, list):
        return wording.join_list(map(str, given))
    if isinstance(given, float):
        return f"{given:.3g}"
    if not isinstance(given, str):
        return json.dumps(given)
    label = _STATUS_LABELS.get(given)
    return str(label).lower() if label else _format_stored_time(given)


@register.filter
def setting(given: Any) -> str:
    """A switch's value as the policy page writes it."""
    if isinstance(given, bool):
        return gettext("on") if given else gettext("off")
    return value(given)


_STATUS_LABELS = dict(Fact.Status.choices)


def _format_stored_time(text: str) -> str:
    """A stored time as people write it; any other text as it is."""
    at = parse_datetime(text) if text[:1].isdigit() else None
    return written(at, gettext("j M Y, H:i")) if at else text


@register.filter
def preset_title(name: str) -> str:
    """Of a preset that is there no more, its name."""
    return gettext(PRESETS[name].title) if name in PRESETS else name


@register.filter
def at(values: dict[str, Any], name: str) -> Any:
    """A dictionary's value under a key that a template holds in a variable."""
    return values.get(name)


@register.filter
def link_words(kind: str) -> str:
    """What a link of the graph says, between its ends."""
    return str(LINK_KINDS[kind][1])


_PLURAL_KINDS = {**NODE_KINDS, "page": _("Exchanges"), "turn": _("Turns")}


@register.filter
def kinds_words(kind: str) -> str:
    """Memories of a kind, as a heading."""
    return str(_PLURAL_KINDS.get(kind, kind))


@register.filter
def plain(name: str) -> str:
    """A name of the program as words."""
    return name.replace("_", " ")


@register.filter
def offered(message: Message) -> tuple[str, str] | None:
    """(label, address) of what takes back what a message tells."""
    label, _, address = (message.extra_tags or "").partition(":")
    return (label, address) if address else None


@register.filter
def money(amount: float) -> str:
    """Two places, or as many as a small amount needs."""
    return f"{amount:,.2f}" if not amount or amount >= 0.01 else f"{amount:.6f}"


@register.filter
def seconds(milliseconds: float) -> str:
    return f"{milliseconds / 1000:.1f}"


@register.filter
def state_words(job: Job) -> str:
    """A job's state, and what it waits for."""
    if job.state == Job.State.RETRY:
        return str(_RETRY_REASONS.get(job.error.partition(":")[0], job.get_state_display()))
    return str(job.get_state_display())


_RETRY_REASONS = {
    "budget_spent": _("Waiting for tomorrow's budget"),
    "breaker_open": _("Waiting for the model"),
}


@register.filter
def step_words(step: StepOutcome) -> str:
    return wording.describe_step(step.tool, step.arguments)


@register.filter
def role_words(role: str) -> StrOrPromise:
    """What a member may do, within a sentence."""
    return wording.ROLE_WORDS[role]


register.simple_tag(nouns.counted)
register.simple_tag(nouns.none_of)
register.filter("of_program", gettext)  # what a table holds in English: see `vocabulary`
register.filter("purpose_words", format_purpose)
register.filter("recall_term", format_recall_term)
register.filter("score_tone", get_score_tone)
register.filter("because", translate_reason)
register.filter("kind_words", wording.format_kind)
register.filter("erased_target", wording.format_erase_target)
register.filter("erased_words", wording.format_erased_kind)
register.filter("actor", wording.format_actor)
register.filter("person", wording.format_person)
register.filter("predicate", format_predicate)
register.filter("shorten", stringfilter(wording.shorten_text))
register.filter("code", wording.format_code)
register.filter("amount", wording.format_amount)
register.filter("moment", parse_datetime)  # a time as JSON keeps it


@register.filter
def as_json(given: Any) -> str:
    """For an attribute that a script reads; escaped like any other text."""
    return json.dumps(given, separators=(",", ":"))


@register.filter
def called(speaker: str, space: Space) -> str:
    """The subject by the name that they have now, others by the one they spoke under."""
    return wording.format_person(space.name_owner(speaker))


@register.filter
def speakers(space: Space) -> list[str]:
    """Everyone who spoke, the subject by one name."""
    return list(dict.fromkeys(called(name, space) for name in space.speakers))


@register.filter
def percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.0f} %"


@register.filter
def lasted(run: Any) -> str:
    """How long it took, or has taken."""
    end = timezone.now() if run.state == "running" else run.finished_at or run.updated_at
    return wording.format_duration(end - run.created_at)


@register.filter
def calls_in(rows: dict[str, dict[str, float]]) -> int:
    """Of models, over all purposes."""
    return sum(int(row.get("calls", 0)) for row in rows.values())


@register.filter
def item(rows: Sequence[Any], place: int) -> Any:
    return rows[place]


@register.filter
def at_number(values: dict[str, Any], number: int) -> Any:
    """As `at`, for keys that are numbers in JSON; 0 where there is none."""
    return values.get(str(number), 0)


@register.filter
def minutes(seconds: float) -> str:
    return wording.format_duration(timedelta(seconds=seconds))


@register.simple_tag
def exactly(at: datetime, zone: str = "UTC") -> SafeString:
    """A day and a time of day."""
    local, now = _localise(at, zone)
    told = {"day": wording.format_day(local, now), "time": f"{local:%H:%M:%S}"}
    return _render_time(local, gettext("%(day)s, %(time)s") % told)


@register.filter
def in_zone(at: datetime, zone: str) -> str:
    """As a browser's time picker takes it."""
    return at.astimezone(ZoneInfo(zone)).isoformat(timespec="milliseconds")[:23]
