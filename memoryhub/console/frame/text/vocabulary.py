"""Words of the program that tables hold in English for all who read them (models, documents, the
API), and that pages translate where they show them: gathered with what pages say."""

from __future__ import annotations

from collections.abc import Iterator

from memoryhub.policies.presets import PRESETS
from memoryhub.policies.switches import GROUP_TITLES, SWITCH_FAMILIES, SWITCHES
from memoryhub.recall.services import ALL_KINDS
from personas.dimensions import DIMENSIONS

TRAIT_CONTEXT = "trait"


def list_table_words() -> Iterator[tuple[str, str, str | None]]:
    """(the table's file, words, their context)."""
    yield from (("memoryhub/recall/render/results.py", f"{kind}s", None) for kind in ALL_KINDS)
    yield from (("personas/dimensions.py", each, TRAIT_CONTEXT) for each in _list_trait_words())
    yield from (("memoryhub/policies/presets.py", each, None) for each in _list_preset_words())
    yield from (("memoryhub/policies/schema.py", each, None) for each in _list_switch_words())


def _list_trait_words() -> Iterator[str]:
    for dimension in DIMENSIONS.values():
        yield from (dimension.label, dimension.high, dimension.low)


def _list_preset_words() -> Iterator[str]:
    for preset in PRESETS.values():
        yield from (preset.title, preset.summary)


def _list_switch_words() -> Iterator[str]:
    yield from GROUP_TITLES.values()
    yield from ("default", "preset", "tenant", "space")  # where a value comes from
    yield from ("on", "off", "nothing")
    for switch in SWITCHES.values():
        yield switch.help
        if switch.kind != "choice":  # whose bounds are names
            yield switch.bounds
    for family in SWITCH_FAMILIES.values():
        yield from family
