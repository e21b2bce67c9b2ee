"""Django's admin: a look behind the pages, within the tenant in use."""
