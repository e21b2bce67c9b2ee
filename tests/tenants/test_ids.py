"""Ids of rows: version 7, in the order in which one process makes them."""

from __future__ import annotations

from itertools import pairwise

from memoryhub.tenants.ids import new_id


def test_ids_come_in_the_order_of_their_making() -> None:
    made = [new_id() for _ in range(1000)]
    assert all(earlier < later for earlier, later in pairwise(made))
    assert {(each.version, each.variant) for each in made} == {(7, "specified in RFC 4122")}
