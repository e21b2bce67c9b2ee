"""What an app adds to the hub, said once: the `DECLARATION` in its module `memory_app`.

Lower layers read here what layers above them add, so that they import none of them. It is read
when the hub starts and never changes afterwards; the system checks look for gaps in it. What a
lower layer does not know is `Any` here: who reads a declaration says what it expects.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import Any, Literal, Protocol
from uuid import UUID

from django.apps import apps
from django.utils.module_loading import module_has_submodule

MODULE_NAME = "memory_app"


class SpaceSweep(Protocol):
    """A task of each sweep of a space (a Space, its Policy). Called with nothing open, so it opens
    its own scope, and may ask models outside it. Says when it wants the next sweep, None: not
    before something is said. Swept twice, nothing more may change: a sweep that failed half-way
    is run again whole."""

    def __call__(self, space: Any, policy: Any, now: datetime, /) -> datetime | None: ...


# Clears the words of a table that tell of anything said in the space (a Space) since that time.
# Called inside the transaction of an erasure; returns how many answers it cleared.
EraseWords = Callable[[Any, datetime], int]
# Adds rows to what an erasure takes (an ErasureTrace).
TraceErasure = Callable[[Any], None]
# Told what happened to a tenant; the second argument makes the news, for who wants to know.
Listener = Callable[[UUID, Any], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportKind:
    """How a table goes into a file, its rows in `order`.

    `of_space`: the lookup that says whose a row is; "": the tenant's own. `shared`: rows of the
    tenant, of which some may name a space. `keys`: text columns made of ids. `parts`: of the
    file, the space's or the tenant's. `is_last`: behind other apps' rows, which it may name.
    """

    order: tuple[str, ...] = ("id",)
    of_space: str = "space"
    shared: bool = False
    keys: frozenset[str] = frozenset()
    parts: frozenset[Literal["space", "tenant"]] = frozenset({"space"})
    is_last: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """Why a table grows, and what ends its rows by their age.

    `kind`: which of the kinds of rows that people tell apart (console/pages/growth). `at`: the
    column that tells how old a row is, "": none does. `days`: the switch of `retention` that says
    after how many days its rows end, "": none does. `hub_days`: the setting of the hub with the
    days that a tenant can only make fewer, "": none. `only`: the rows that may end (a Q).
    """

    kind: str
    at: str = ""
    days: str = ""
    hub_days: str = ""
    only: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AppDeclaration:
    """All that an app adds to the hub.

    `steps`: classes of `pipeline.jobs.step.Step`. `space_sweeps`: see SpaceSweep. `hub_sweeps`:
    ring for waiting work that is not a space's, with nothing open. `listeners`: called inside the
    transaction in which something happens. `memory_kinds`: rows with a history, as
    `notes.history.row_kinds.RowKind`. `erasure_traces`: rows that go with what is erased.

    By a table's name, of every table of a tenant's that is the app's own:
    `erasable_texts`: for one that holds words and is no memory kind, what clears them, or a
    sentence that says what else does or why the words may stay. `export_kinds`: how it goes into
    a file, or a sentence that says why it does not. `growth`: what ends its rows; memory kinds
    end by erasing alone and need none.
    """

    steps: tuple[type[Any], ...] = ()
    space_sweeps: tuple[SpaceSweep, ...] = ()
    hub_sweeps: tuple[Callable[[], None], ...] = ()
    listeners: tuple[Listener, ...] = ()
    memory_kinds: tuple[Any, ...] = ()
    erasure_traces: tuple[TraceErasure, ...] = ()
    erasable_texts: Mapping[str, EraseWords | str] = field(default_factory=dict)
    export_kinds: Mapping[str, ExportKind | str] = field(default_factory=dict)
    growth: Mapping[str, Growth] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("erasable_texts", "export_kinds", "growth"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))


@cache
def load_declarations() -> Mapping[str, AppDeclaration]:
    """By the label of their app, in the order of the installed apps. Call once models are there."""
    return MappingProxyType(
        {
            app.label: import_module(f"{app.name}.{MODULE_NAME}").DECLARATION
            for app in apps.get_app_configs()
            if app.module is not None and module_has_submodule(app.module, MODULE_NAME)
        }
    )
