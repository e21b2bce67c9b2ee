"""What tenants add to the hub."""

from __future__ import annotations

from memoryhub.declarations import AppDeclaration, Growth

DECLARATION = AppDeclaration(
    erasable_texts={
        "space": "names of the subject: its own erasure takes the row; speakers follow the turns",
        "apikey": "the tenant's name for it, and scopes",
        "personlink": "the tenant's note for itself",
        "auditentry": "what people did here, without what was said",
    },
    export_kinds={
        "tenant": "the importing tenant is another; name, slug and engine are told",
        "space": "told as its own line",
        "user": "people sign in where they have an account",
        "browsersession": "who is signed in here",
        "secondfactor": "people sign in where they have an account",
        "recoverycode": "people sign in where they have an account",
        "signonidentity": "people sign in where they have an account",
        "accountevent": "who signed in here",
        "membership": "people sign in where they have an account",
        "auditentry": "who changed what of the tenant here",
        "apikey": "a key opens one hub",
        "personlink": "a link opens one hub",
    },
    growth={
        "space": Growth(kind="settings", at="created_at"),
        "membership": Growth(kind="settings"),
        "apikey": Growth(kind="settings", at="created_at"),
        "personlink": Growth(kind="settings", at="created_at"),
        "auditentry": Growth(kind="changes", at="at", days="audit_days"),
    },
)
