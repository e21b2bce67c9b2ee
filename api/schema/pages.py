"""The description as pages: to try, and to read."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from csp.constants import SELF, UNSAFE_INLINE
from csp.decorators import csp_update
from django.conf import settings
from django.utils.decorators import method_decorator
from django.utils.translation import get_language
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import (
    OpenApiJsonRenderer,
    OpenApiJsonRenderer2,
    OpenApiYamlRenderer,
    OpenApiYamlRenderer2,
)
from drf_spectacular.views import (
    SpectacularAPIView,
    SpectacularRedocView,
    SpectacularSwaggerSplitView,
)

# Both write styles into the page, and Redoc searches in a worker made of a blob. Everything comes
# from here all the same: no other host is allowed.
_STYLE_SOURCES: Any = {"style-src": [SELF, UNSAFE_INLINE]}
_WORKER_SOURCES: Any = {"worker-src": [SELF, "blob:"]}


class _DescriptionGenerator(SchemaGenerator):
    def get_schema(self, request: Any = None, public: bool = False) -> Any:
        if self.api_version:  # whatever the address says
            return super().get_schema(request, public)  # type: ignore[no-untyped-call]  # it has no types
        return describe_operations(get_language())


@lru_cache(maxsize=len(settings.LANGUAGES))
def describe_operations(language: str | None) -> Any:
    """Takes seconds, and is the same for everybody as long as a process runs."""
    return SchemaGenerator().get_schema(public=True)  # type: ignore[no-untyped-call]  # it has no types


class DescriptionView(SpectacularAPIView):
    """JSON, which every tool reads; YAML for who asks for it."""

    generator_class = _DescriptionGenerator
    renderer_classes = [
        OpenApiJsonRenderer2,
        OpenApiJsonRenderer,
        OpenApiYamlRenderer,
        OpenApiYamlRenderer2,
    ]


@method_decorator(csp_update(_STYLE_SOURCES), name="dispatch")
class SwaggerView(SpectacularSwaggerSplitView):
    """Split: its script comes from a path of its own, as the content security policy wants."""


@method_decorator(csp_update(_STYLE_SOURCES | _WORKER_SOURCES), name="dispatch")
class RedocView(SpectacularRedocView):
    template_name = "api/redoc.html"
