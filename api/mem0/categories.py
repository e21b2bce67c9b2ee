"""What mem0 calls a memory's categories, told by its predicate. Pure.

mem0 has a model choose among fifteen; these are the ones a predicate makes certain.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

PREDICATES_BY_CATEGORY: Mapping[str, tuple[str, ...]] = {
    "personal_details": ("lives_in", "address", "age", "marital_status", "speaks"),
    "professional_details": ("works_as", "works_at"),
    "user_preferences": ("likes",),
    "food": ("eats", "drinks"),
    "health": ("allergic_to", "smokes"),
    "hobbies": ("plays", "rides"),
    "milestones": ("married",),
}
CATEGORY_BY_PREFIX: Mapping[str, str] = {
    "favourite_": "user_preferences",
    "scheduled_": "milestones",
}


def list_categories(predicate: str, metadata: Mapping[str, Any]) -> list[str]:
    """What its predicate tells; else what it had where it was imported from."""
    brought = metadata.get("imported_from")
    told = brought.get("categories") if isinstance(brought, dict) else None
    named = told if isinstance(told, list) else [told]
    kept = [each for each in named if isinstance(each, str)]
    return find_categories(predicate) or kept


def find_categories(predicate: str) -> list[str]:
    """At most one, for now."""
    found = [name for name, keys in PREDICATES_BY_CATEGORY.items() if predicate in keys]
    return found or [
        name for prefix, name in CATEGORY_BY_PREFIX.items() if predicate.startswith(prefix)
    ]
