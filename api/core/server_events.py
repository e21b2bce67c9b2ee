"""Server-sent events: how an answer that goes on is written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from rest_framework.utils.encoders import JSONEncoder


def format_event(data: Mapping[str, Any], *, name: str = "") -> str:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data, cls=JSONEncoder, ensure_ascii=False)}\n\n"
