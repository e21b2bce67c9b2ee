"""Writes the client's rows, `memoryhub_client/rows/models.py`, from the hub's OpenAPI description.

python clients/python/generate_rows.py tests/api/openapi.json
"""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Schema = dict[str, Any]
MODELS = Path(__file__).parent / "src/memoryhub_client/rows/models.py"
_TYPES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}
# What the client adds to rows: see `rows/base.py`.
_BASES = {"Job": "JobRow", "JobProgress": "JobRow"}
_HEADER = '''"""Rows of the hub: made by `generate_rows.py` from its OpenAPI description."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from memoryhub_client.rows.base import JobRow, Row
'''


def generate_rows(description: Schema) -> str:
    """The module's text. A page of a list is no row: the client reads pages by itself."""
    shapes = description["components"]["schemas"]
    names = sorted(name for name in _find_answers(description) if not _is_page(shapes[name]))
    choices = [
        f"{name} = Literal{json.dumps(shapes[name]['enum'])}"
        for name in names
        if "enum" in shapes[name]
    ]
    rows = [_format_row(name, shapes[name]) for name in names if "properties" in shapes[name]]
    return "\n".join([_HEADER, *choices]) + "\n" + "".join(rows)


def _find_answers(description: Schema) -> set[str]:
    """The names of the components that answers are made of."""
    shapes, found = description["components"]["schemas"], set[str]()
    left = [
        operation["responses"][status]
        for path in description["paths"].values()
        for operation in path.values()
        for status in operation["responses"]
        if status.startswith("2")
    ]
    while left:
        new = {name for name in _find_references(left.pop()) if name not in found}
        found |= new
        left += [shapes[name] for name in new]
    return found


def _find_references(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        if isinstance(schema.get("$ref"), str):
            yield _get_name(schema)
        schema = [each for key, each in schema.items() if key not in ("example", "examples")]
    if isinstance(schema, list):
        for each in schema:
            yield from _find_references(each)


def _get_name(schema: Schema) -> str:
    return str(schema["$ref"]).rpartition("/")[2]


def _is_page(shape: Schema) -> bool:
    return {"items", "total", "next"} == set(shape.get("properties", ()))


def _format_row(name: str, shape: Schema) -> str:
    lines = [f"\n\nclass {name}({_BASES.get(name, 'Row')}):"]
    if about := shape.get("description"):
        lines += [
            *textwrap.wrap(f'"""{about}"""', 96, initial_indent="    ", subsequent_indent="    "),
            "",
        ]
    lines += [f"    {key}: {_format_type(each)}" for key, each in shape["properties"].items()]
    return "\n".join(lines) + "\n"


def _format_type(schema: Schema) -> str:
    """Ids and days stay text. What may be of several types is as JSON has it."""
    if "$ref" in schema:
        return _get_name(schema)
    if "anyOf" in schema:
        others = [each for each in schema["anyOf"] if each.get("type") != "null"]
        if len(others) > 1:
            return "Any"
        return f"{_format_type(others[0])} | None"
    if "prefixItems" in schema:
        return f"list[{_format_type(schema['prefixItems'][0])}]"
    kind = schema.get("type")
    if kind == "array":
        return f"list[{_format_type(schema.get('items', {}))}]"
    if kind == "object":
        inner = schema.get("additionalProperties", True)
        return f"dict[str, {_format_type(inner) if isinstance(inner, dict) else 'Any'}]"
    if kind == "string" and schema.get("format") == "date-time":
        return "datetime"
    return _TYPES.get(str(kind), "Any")


if __name__ == "__main__":
    description, *written = map(Path, sys.argv[1:])
    rows = generate_rows(json.loads(description.read_text(encoding="utf-8")))
    (written or [MODELS])[0].write_text(rows, encoding="utf-8")
