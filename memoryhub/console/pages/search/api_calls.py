"""The same question as a call of the API: for a shell, for Python, for JavaScript. Pure.

The key is named and never written: each reads MEMORYHUB_KEY from its environment.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class CodeExample:
    """A way to ask: its `name`, and the `text` to copy."""

    name: str
    text: str


def build_code_examples(base: str, form: str, body: Mapping[str, Any]) -> list[CodeExample]:
    """`form` is "search" or "context", `body` what the API takes for it, `base` the hub's own
    address without a stroke at its end."""
    return [
        CodeExample("curl", _render_curl_example(f"{base}/api/v1/{form}", body)),
        CodeExample("Python", _render_python_example(base, form, body)),
        CodeExample("JavaScript", _render_javascript_example(f"{base}/api/v1/{form}", form, body)),
    ]


def _render_curl_example(address: str, body: Mapping[str, Any]) -> str:
    sent = shlex.quote(json.dumps(body, ensure_ascii=False))
    return (
        f"curl -s {shlex.quote(address)} \\\n"
        '  -H "Authorization: Bearer $MEMORYHUB_KEY" -H "Content-Type: application/json" \\\n'
        f"  --data-raw {sent}\n"
    )


def _render_python_example(base: str, form: str, body: Mapping[str, Any]) -> str:
    first = ("subject", "query")
    given = [repr(body[name]) for name in first]
    given += [f"{name}={value!r}" for name, value in body.items() if name not in first]
    lines = "".join(f"        {each},\n" for each in given)
    told = (
        "    for item in found.items:\n        print(item.text)\n"
        if form == "search"
        else "    print(found.text)\n"
    )
    return (
        "import os\n\n"
        "from memoryhub_client import MemoryHub\n\n"
        f'with MemoryHub({base!r}, os.environ["MEMORYHUB_KEY"]) as hub:\n'
        f"    found = hub.{form}(\n{lines}    )\n{told}"
    )


def _render_javascript_example(address: str, form: str, body: Mapping[str, Any]) -> str:
    sent = json.dumps(body, ensure_ascii=False, indent=2).replace("\n", "\n  ")
    told = (
        "for (const item of found.items) console.log(item.text);\n"
        if form == "search"
        else "console.log(found.text);\n"
    )
    return (
        f"const answer = await fetch({json.dumps(address)}, {{\n"
        '  method: "POST",\n'
        "  headers: {\n"
        "    Authorization: `Bearer ${process.env.MEMORYHUB_KEY}`,\n"
        '    "Content-Type": "application/json",\n'
        "  },\n"
        f"  body: JSON.stringify({sent}),\n"
        "});\n"
        "if (!answer.ok) throw new Error(await answer.text());\n"
        f"const found = await answer.json();\n{told}"
    )
