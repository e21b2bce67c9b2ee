"""The console's addresses: each stands above its view, in the views of its feature. Every view is
a link."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from django.urls import path
from django.views.i18n import set_language

from memoryhub.console import pages
from memoryhub.console.frame.access import ADDRESSES

for feature in iter_modules(pages.__path__):
    import_module(f"{pages.__name__}.{feature.name}.views")
urlpatterns = [path("language", set_language, name="language"), *ADDRESSES]
