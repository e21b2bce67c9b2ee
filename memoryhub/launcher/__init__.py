"""What stands behind `make run`: the database, the web server and the worker as one program.

Knows nothing of Django; `manage.py hub` tells it what to run and what to do before.
"""

from __future__ import annotations

from memoryhub.launcher.children import LauncherError, Program
from memoryhub.launcher.hub import Hub, LaunchPlan, is_data_dir_in_use

__all__ = ["Hub", "LaunchPlan", "LauncherError", "Program", "is_data_dir_in_use"]
