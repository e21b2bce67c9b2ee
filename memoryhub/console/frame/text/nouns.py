"""What pages count: how many there are, and that a list of them has none, in the reader's
language."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

_COUNT_PHRASES: dict[str, StrOrPromise] = {
    "block": ngettext_lazy("%(count)s block", "%(count)s blocks", "count"),
    "call": ngettext_lazy("%(count)s call", "%(count)s calls", "count"),
    "case": ngettext_lazy("%(count)s case", "%(count)s cases", "count"),
    "change": ngettext_lazy("%(count)s change", "%(count)s changes", "count"),
    "conversation": ngettext_lazy("%(count)s conversation", "%(count)s conversations", "count"),
    "delivery": ngettext_lazy("%(count)s delivery", "%(count)s deliveries", "count"),
    "entity": ngettext_lazy("%(count)s entity", "%(count)s entities", "count"),
    "episode": ngettext_lazy("%(count)s episode", "%(count)s episodes", "count"),
    "exchange": ngettext_lazy("%(count)s exchange", "%(count)s exchanges", "count"),
    "fact": ngettext_lazy("%(count)s fact", "%(count)s facts", "count"),
    "golden question": ngettext_lazy(
        "%(count)s golden question", "%(count)s golden questions", "count"
    ),
    "import": ngettext_lazy("%(count)s import", "%(count)s imports", "count"),
    "job": ngettext_lazy("%(count)s job", "%(count)s jobs", "count"),
    "link": ngettext_lazy("%(count)s link", "%(count)s links", "count"),
    "memory": ngettext_lazy("%(count)s memory", "%(count)s memories", "count"),
    "note": ngettext_lazy("%(count)s note", "%(count)s notes", "count"),
    "person": ngettext_lazy("%(count)s person", "%(count)s people", "count"),
    "place": ngettext_lazy("%(count)s place", "%(count)s places", "count"),
    "point": ngettext_lazy("%(count)s point", "%(count)s points", "count"),
    "profile entry": ngettext_lazy("%(count)s profile entry", "%(count)s profile entries", "count"),
    "question": ngettext_lazy("%(count)s question", "%(count)s questions", "count"),
    "relation": ngettext_lazy("%(count)s relation", "%(count)s relations", "count"),
    "replay": ngettext_lazy("%(count)s replay", "%(count)s replays", "count"),
    "request": ngettext_lazy("%(count)s request", "%(count)s requests", "count"),
    "rule": ngettext_lazy("%(count)s rule", "%(count)s rules", "count"),
    "run": ngettext_lazy("%(count)s run", "%(count)s runs", "count"),
    "segment": ngettext_lazy("%(count)s segment", "%(count)s segments", "count"),
    "space": ngettext_lazy("%(count)s space", "%(count)s spaces", "count"),
    "subject": ngettext_lazy("%(count)s subject", "%(count)s subjects", "count"),
    "topic": ngettext_lazy("%(count)s topic", "%(count)s topics", "count"),
    "trait": ngettext_lazy("%(count)s trait", "%(count)s traits", "count"),
    "turn": ngettext_lazy("%(count)s turn", "%(count)s turns", "count"),
    "verdict": ngettext_lazy("%(count)s verdict", "%(count)s verdicts", "count"),
    "visit": ngettext_lazy("%(count)s visit", "%(count)s visits", "count"),
    "webhook": ngettext_lazy("%(count)s webhook", "%(count)s webhooks", "count"),
}
_EMPTY_PHRASES: dict[str, StrOrPromise] = {
    "block": _("No block fits these filters."),
    "call": _("No call fits these filters."),
    "case": _("No case fits these filters."),
    "change": _("No change fits these filters."),
    "delivery": _("No delivery fits these filters."),
    "entity": _("No entity fits these filters."),
    "episode": _("No episode fits these filters."),
    "fact": _("No fact fits these filters."),
    "import": _("No import fits these filters."),
    "job": _("No job fits these filters."),
    "link": _("No link fits these filters."),
    "memory": _("No memory fits these filters."),
    "note": _("No note fits these filters."),
    "person": _("No person fits these filters."),
    "point": _("No point fits these filters."),
    "question": _("No question fits these filters."),
    "replay": _("No replay fits these filters."),
    "request": _("No request fits these filters."),
    "rule": _("No rule fits these filters."),
    "run": _("No run fits these filters."),
    "segment": _("No segment fits these filters."),
    "space": _("No space fits these filters."),
    "subject": _("No subject fits these filters."),
    "topic": _("No topic fits these filters."),
    "trait": _("No trait fits these filters."),
    "turn": _("No turn fits these filters."),
    "verdict": _("No verdict fits these filters."),
    "webhook": _("No webhook fits these filters."),
}


class GroupedCount(int):
    """Its number says which plural, its words group the thousands."""

    def __str__(self) -> str:
        return f"{int(self):,}"


def counted(noun: str, count: int) -> str:
    """ "3 spaces", "1,000 spaces". Raises KeyError for a noun that nothing counts."""
    return _COUNT_PHRASES[noun] % {"count": GroupedCount(count)}


def none_of(noun: str) -> StrOrPromise:
    """That filters leave none. Raises KeyError for a noun that no list is of."""
    return _EMPTY_PHRASES[noun]
