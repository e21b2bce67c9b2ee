"""The description as pages: to try, and to read."""

from __future__ import annotations

from typing import Any

from csp.constants import SELF, UNSAFE_INLINE
from csp.decorators import csp_update
from django.utils.decorators import method_decorator
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


class DescriptionView(SpectacularAPIView):
    """JSON, which every tool reads; YAML for who asks for it."""

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
