"""The web application."""

from __future__ import annotations

import gc
import os
import resource
import sys
from importlib import import_module

import django

_WANTED_FILES = 16_384
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryhub.settings")
os.environ.setdefault("MEMORYHUB_PROCESS", "web")
django.setup(set_prefix=False)

from django.urls import get_resolver  # noqa: E402  # of an application that is set up

from memoryhub.observability.tracing import begin_tracing  # noqa: E402
from memoryhub.serving.handler import HubHandler  # noqa: E402

begin_tracing("web")
application = HubHandler()
# A connection is an open file, and often a process may have 1,024 unless it asks for more.
_files, _most_files = resource.getrlimit(resource.RLIMIT_NOFILE)
if 0 <= _files < _WANTED_FILES:
    _wanted = _WANTED_FILES if _most_files < 0 else min(_most_files, _WANTED_FILES)
    resource.setrlimit(resource.RLIMIT_NOFILE, (_wanted, _most_files))
# The event loop is one thread among those that work, and each may have the interpreter that long
# while others wait. Python's own 5 ms make the loop, and so every request, slower under load.
sys.setswitchinterval(0.0005)
# What stays for good need not be looked through for garbage, over and over: that takes a fifth of a
# second, in the middle of some request. What searches load when first asked stays as well.
_patterns = get_resolver().url_patterns
for _name in ("memoryhub.recall.context", "memoryhub.recall.services"):
    import_module(_name)
gc.collect()
gc.freeze()
