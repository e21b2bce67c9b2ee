from __future__ import annotations


def console(request):
    return {}
