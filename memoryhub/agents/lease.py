"""One turn at a time at a window, whether somebody asks for it or a timer does."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from types import TracebackType

from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext

from memoryhub.errors import Conflict
from memoryhub.tenants.scope import tenant_scope
from personas.models import Window

# Whoever takes longer for a step is taken for dead, and the window is free again.
LONGEST_STEP = timedelta(minutes=10)


@dataclass
class WindowLease:
    """Holds the window while it is entered. Entering and `extend` raise Conflict (`window_busy`)
    where another turn has it. Each opens its own scope."""

    window: Window
    until: datetime | None = None

    def __enter__(self) -> WindowLease:
        self._hold(Q(busy_until=None) | Q(busy_until__lt=timezone.now()))
        return self

    def extend(self) -> None:
        """Another step may begin."""
        self._hold(Q(busy_until=self.until))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        with tenant_scope(self.window.tenant_id):
            held = Window.objects.filter(id=self.window.id, busy_until=self.until)
            held.update(busy_until=None)

    def _hold(self, free: Q) -> None:
        until = timezone.now() + LONGEST_STEP
        with tenant_scope(self.window.tenant_id):
            held = Window.objects.filter(free, id=self.window.id).update(busy_until=until)
        if not held:
            message = gettext("another turn is in progress in this window")
            raise Conflict(message, code="window_busy")
        self.until = until


def is_window_busy(window: Window) -> bool:
    """Whether a turn is being taken at it, as it was read."""
    return window.busy_until is not None and window.busy_until >= timezone.now()
