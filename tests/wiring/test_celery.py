from __future__ import annotations

from psycopg.conninfo import conninfo_to_dict

from memoryhub.celery import transport_options


def test_the_default_brokers_address_is_in_keywords() -> None:
    dsn = "postgresql://hub@/memory?host=/var/my%20data&port=5432"
    given = transport_options("pgmq://", dsn)["conn_string"]
    assert not given.startswith("postgresql:")
    assert conninfo_to_dict(given) == conninfo_to_dict(dsn)


def test_another_broker_gets_time_limits_instead() -> None:
    options = transport_options("redis://127.0.0.1:6379/0", "")
    assert "conn_string" not in options
    assert options["socket_connect_timeout"] <= 1
