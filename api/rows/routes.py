"""Routes of rows: a list, its rows, and what can be done to each."""

from __future__ import annotations

from typing import Any

from django.urls import URLPattern, path

from api.rows.columns import Resource
from api.rows.read_views import SpaceListView, SpaceRowView


def build_space_route(route: str, view: Any, name: str, **options: Any) -> URLPattern:
    made: URLPattern = path(f"spaces/<path:subject>/{route}", view.as_view(**options), name=name)
    return made


def build_row_routes(resource: Resource, plural: str, name: str) -> list[URLPattern]:
    """A list and its rows."""
    return [
        build_space_route(plural, SpaceListView, plural, resource=resource),
        build_space_route(f"{plural}/<uuid:row_id>", SpaceRowView, name, resource=resource),
    ]


def build_action_routes(plural: str, name: str, **views: Any) -> list[URLPattern]:
    """What can be done to a row, by its verb."""
    return [
        build_space_route(f"{plural}/<uuid:row_id>/{verb}", view, f"{name}-{verb}")
        for verb, view in views.items()
    ]
