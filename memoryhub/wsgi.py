"""The web application."""

from __future__ import annotations

import gc
import os
from importlib import import_module

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryhub.settings")
os.environ.setdefault("MEMORYHUB_PROCESS", "web")
application = get_wsgi_application()
# What stays for good need not be looked through for garbage, over and over: that takes a fifth of a
# second, in the middle of some request. What searches load when first asked stays as well.
_ = get_resolver().url_patterns
for _name in ("memoryhub.recall.context", "memoryhub.recall.services"):
    import_module(_name)
gc.collect()
gc.freeze()
