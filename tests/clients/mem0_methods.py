"""Run with a released `mem0ai` on the path: its version and the methods of its clients, as JSON."""

from __future__ import annotations

import inspect
import json
from importlib.metadata import version

from mem0 import AsyncMemoryClient, MemoryClient
from mem0.client.project import AsyncProject, Project


def list_methods(kind: type) -> list[str]:
    found = inspect.getmembers(kind, inspect.isfunction)
    return [name for name, _ in found if not name.startswith("_")]


told = {
    "version": version("mem0ai"),
    "sync": [*list_methods(MemoryClient), *(f"project.{n}" for n in list_methods(Project))],
    "async": [
        *list_methods(AsyncMemoryClient),
        *(f"project.{name}" for name in list_methods(AsyncProject)),
    ],
}
print(json.dumps(told))
