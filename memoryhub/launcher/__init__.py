"""What stands behind `make run`: the database, the web server and the worker as one program.

Knows nothing of Django; `manage.py hub` tells it what to run and what to do before.
"""

from __future__ import annotations

from memoryhub.launcher.children import LauncherError, Program
from memoryhub.launcher.hub import Hub, Plan, is_used

__all__ = ["Hub", "LauncherError", "Plan", "Program", "is_used"]
