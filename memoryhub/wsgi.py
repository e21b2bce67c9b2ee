"""The web application."""

from __future__ import annotations

import gc
import os

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryhub.settings")
os.environ.setdefault("MEMORYHUB_PROCESS", "web")
application = get_wsgi_application()
# What stays for good need not be looked through for garbage, over and over: that takes a fifth of a
# second, in the middle of some request.
_ = get_resolver().url_patterns
gc.collect()
gc.freeze()
