"""plotly's script out of the installed package, whose version the requirements pin."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage

SCRIPT_NAME = "plotly.min.js"


class PlotlyFinder(BaseFinder):
    """Finds `plotly/plotly.min.js`, and nothing else of the package."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._storage = FileSystemStorage(location=find_plotly_folder())
        self._storage.prefix = "plotly"  # type: ignore[attr-defined]  # read by collectstatic

    def check(self, **kwargs: Any) -> list[Any]:
        return []

    def find(self, path: str, *args: Any, **kwargs: Any) -> Any:
        if path != f"plotly/{SCRIPT_NAME}":
            return []
        found = self._storage.path(SCRIPT_NAME)
        return [found] if any(args) or any(kwargs.values()) else found

    def list(self, ignore_patterns: Any) -> Iterator[tuple[str, FileSystemStorage]]:
        yield SCRIPT_NAME, self._storage


def find_plotly_folder() -> Path:
    """Found, and not imported: the package is large."""
    spec = find_spec("plotly")
    if spec is None or not spec.submodule_search_locations:
        raise RuntimeError("plotly is not installed")
    return Path(spec.submodule_search_locations[0]) / "package_data"
