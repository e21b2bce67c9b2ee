from __future__ import annotations

from memoryhub.env import parse_database_url


def test_an_address_over_tcp() -> None:
    made = parse_database_url("postgresql://hub:s%20cret@db.example:6432/memory?sslmode=require")
    assert (made["HOST"], made["PORT"], made["NAME"]) == ("db.example", "6432", "memory")
    assert (made["USER"], made["PASSWORD"]) == ("hub", "s cret")
    assert made["OPTIONS"] == {"sslmode": "require"}


def test_an_address_of_a_socket_in_a_folder_with_spaces() -> None:
    assert (
        parse_database_url("postgresql://hub@/memory?host=/var/my%20data")["HOST"] == "/var/my data"
    )


def test_options_are_joined() -> None:
    made = parse_database_url("postgresql:///memory?sslmode=require", OPTIONS={"pool": True})
    assert made["OPTIONS"] == {"sslmode": "require", "pool": True}
