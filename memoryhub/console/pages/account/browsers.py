"""What a person calls the browser that a User-Agent header names."""

from __future__ import annotations

# In the order in which they are looked for: most name those they descend from as well.
_BROWSERS = {"Edg": "Edge", "OPR": "Opera", "Firefox": "Firefox", "Chrom": "Chrome"}
_BROWSERS |= {"Safari": "Safari"}
_SYSTEMS = {"Windows": "Windows", "Android": "Android", "iPhone": "iOS", "iPad": "iOS"}
_SYSTEMS |= {"Mac OS": "macOS", "CrOS": "ChromeOS", "Linux": "Linux"}


def name_browser(agent: str) -> str:
    """As "Firefox · Linux"; the header itself where nothing in it is known."""
    known = [
        next((name for mark, name in names.items() if mark in agent), "")
        for names in (_BROWSERS, _SYSTEMS)
    ]
    return " · ".join(filter(None, known)) or agent
