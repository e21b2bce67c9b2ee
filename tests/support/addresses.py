"""Every address that a browser may open, from the URL resolver, and which of them are no pages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from uuid import UUID

from django.contrib import admin
from django.urls import URLPattern, URLResolver, get_resolver, reverse

SENT_TO = "only sent to"
# By why it is none: what is not here is a page, and looked at.
NO_PAGES: dict[str, set[str]] = {
    "answers a program": {"healthz", "readyz", "metrics"},
    "answers a script of a page, with data or a part of it": {
        *("find", "space-graph-data", "space-graph-about", "space-map-data", "chat-decisions"),
        *("chat-reading", "admin:autocomplete", "admin:jsi18n"),
    },
    "is a file": {"lab-report", "space-export", "spaces-export", "me-export"},
    "leads to another page": {
        *("space-memories", "space-turn", "sign-on", "sign-on-return", "sign-on-end"),
        *("admin:login", "admin:view_on_site", "admin:app_list"),
        *("admin:password_change", "admin:password_change_done"),
        "admin:None",  # a row's address without its "change", and what is nowhere
    },
    SENT_TO: {
        *("sign-out", "admin:logout", "language", "choose-tenant"),
        *("account-end", "account-second-confirm", "account-second-codes"),
        *("account-second-remove", "person-role", "people-second-factor", "person-sign-out"),
        *("person-remove", "key-revoke", "data-erase", "jobs-chosen", "job-retry", "job-cancel"),
        *("me-close", "me-tell", "me-wish-undo", "me-trait", "me-note-forget", "me-pause"),
        *("chat-say", "chat-load", "chat-keep", "chat-forget", "import-new", "import-take"),
        *("import-again",),
        *("replay-start", "replay-cancel", "replay-decide", "policy-try", "policy-change"),
        *("policy-unset", "space-policy-unset"),
        *("policy-return", "space-policy-try", "space-policy-change", "predicate-set"),
        *("embeddings-begin", "embedding-begin", "embedding-decide", "space-map-begin"),
        *("lab-upload", "lab-import", "lab-stop", "lab-resume", "lab-delete"),
        *("models-test", "models-connection", "models-embedder", "models-prices"),
        *("models-engine", "usage-redact", "usage-redact-all", "space-person-revoke"),
        *("space-facts-chosen", "space-notes-chosen", "space-entities-chosen"),
        *("space-entity-split", "space-pause", "space-trait", "space-profile", "space-name"),
        *("block-new", "block-save", "block-delete", "block-attach", "block-detach"),
        *("space-quality-measure", "space-quality-act", "review-answer", "review-take-back"),
        *("review-rule-remove", "webhook-rotate", "webhook-switch", "webhook-delete"),
        *("webhook-ping", "webhook-replay"),
    },
}
# Of each table of the administration: nothing is added or deleted there, and what became of a row
# is on its page.
_NO_PAGES_OF_TABLES = ("_add", "_delete", "_history")


def list_addresses() -> dict[str, URLPattern]:
    """By name, those of the API left out: no browser opens them."""
    return dict(_walk(get_resolver().url_patterns))


def _walk(
    patterns: Iterable[URLPattern | URLResolver], space: str = ""
) -> Iterator[tuple[str, URLPattern]]:
    for each in patterns:
        if isinstance(each, URLPattern):
            yield f"{space}{each.name}", each
        elif not getattr(each.urlconf_name, "__name__", str(each.urlconf_name)).startswith("api."):
            yield from _walk(each.url_patterns, f"{each.namespace}:" if each.namespace else space)


def list_exceptions() -> set[str]:
    tables = {f"admin:{m._meta.app_label}_{m._meta.model_name}" for m in admin.site._registry}
    of_tables = {f"{table}{part}" for table in tables for part in _NO_PAGES_OF_TABLES}
    return of_tables.union(*NO_PAGES.values())


def list_pages() -> dict[str, URLPattern]:
    excepted = list_exceptions()
    return {name: each for name, each in list_addresses().items() if name not in excepted}


_OTHER_VALUES = {
    "object_id": str(UUID(int=7)),
    "content_type_id": "1",
    "uidb64": "x",
    "token": "x",
    "url": "nowhere",
    "app_label": "notes",
}


def build_address_of(name: str, pattern: URLPattern, ids: dict[str, str]) -> str:
    """With the ids of a world's rows. Raises KeyError for a parameter that nobody knows."""
    wanted = [*pattern.pattern.converters]
    if name == "admin:app_list":
        wanted = ["app_label"]
    known = _OTHER_VALUES | ids
    return reverse(name, kwargs={each: known[each] for each in wanted})
