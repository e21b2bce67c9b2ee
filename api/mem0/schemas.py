"""A caller's JSON Schema, filled from memories: the name of a property says which it takes. Pure.

No model is asked. A property takes the memories of the predicate it is named after or of one it
commonly stands for (`home_city`: `lives_in`), else those of the category of its name; `memories`
takes all. A single value is the newest one's; what nothing is known of is null, or an empty list.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from api.mem0.categories import find_categories
from memoryhub.errors import InvalidInput

MAX_SCHEMA_CHARACTERS = 32_000
# A schema may refer to itself, and grow without end.
_DEEPEST, MAX_FILLED = 8, 200_000  # levels of objects in each other; properties of all objects
# What properties are commonly called, by predicate.
_NAMES_BY_PREDICATE: Mapping[str, tuple[str, ...]] = {
    "lives_in": ("city", "home", "home_city", "hometown", "location", "residence"),
    "works_as": ("job", "job_title", "occupation", "profession", "role", "current_role"),
    "works_at": ("employer", "company", "workplace", "organization"),
    "marital_status": ("relationship_status",),
    "speaks": ("languages", "language"),
    "allergic_to": ("allergies", "allergy"),
    "likes": ("likes", "preferences", "interests"),
}
_PREDICATE_BY_NAME = {
    name: predicate for predicate, names in _NAMES_BY_PREDICATE.items() for name in names
}
_EVERYTHING = ("memories", "facts")
_WORDS = ("memory", "text", "content", "fact", "description")  # of one memory, in a list of objects


@dataclass(frozen=True, slots=True)
class KnownValue:
    """A memory as a property may take it: what it says, and the value it gives its predicate; ""
    where it gives none of the user."""

    predicate: str
    value: str
    text: str


def read_schema(given: object) -> dict[str, Any]:
    """A JSON Schema of an object, as JSON or as text; {} where it asks for nothing particular.

    Raises InvalidInput.
    """
    if given in (None, ""):
        return {}
    try:
        schema = json.loads(given) if isinstance(given, str) else given
    except ValueError:
        raise InvalidInput("JSON Schema, as an object or as text", field="schema") from None
    if not isinstance(schema, dict):
        raise InvalidInput("JSON Schema of an object", field="schema")
    if len(json.dumps(schema)) > MAX_SCHEMA_CHARACTERS:
        raise InvalidInput(f"at most {MAX_SCHEMA_CHARACTERS} characters", field="schema")
    return schema if isinstance(schema.get("properties"), dict) else {}


def fill_schema(schema: Mapping[str, Any], known: Sequence[KnownValue]) -> dict[str, Any]:
    """An object of the schema's properties. `known`: the newest first.

    Raises InvalidInput for a schema that asks for more than `MAX_FILLED` values.
    """
    return _SchemaFiller(schema, known).fill_object(schema)


def build_plain_profile(known: Sequence[KnownValue]) -> dict[str, Any]:
    """By predicate its value, or its values where there are several, as if a schema had them."""
    found: dict[str, list[str]] = {}
    for each in known:
        if each.predicate and each.value not in found.setdefault(each.predicate, []):
            found[each.predicate].append(each.value)
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}


class _SchemaFiller:
    def __init__(self, root: Mapping[str, Any], known: Sequence[KnownValue]) -> None:
        self._root, self._known, self._filled = root, known, 0
        self._by_predicate: dict[str, list[KnownValue]] = defaultdict(list)
        self._by_category: dict[str, list[KnownValue]] = defaultdict(list)
        for each in known:
            self._by_predicate[each.predicate].append(each)
            for category in find_categories(each.predicate):
                self._by_category[category].append(each)

    def fill_object(
        self,
        schema: Mapping[str, Any],
        level: int = 0,
        one: KnownValue | None = None,
    ) -> dict[str, Any]:
        """`one`: the memory that the object is, in a list of such."""
        properties = schema.get("properties")
        if not isinstance(properties, dict) or level > _DEEPEST:
            return {}
        self._filled += len(properties)
        if self._filled > MAX_FILLED:
            raise InvalidInput(f"more than {MAX_FILLED} values", field="schema")
        filled = {}
        for name, given in properties.items():
            part = self._resolve(given)
            if part.get("type") == "object":
                filled[name] = self.fill_object(part, level + 1, one)
            else:
                found = _take_part(name, one) if one else self._select_known(name)
                filled[name] = self._fill_values(part, found, level)
        return filled

    def _select_known(self, name: str) -> list[tuple[str, KnownValue]]:
        """The memories that a property of this name takes, each with what it gives."""
        key = _normalise_property(name)
        if key in _EVERYTHING:
            return [(each.text, each) for each in self._known]
        predicate = _PREDICATE_BY_NAME.get(key, key)
        of_predicate = [(each.value, each) for each in self._by_predicate.get(predicate, ())]
        return of_predicate or [(each.text, each) for each in self._by_category.get(key, ())]

    def _fill_values(
        self, schema: Mapping[str, Any], found: Sequence[tuple[str, KnownValue]], level: int
    ) -> Any:
        kind = schema.get("type")
        if kind != "array":
            return _find_first([_convert(value, schema) for value, _ in found])
        items = self._resolve(schema.get("items"))
        if items.get("type") == "object":
            return [self.fill_object(items, level + 1, each) for _, each in found]
        values = [_convert(value, items) for value, _ in found]
        return list(dict.fromkeys(value for value in values if value is not None))

    def _resolve(self, given: object) -> Mapping[str, Any]:
        """Behind references and choices the first that is not null; one type of several."""
        schema: Any = given
        for _ in range(_DEEPEST):
            if not isinstance(schema, dict):
                return {}
            if isinstance(schema.get("$ref"), str):
                schema = self._follow(schema["$ref"])
                continue
            choices = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf")
            if not isinstance(choices, list):
                break
            schema = _find_first([each for each in choices if each != {"type": "null"}])
        if not isinstance(schema, dict):
            return {}
        kinds = schema.get("type")
        if isinstance(kinds, list):
            return {**schema, "type": _find_first([each for each in kinds if each != "null"])}
        return schema

    def _follow(self, path: str) -> Any:
        found: Any = self._root
        for part in filter(None, path.removeprefix("#").split("/")):
            found = found.get(part) if isinstance(found, dict) else None
        return found


def _take_part(name: str, one: KnownValue) -> list[tuple[str, KnownValue]]:
    """What one memory gives a property of this name."""
    key = _normalise_property(name)
    if key in _WORDS:
        return [(one.text, one)]
    takes_value = key in ("value", "name") or _PREDICATE_BY_NAME.get(key, key) == one.predicate
    return [(one.value, one)] if takes_value else []


def _normalise_property(name: str) -> str:
    """("favoriteColor") → "favourite_colour"."""
    parts = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    spelt = parts.replace("favorite", "favourite").replace("color", "colour")
    return re.sub(r"\W+", "_", spelt).strip("_")


def _find_first(found: Sequence[Any]) -> Any:
    return next((each for each in found if each is not None), None)


def _convert(value: str, schema: Mapping[str, Any]) -> Any:
    """The value in the schema's type, None where it is none of it."""
    choices = schema.get("enum")
    if isinstance(choices, list):
        same = (each for each in choices if str(each).casefold() == value.casefold())
        return next(same, None)
    match schema.get("type"):
        case "boolean":
            return True
        case "integer":
            return int(value) if re.fullmatch(r"[+-]?[0-9]{1,15}", value.strip()) else None
        case "number":
            found = re.fullmatch(r"[+-]?[0-9]{1,15}(\.[0-9]{1,15})?", value.strip())
            return float(value) if found else None
        case "null":
            return None
    return value
