"""Words of the program that tables hold in English for all who read them (models, documents, the
API), and that pages translate where they show them: gathered with what pages say."""

from __future__ import annotations

from collections.abc import Iterator

from memoryhub.console.frame.text import nouns, wording
from memoryhub.console.frame.text.predicate_words import (
    PREDICATE_CONTEXT,
    list_predicate_words,
)
from memoryhub.console.frame.text.trait_levels import TRAIT_CONTEXT
from memoryhub.policies.presets import PRESETS
from memoryhub.policies.switches import GROUP_TITLES, SWITCH_FAMILIES, SWITCHES
from memoryhub.recall.services import ALL_KINDS
from personas.dimensions import DIMENSIONS


def list_table_words() -> Iterator[tuple[str, str | tuple[str, str], str | None]]:
    """(the table's file, words or what is said of one and of several, their context)."""
    folder = "memoryhub/console/frame/text"
    yield from ((f"{folder}/nouns.py", phrase, None) for phrase in nouns.list_noun_phrases())
    yield from (
        (f"{folder}/wording.py", word, None)
        for word in sorted(wording.CODE_WORDS | wording.CHOICE_LABELS)
    )
    yield from (
        (f"{folder}/predicate_words.py", words, PREDICATE_CONTEXT)
        for words in list_predicate_words()
    )
    yield from (("memoryhub/recall/render/results.py", f"{kind}s", None) for kind in ALL_KINDS)
    for trait in DIMENSIONS.values():
        for words in (trait.label, trait.high, trait.low):
            yield "personas/dimensions.py", words, TRAIT_CONTEXT
    for preset in PRESETS.values():
        yield from (
            ("memoryhub/policies/presets.py", w, None) for w in (preset.title, preset.summary)
        )
    yield from (("memoryhub/policies/schema.py", words, None) for words in _list_switch_words())


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
