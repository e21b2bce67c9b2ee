"""Words of the program that tables hold in English for all who read them (models, documents, the
API), and that pages translate where they show them: gathered with what pages say."""

from __future__ import annotations

from collections.abc import Iterator

from memoryhub.policies.presets import PRESETS
from memoryhub.policies.switches import FAMILIES, GROUPS, SWITCHES
from memoryhub.recall.services import ALL_KINDS
from personas.registry import DIMENSIONS

TRAIT = "trait"


def words() -> Iterator[tuple[str, str, str | None]]:
    """(the table's file, words, their context)."""
    yield from (("memoryhub/recall/results.py", f"{kind}s", None) for kind in ALL_KINDS)
    yield from (("personas/registry.py", each, TRAIT) for each in _traits())
    yield from (("memoryhub/policies/presets.py", each, None) for each in _presets())
    yield from (("memoryhub/policies/schema.py", each, None) for each in _switches())


def _traits() -> Iterator[str]:
    for dimension in DIMENSIONS.values():
        yield from (dimension.label, dimension.high, dimension.low)


def _presets() -> Iterator[str]:
    for preset in PRESETS.values():
        yield from (preset.title, preset.summary)


def _switches() -> Iterator[str]:
    yield from GROUPS.values()
    yield from ("default", "preset", "tenant", "space")  # where a value comes from
    yield from ("on", "off", "nothing")
    for switch in SWITCHES.values():
        yield switch.help
        if switch.kind != "choice":  # whose bounds are names
            yield switch.bounds
    for family in FAMILIES.values():
        yield from family
