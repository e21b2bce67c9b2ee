"""The description as a page to read."""

from __future__ import annotations

from typing import Any

from csp.constants import SELF, UNSAFE_INLINE
from csp.decorators import csp_update
from django.utils.decorators import method_decorator
from drf_spectacular.views import SpectacularRedocView

# Redoc writes its styles into the page and searches in a worker made of a blob. Everything comes
# from here all the same: no other host is allowed.
_CSP: Any = {"style-src": [SELF, UNSAFE_INLINE], "worker-src": [SELF, "blob:"]}


@method_decorator(csp_update(_CSP), name="dispatch")
class RedocView(SpectacularRedocView):
    template_name = "api/redoc.html"
