"""What fits into a budget of tokens. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from uuid import UUID

from django.utils.translation import gettext

from memoryhub.errors import InvalidInput
from memoryhub.recall.render.prompt import format_memory_line
from memoryhub.recall.render.results import MemoryItem

LEAST_TOKENS, MOST_TOKENS = 100, 1_000_000
NEWEST_FIRST_SECTIONS = ("stm", "window")
_SECTION_OF_KIND = {
    "fact": "facts", "note": "notes", "episode": "episodes", "page": "pages", "turn": "raw",
}  # fmt: skip
# How little it matters to be found first rather than fourth, beside what a memory costs.
_PLACE_OFFSET = 3
ItemsBySection = dict[str, list[MemoryItem]]


# What may be filled before the findings, each at most this share of the budget: findings would
# else push out what nobody asked for but the model can't do without. Of core those first that an
# agent wrote itself: the profile and traits have an owner. From a turn that is not read nothing is
# derived, so nothing else can tell it (E11).
_RESERVED_SHARES: Sequence[tuple[str, Callable[[MemoryItem], bool], float]] = (
    ("core", lambda item: not item.owner, 0.25),
    ("window", lambda item: True, 0.5),
    ("episodes", lambda item: True, 0.25),
    ("stm", lambda item: item.unread, 0.25),
    ("core", lambda item: True, 0.1),
    ("shelf", lambda item: True, 0.05),
    ("stm", lambda item: True, 0.1),
)
CountTokens = Callable[[Sequence[str]], Sequence[int]]


def check_token_budget(budget_tokens: int | None) -> None:
    """Raises InvalidInput."""
    if budget_tokens is not None and not LEAST_TOKENS <= budget_tokens <= MOST_TOKENS:
        raise InvalidInput(
            gettext("from %(least)s to %(most)s") % {"least": LEAST_TOKENS, "most": MOST_TOKENS},
            field="budget_tokens",
        )


def fit_token_budget(
    items: Sequence[MemoryItem], budget: int | None, count: CountTokens
) -> tuple[list[MemoryItem], int | None]:
    """(the best items whose texts fit together, their tokens). What is too long is passed over."""
    if budget is None:
        return list(items), None
    kept, used = [], 0
    for item, size in zip(items, count([item.text for item in items]), strict=True):
        if used + size <= budget:
            kept.append(item)
            used += size
    return kept, used


@dataclass(frozen=True, slots=True)
class PackedContext:
    """`parts`: what fits, by section. `told`: what is not there because another memory that is
    says it, with that one. `left_out`: what there was no room for."""

    parts: ItemsBySection
    duplicates: Sequence[tuple[MemoryItem, MemoryItem]]
    left_out: Sequence[MemoryItem]


def pack_context(
    always: ItemsBySection,
    found: Sequence[MemoryItem],
    budget: int,
    count: CountTokens,
    *,
    heading: int = 4,
    line: Callable[[MemoryItem], str] = format_memory_line,
    whole: bool = False,
) -> PackedContext:
    """As much as fits: what is `always` there up to its share; what was `found`, best first, by
    its worth for a token; the exchanges that found turns stand in; the rest of the former.

    Of the latest turns the newest are kept, of everything else the first; the newest that is not
    read yet, or of a window, may take half of what is left. What is always there and was found as
    well stays in its section and has the worth of a finding. `whole`: found in the order of time,
    of which the newest run is kept (BL1). `heading`: tokens of a section's heading, paid by the
    first of its items that is kept.
    """
    sizes = _count_line_tokens(always, found, count, line)
    bag = _ContextPacker(always, found, budget, sizes, heading)
    for name, is_so, share in _RESERVED_SHARES:
        bag.add_fitting(filter(is_so, _sort_section(name, always)), int(share * budget))
    if whole:
        bag.add_run(list(reversed(found)))
    else:
        worthy = _sort_by_worth(found, bag.sizes)
        bag.add_fitting(item for item in worthy if not bag.has_sources_of(item))
        bag.add_fitting(worthy)
        bag.widen_to_pages()
    for name in dict.fromkeys(name for name, _, _ in _RESERVED_SHARES):
        bag.add_fitting(_sort_section(name, always))
    return bag.to_packed_context()


def _count_line_tokens(
    always: ItemsBySection,
    found: Sequence[MemoryItem],
    count: CountTokens,
    line: Callable[[MemoryItem], str],
) -> dict[UUID, int]:
    """Tokens of each line, its break included. What is there and was found is the finding."""
    items = {item.id: item for items in (*always.values(), found) for item in items}
    sizes = count([line(item) for item in items.values()])
    return {at: size + 1 for at, size in zip(items, sizes, strict=True)}


def _sort_section(name: str, always: ItemsBySection) -> list[MemoryItem]:
    """A section in the order to try it."""
    items = always.get(name, [])
    return items[::-1] if name in NEWEST_FIRST_SECTIONS else items


def _sort_by_worth(found: Sequence[MemoryItem], sizes: Mapping[UUID, int]) -> list[MemoryItem]:
    """What a finding is worth falls with its place; what it costs counts by its root, since a
    longer memory says more too (docs/explanation/recall.md)."""
    worth = {
        item.id: 1 / ((_PLACE_OFFSET + place) * sqrt(sizes[item.id]))
        for place, item in enumerate(found, 1)
    }
    return sorted(found, key=lambda item: -worth[item.id])


class _ContextPacker:
    """What is kept so far, and whose words are there already."""

    def __init__(
        self,
        always: ItemsBySection,
        found: Sequence[MemoryItem],
        budget: int,
        sizes: Mapping[UUID, int],
        heading: int,
    ) -> None:
        self.sizes, self._heading, self._left = sizes, heading, budget
        self._items = {item.id: item for items in (*always.values(), found) for item in items}
        # What was said stays in its order, also where it was found.
        spoken = {item.id for name in NEWEST_FIRST_SECTIONS for item in always.get(name, ())}
        alone = [item for item in found if item.id not in spoken]
        self._section = {item.id: _SECTION_OF_KIND.get(item.kind, "core") for item in alone}
        self._section |= {item.id: name for name, items in always.items() for item in items}
        self._wider = _map_to_wider_summaries(self._items.values())
        self._kept = dict[UUID, MemoryItem]()
        self._told = dict[UUID, MemoryItem]()
        self._headed = set[str]()
        self._said = dict[UUID, MemoryItem]()

    def add_fitting(self, items: Iterable[MemoryItem], most: int | None = None) -> None:
        """Each that fits; what is too long is passed over."""
        room = self._left if most is None else min(self._left, most)
        for item in items:
            room -= self._add_if_fits(self._items[item.id], room)

    def add_run(self, items: Iterable[MemoryItem]) -> None:
        """Each until one does not fit: nothing is left out in between."""
        for item in items:
            if not self._add_if_fits(item, self._left) and item.id not in self._kept:
                return

    def has_sources_of(self, fact: MemoryItem) -> bool:
        """Of a fact: every turn it was read from is there by now. It is no loss to wait."""
        own = [source.turn_id for source in fact.sources]
        return fact.kind == "fact" and bool(own) and self._said.keys() >= set(own)

    def widen_to_pages(self) -> None:
        """Where there is room yet, exchanges in place of their turns and notes that were found."""
        for page in [self._items[at] for at in self._told if self._items[at].kind == "page"]:
            tellers = {t.id for t in map(self._said.get, _list_turns_of(page)) if t}
            said = [at for at in tellers if self._section[at] in ("raw", "notes")]
            heading = 0 if "pages" in self._headed else self._heading
            more = self.sizes[page.id] + heading - sum(self.sizes[at] for at in said)
            if len(said) == len(tellers) and more <= self._left:
                for at in said:
                    del self._kept[at]
                    self._told[at] = page
                self._add_item(page, more)

    def _add_if_fits(self, item: MemoryItem, room: int) -> int:
        """The tokens it takes; 0 where it stays outside, or is there."""
        if item.id in self._kept or self._is_duplicate(item):
            return 0
        if wider := self._wider.get(item.id):
            taken = self._add_if_fits(wider, room)
            if wider.id in self._kept:
                self._told.setdefault(item.id, wider)
                return taken
        name = self._section[item.id]
        headed = name in self._headed
        size = self.sizes[item.id] + (0 if headed else self._heading)
        last_word = self._is_newest_turn(item) and size <= self._left // 2
        if size > room and not last_word:
            return 0
        self._add_item(item, size)
        return size

    def _is_newest_turn(self, item: MemoryItem) -> bool:
        """The newest of what is said in this conversation, or of what is not read yet."""
        name = self._section[item.id]
        return name not in self._headed and (name == "window" or (name == "stm" and item.unread))

    def _add_item(self, item: MemoryItem, size: int) -> None:
        self._kept[item.id] = item
        self._headed.add(self._section[item.id])
        self._left -= size
        self._said |= dict.fromkeys(_list_turns_of(item), item)

    def _is_duplicate(self, item: MemoryItem) -> bool:
        """Its words are there: of a turn all, of a note or a page half of them.

        A fact is no teller: it says less than the turn it was read from, which is its evidence.
        """
        own = _list_turns_of(item)
        tellers = [self._said[turn] for turn in own if turn in self._said]
        if not tellers or 2 * len(tellers) < len(own):
            return False
        self._told.setdefault(item.id, tellers[0])
        return True

    def to_packed_context(self) -> PackedContext:
        parts: ItemsBySection = {}
        for at in self._section:
            if at in self._kept:
                parts.setdefault(self._section[at], []).append(self._kept[at])
        told = [(self._items[at], of) for at, of in self._told.items() if at not in self._kept]
        gone = self._kept.keys() | self._told.keys()
        left_out = [item for at, item in self._items.items() if at not in gone]
        return PackedContext(parts, told, left_out)


def _map_to_wider_summaries(items: Iterable[MemoryItem]) -> dict[UUID, MemoryItem]:
    """By summary, the longest other one that says all of it, as that of a day with one topic."""
    widest = sorted((i for i in items if i.kind == "episode"), key=lambda item: -len(item.text))
    found: dict[UUID, MemoryItem] = {}
    for at, item in enumerate(widest):
        if wider := next((each for each in widest[:at] if item.text in each.text), None):
            found[item.id] = found.get(wider.id, wider)
    return found


def _list_turns_of(item: MemoryItem) -> list[UUID]:
    """The turns whose words it holds."""
    if item.kind == "turn":
        return [item.id]
    return [source.turn_id for source in item.sources] if item.kind in ("note", "page") else []
