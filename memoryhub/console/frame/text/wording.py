"""Memory in the operator's words. Pure: `now` and the zone are parameters."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Any

from django.utils.dateformat import format as written
from django.utils.translation import gettext, gettext_lazy, ngettext_lazy, pgettext
from django.utils.translation import gettext_noop as _

from memoryhub.console.frame.text import nouns
from memoryhub.languages import use_stored_language
from memoryhub.subject_names import PLACEHOLDERS
from notes.facts.validity import is_plan_over
from notes.models import Fact
from notes.review.moot import MOOT

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

_IN_WORDS_UP_TO = timedelta(days=60)


def format_ago(at: datetime, now: datetime) -> str:
    """ "3 hours ago"; in words up to two months, then the date."""
    passed = abs(now - at)
    if passed < timedelta(seconds=45):
        return gettext("just now")
    if passed > _IN_WORDS_UP_TO:
        return format_day(at, now)
    said = gettext("%(amount)s ago") if at < now else gettext("in %(amount)s")
    return said % {"amount": format_amount(passed)}


# (seconds from which on it is used, its seconds, its name)
_UNITS = (
    (2 * 604800, 604800, ngettext_lazy("%(count)s week", "%(count)s weeks", "count")),
    (86400, 86400, ngettext_lazy("%(count)s day", "%(count)s days", "count")),
    (3600, 3600, ngettext_lazy("%(count)s hour", "%(count)s hours", "count")),
)
_MINUTES = ngettext_lazy("%(count)s minute", "%(count)s minutes", "count")


def format_amount(passed: timedelta) -> str:
    """ "3 hours", "5 days", "2 weeks"."""
    seconds = passed.total_seconds()
    for least, unit, name in _UNITS:
        if seconds >= least:
            return name % {"count": nouns.GroupedCount(seconds // unit)}
    return _MINUTES % {"count": nouns.GroupedCount(max(1, round(seconds / 60)))}


def format_duration(took: timedelta) -> str:
    """ "12 s", "5 min", "2 h 10 min"."""
    seconds = max(0, round(took.total_seconds()))
    if seconds < 90:
        return gettext("%(seconds)s s") % {"seconds": seconds}
    hours, minutes = divmod(round(seconds / 60), 60)
    passed = {"hours": hours, "minutes": minutes}
    if hours:
        return gettext("%(hours)s h %(minutes)s min") % passed
    return gettext("%(minutes)s min") % passed


# What stands between spaces. Chinese and Japanese put none between words, and may be cut anywhere.
_WORD_LETTER = r"[^\W\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
_BROKEN_WORD = re.compile(rf"{_WORD_LETTER}(?:['’-]|{_WORD_LETTER})*$")
# Left out before the dots of a text that is cut: there would be four.
_STOPS = " .,;:，。；：、\n\t"


def shorten_text(text: str, most: int = 90) -> str:
    """At most so many characters, cut where a word ends, unless that would leave less than half."""
    if len(text) <= most:
        return text
    cut = text[: most - 1]
    goes_on = re.match(rf"['’-]?{_WORD_LETTER}", text[most - 1 :])
    if goes_on and (broken := _BROKEN_WORD.search(cut)) and broken.start() > most // 2:
        cut = cut[: broken.start()]
    return f"{cut.rstrip(_STOPS)}…"


def join_list(parts: Iterable[str]) -> str:
    """ "one, another"."""
    return pgettext("between the parts of a list", ", ").join(parts)


def join_phrases(parts: Iterable[str]) -> str:
    """ "one thing; another one"."""
    return pgettext("between parts of a sentence", "; ").join(parts)


def format_for_history(words: StrOrPromise) -> str:
    """As the history keeps them: not in the language of who acts."""
    with use_stored_language():
        return str(words)


_KIND_NOUNS = {
    "chain": _("conversation"),
    "clause": _("clause"),
    "coreblock": _("block"),
    "entity": _("entity"),
    "episode": _("episode"),
    "fact": _("fact"),
    "goldenquestion": _("test question"),
    "link": _("link"),
    "note": _("note"),
    "page": _("exchange"),
    "profileattribute": _("profile entry"),
    "proposal": _("proposal"),
    "relation": _("relation"),
    "segment": _("topic"),
    "segmentpage": _("place"),
    "session": _("session"),
    "trait": _("trait"),
    "turn": _("turn"),
}


def format_kind(kind: str) -> str:
    """A kind of row as an operator calls it."""
    return gettext(_KIND_NOUNS[kind]) if kind in _KIND_NOUNS else kind


def format_kind_count(kind: str, count: int) -> str:
    """ "2 facts": so many rows of a kind that the history keeps."""
    return nouns.counted(_KIND_NOUNS[kind], count)


# Who acted, where it was nobody but the hub.
_HUB_NAMES = {
    "pipeline": _("the hub"),
    "the hub": _("the hub"),
    "an admin": _("an admin"),
    "the person themselves": _("the person themselves"),
    MOOT: _("the hub: nothing left to decide"),
    "policy: erase.on_request": _("the policy, as the person asked"),
    "policy: retention.max_age": _("the policy, which limits how long the past is kept"),
    "policy: retention.turn_days": _("the policy, which limits how long messages are kept"),
}


def format_actor(actor: str) -> str:
    """Who did it, as an operator calls them; a person's or a key's name as it is."""
    return gettext(_HUB_NAMES[actor]) if actor in _HUB_NAMES else actor


def format_person(name: str) -> str:
    """Who spoke or whom something is about: a name as it is, and what stands for one that is not
    known in the reader's language."""
    return gettext("the user") if name in PLACEHOLDERS else name


# What engines say of a claim, and of whom or what it speaks: codes that pages show as words.
CODE_WORDS = frozenset((
    "attribute", "concept", "date", "denied", "document", "ended", "event", "exchange", "high",
    "holds", "low", "medium", "one-sided", "organisation", "person", "plan", "planned",
    "preference", "recommendation", "state",
))  # fmt: skip


# Labels of choices that models give no other than their names.
CHOICE_LABELS = frozenset((
    "User", "Assistant", "System", "Tool", "Support", "Context", "Contradiction", "Withdrawn",
    "Exchange", "One-sided", "Document", "Turn", "Fact", "Note", "Page", "Segment", "Episode",
    "Entity", "Relation",
))  # fmt: skip


def format_code(name: str) -> str:
    """A code of an engine's as a word; another one as it is."""
    if name == "place":
        return pgettext("on a map", "place")
    if name == "object":
        return pgettext("a thing", "object")
    words = name.replace("_", " ")
    return gettext(words) if words in CODE_WORDS else words


# What a member may do, within a sentence.
ROLE_WORDS = {
    "viewer": gettext_lazy("viewer"),
    "editor": gettext_lazy("editor"),
    "admin": gettext_lazy("admin"),
}
_ERASE_TARGET_WORDS = {
    "subject": _("everything about a person"),
    "session": _("a conversation"),
    "facts": _("memories"),
    "turns": _("messages"),
}


def format_erase_target(kind: str) -> str:
    """What a person asked to erase."""
    return gettext(_ERASE_TARGET_WORDS[kind]) if kind in _ERASE_TARGET_WORDS else kind


_ERASED_KIND_WORDS = {
    "answers": _("Kept answers"),
    "blocks": _("Blocks"),
    "chain": _("Chains"),
    "clause": _("Turns that lose one clause and keep the rest"),
    "coreblock": _("Core blocks"),
    "derivation": _("Derivations"),
    "entities": _("Entities"),
    "entity": _("Entities"),
    "episode": _("Episodes"),
    "fact": _("Facts"),
    "feedback": _("Feedback"),
    "fingerprints": _("Recall marks"),
    "goldenquestion": _("Test questions"),
    "index_entries": _("Index entries"),
    "jobs": _("Jobs"),
    "link": _("Links"),
    "loosened": _("Kept, because other sources support them"),
    "memberships": _("Places in a topic"),
    "model_calls": _("Model calls"),
    "note": _("Notes"),
    "page": _("Pages"),
    "profile": _("Attributes of the profile"),
    "profileattribute": _("Attributes of the profile"),
    "proposal": _("Proposals"),
    "rederived": _("Derived again from what remains"),
    "relation": _("Relations"),
    "reopened": _("True again: nothing contradicts them any more"),
    "revision": _("Revisions"),
    "segment": _("Topics"),
    "segmentpage": _("Places in a topic"),
    "session": _("Sessions"),
    "space": _("Spaces"),
    "trait": _("Traits"),
    "turn": _("Turns"),
    "wishes": _("Of these, requests to forget that repeated it"),
    "withheld": _("Left out until rewritten"),
}


def format_erased_kind(kind: str) -> str:
    """What a count of a dry run or of a receipt counts. Older receipts have kinds of rows in both
    numbers."""
    words = _ERASED_KIND_WORDS.get(kind) or _ERASED_KIND_WORDS.get(kind.removesuffix("s"))
    if words:
        return gettext(words)
    several = (kind if kind.endswith("s") else f"{kind}s").replace("_", " ")
    return several[:1].upper() + several[1:]


def format_day(at: datetime, now: datetime) -> str:
    """ "12 May", with the year when it is not this one. `at` and `now` in the reader's zone."""
    return written(at, gettext("j M") if at.year == now.year else gettext("j M Y"))


def format_exact_time(at: datetime) -> str:
    return written(at, gettext("D j M Y, H:i:s T"))


def describe_validity(fact: Fact, successor: Fact | None, now: datetime, zone: tzinfo) -> str:
    """When the claim held, as a sentence without its full stop. `successor`: what took its place;
    of one that is not held any more, the version that reworded it."""

    def on(at: datetime) -> str:
        return format_day(at.astimezone(zone), now.astimezone(zone))

    if fact.status == Fact.Status.RETRACTED:
        return _describe_retraction(fact, on)
    if fact.retired_at:
        return _describe_retirement(successor) % {"day": on(fact.retired_at)}
    if fact.valid_to and fact.valid_to <= now:
        return _describe_ended(on(fact.valid_to), successor)
    return _describe_current(fact, now, on)


def _describe_retraction(fact: Fact, on: Callable[[datetime], str]) -> str:
    at = fact.retired_at or fact.valid_to
    if at is None:
        return gettext("Marked as false: it was never true")
    return gettext("Marked as false on %(day)s: it was never true") % {"day": on(at)}


def _describe_retirement(successor: Fact | None) -> str:
    if successor is None:
        return gettext("Hidden on %(day)s: no search finds it any more")
    if successor.corrected_by:
        return gettext("Reworded on %(day)s: a person corrected it")
    return gettext("Reworded on %(day)s: replaced by a more detailed version")


def _describe_ended(until: str, successor: Fact | None) -> str:
    if successor is None:
        return gettext("Believed until %(day)s") % {"day": until}
    message = gettext("Believed until %(day)s, then replaced by “%(text)s”")
    return message % {"day": until, "text": successor.text}


# By polarity: what has begun, and what is still to come. A denial says so in its own words, as does
# what tells of an end ("They broke up"): that it had ended would read as if they were together.
_BELIEVED_SENTENCES = (_("Believed since %(day)s"), _("Will be true from %(day)s"))
_BEGIN_SENTENCES = {
    "ended": (_("True since %(day)s"), _("Will be true from %(day)s")),
    "planned": (_("Planned since %(day)s"), _("Planned for %(day)s")),
}

# What was planned for a day, before and after it: whether it came to pass was not told.
_PLAN_SENTENCES = (_("Planned for %(day)s"), _("Was planned for %(day)s"))


def _describe_current(fact: Fact, now: datetime, on: Callable[[datetime], str]) -> str:
    if fact.polarity == "planned" and fact.event_to:
        told = _PLAN_SENTENCES[is_plan_over(fact, now)]
        return gettext(told) % {"day": _format_planned_days(fact, on)}
    begins = _BEGIN_SENTENCES.get(fact.polarity, _BELIEVED_SENTENCES)[fact.valid_from > now]
    start = gettext(begins) % {"day": on(fact.valid_from)}
    if not fact.valid_to:
        return start
    return gettext("%(start)s, until %(day)s") % {"start": start, "day": on(fact.valid_to)}


def _format_planned_days(fact: Fact, on: Callable[[datetime], str]) -> str:
    """ "3 May", or "1 May to 31 May" where no closer day was said. `event_to` is exclusive."""
    last = (fact.event_to or fact.valid_from) - timedelta(microseconds=1)
    start, end = on(fact.event_from or last), on(last)
    return start if start == end else gettext("%(start)s to %(end)s") % {"start": start, "end": end}


_STEP_SENTENCES = {
    "": _("Sent a message"),
    "send_message": _("Sent a message"),
    "core_append": _("Added to the block “%(label)s”"),
    "core_replace": _("Edited the block “%(label)s”"),
    "core_insert": _("Inserted a line in the block “%(label)s”"),
    "core_rethink": _("Rewrote the block “%(label)s”"),
    "recall_search": _("Searched the conversation for “%(query)s”"),
    "recall_search_dates": _("Read the messages from %(start)s to %(end)s"),
    "archival_insert": _("Kept in archival memory"),
    "archival_search": _("Searched archival memory for “%(query)s”"),
    "pause_heartbeats": _("Pauses for %(minutes)s minutes"),
    "wake_later": _("Set a wake-up in %(minutes)s minutes"),
}


def describe_step(tool: str, arguments: Mapping[str, Any] | str) -> str:
    """What an agent did in a step, in words. Arguments as sent say nothing that is sure."""
    if tool not in _STEP_SENTENCES or isinstance(arguments, str):
        return gettext("Tried to use “%(tool)s”") % {"tool": tool[:40]}
    named = {name: str(value)[:80] for name, value in arguments.items()}
    said = gettext(_STEP_SENTENCES[tool]) % defaultdict(lambda: "…", named)
    if named.get("page", "1") == "1":
        return said
    return gettext("%(said)s, page %(page)s") % {"said": said, "page": named["page"]}


# What reading made of a claim, by its operation.
DECISION_WORDS = {
    "add": gettext_lazy("Remembered"),
    "same": gettext_lazy("Already known"),
    "supersede": gettext_lazy("Replacement of an older memory"),
    "history": gettext_lazy("True earlier"),
    "correct": gettext_lazy("Correction of a memory"),
    "end": gettext_lazy("No longer true"),
    "review": gettext_lazy("Left for review"),
    "augment": gettext_lazy("Already known, details added"),
    "retract": gettext_lazy("Was never true"),
    "close": gettext_lazy("Ended"),
    "overwrite": gettext_lazy("Would change something a person set"),
    "quarantine": gettext_lazy("Quarantined"),
    "forget": gettext_lazy("A request to forget"),
}
NODE_KINDS: Mapping[str, StrOrPromise] = {
    "note": gettext_lazy("Notes"),
    "fact": gettext_lazy("Facts"),
    "entity": gettext_lazy("Entities"),
    "segment": gettext_lazy("Topics"),
    "episode": gettext_lazy("Episodes"),
}
# Every kind of link with what it says, in words.
LINK_KINDS: Mapping[str, tuple[StrOrPromise, StrOrPromise]] = {
    "link": (gettext_lazy("Linked notes"), gettext_lazy("is linked to")),
    "supersedes": (gettext_lazy("Replaced facts"), gettext_lazy("replaces")),
    "relation": (gettext_lazy("Relations"), gettext_lazy("is related to")),
    "mentions": (gettext_lazy("Mentions"), gettext_lazy("mentions")),
    "support": (gettext_lazy("Same source"), gettext_lazy("has the same source as")),
    "about": (gettext_lazy("Topic"), gettext_lazy("belongs to")),
}
