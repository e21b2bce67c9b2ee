"""By thousands: Django groups by none, while what is counted elsewhere has its commas."""

from __future__ import annotations

THOUSAND_SEPARATOR = ","
NUMBER_GROUPING = 3
