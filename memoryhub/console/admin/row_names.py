"""What a row is called where a person reads it. A row's `str` is for logs, in English."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.db.models import Model
from django.utils.text import capfirst

from memoryhub.console.frame.text.nouns import counted
from memoryhub.console.frame.text.reasons import translate_reason
from memoryhub.console.frame.text.trait_levels import describe_key_level
from memoryhub.console.frame.text.wording import format_erase_target, format_kind
from memoryhub.golden.models import ReplayRun
from memoryhub.importers.models import ImportFile
from memoryhub.inference.models import ModelCall
from memoryhub.pipeline.models import Job, QualityReading, SealedErasure, SpaceMap
from memoryhub.tenants.models import Membership, PersonLink
from notes.models import (
    Chain,
    Derivation,
    EvolutionEvent,
    Link,
    Proposal,
    Receipt,
    ReviewRule,
    Revision,
    SegmentPage,
)
from notes.quality.signals import find_signal
from personas.models import BlockAttachment, BlockVersion, Trait, Window


def _name_kind(row: Any) -> str:
    """Of a row that joins others and says nothing itself."""
    return str(capfirst(row._meta.verbose_name))


def _name_event(row: Any) -> str:
    kind = row.get_kind_display()
    return f"{kind}: {translate_reason(row.reason)}" if row.reason else kind


def _name_signal(row: Any) -> str:
    signal = find_signal(row.signal)
    return str(signal.label) if signal else _name_kind(row)


_NAMES: Mapping[type[Model], Callable[[Any], str]] = {
    BlockAttachment: _name_kind,
    BlockVersion: lambda row: f"{_name_kind(row)} {row.version}",
    Chain: lambda row: row.summary or counted("exchange", row.page_count),
    Derivation: lambda row: format_kind(row.child_type),
    EvolutionEvent: _name_event,
    ImportFile: _name_kind,
    Job: lambda row: row.get_step_display(),
    Link: lambda row: row.reason or _name_kind(row),
    Membership: lambda row: f"{row.user}: {row.get_role_display()}",
    ModelCall: lambda row: f"{_name_kind(row)}: {row.model}",
    PersonLink: lambda row: row.note or _name_kind(row),
    Proposal: lambda row: row.get_kind_display(),
    QualityReading: _name_signal,
    Receipt: lambda row: capfirst(format_erase_target(row.target)),
    ReplayRun: lambda row: f"{_name_kind(row)}: {counted('question', len(row.questions))}",
    ReviewRule: lambda row: f"{row.get_answer_display()}: {row.get_kind_display()}",
    Revision: lambda row: f"{capfirst(format_kind(row.row_type))} {row.version_after}",
    SealedErasure: _name_kind,
    SegmentPage: _name_kind,
    SpaceMap: lambda row: counted("memory", len(row.points)),
    Trait: lambda row: describe_key_level(row.key, row.level),
    Window: _name_kind,
}


def name_row(row: Any) -> str:
    """In the reader's language."""
    say = _NAMES.get(type(row), str)
    return str(say(row))
