"""What fits into a budget of tokens. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from uuid import UUID

from memoryhub.errors import InvalidInput
from memoryhub.recall.prompting import ORDER, line_of
from memoryhub.recall.results import Item

LEAST_TOKENS, MOST_TOKENS = 100, 1_000_000
# What may be filled before the findings, each at most this share of the budget: findings would
# else push out what nobody asked for but the model can't do without.
FIRST = {"core": 0.25, "window": 0.5, "stm": 0.25}
LATEST = ("stm", "window")
Parts = dict[str, list[Item]]
Count = Callable[[Sequence[str]], Sequence[int]]


def check(budget_tokens: int | None) -> None:
    """Raises InvalidInput."""
    if budget_tokens is not None and not LEAST_TOKENS <= budget_tokens <= MOST_TOKENS:
        raise InvalidInput(f"from {LEAST_TOKENS} to {MOST_TOKENS}", field="budget_tokens")


def within(
    items: Sequence[Item], budget: int | None, count: Count
) -> tuple[list[Item], int | None]:
    """(the best items whose texts fit together, their tokens). What is too long is passed over."""
    if budget is None:
        return list(items), None
    kept, used = [], 0
    for item, size in zip(items, count([item.text for item in items]), strict=True):
        if used + size <= budget:
            kept.append(item)
            used += size
    return kept, used


def pack(
    parts: Parts,
    budget: int,
    count: Count,
    *,
    heading: int = 4,
    line: Callable[[Item], str] = line_of,
) -> Parts:
    """As much as fits: core and the latest turns up to their share, findings, then the rest.

    Of the latest turns the newest are kept, of everything else the first; the very latest may
    take half of what there is. `heading`: tokens of a
    section's heading, paid by the first of its items that is kept.
    """
    sizes = _sizes(parts, count, line)
    left, kept, headed = budget, set[tuple[str, UUID]](), set[str]()
    for name, items, most in _by_urgency(parts, budget):
        room = min(left, most)
        for item in items:
            key = (name, item.id)
            size = sizes[key] + (0 if name in headed else heading)
            last_word = name in LATEST and name not in headed and size <= left // 2
            if key not in kept and (size <= room or last_word):
                kept.add(key)
                headed.add(name)
                room, left = room - size, left - size
    return {
        name: [item for item in items if (name, item.id) in kept] for name, items in parts.items()
    }


def _sizes(parts: Parts, count: Count, line: Callable[[Item], str]) -> dict[tuple[str, UUID], int]:
    """Tokens of each line, its break included."""
    keyed = [((name, item.id), line(item)) for name, items in parts.items() for item in items]
    sizes = count([text for _, text in keyed])
    return {key: size + 1 for (key, _), size in zip(keyed, sizes, strict=True)}


def _by_urgency(parts: Parts, budget: int) -> Iterable[tuple[str, Sequence[Item], int]]:
    """(section, items in the order to try them, most tokens)."""
    newest = {name: list(reversed(parts.get(name, ()))) for name in LATEST}
    for name, share in FIRST.items():
        yield name, newest.get(name, parts.get(name, [])), int(share * budget)
    for name in ORDER:
        yield name, newest.get(name, parts.get(name, [])), budget
