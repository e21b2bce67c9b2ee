"""Places in which requests are worked on, and how they are left for a while."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event

from memoryhub.places import Places, hold_place, step_aside


def test_who_asks_gets_a_place_when_one_is_given_back() -> None:
    places = Places(1, most_aside=0)
    first, second = places.ask(), places.ask()
    assert (first.done(), second.done()) == (True, False)
    places.give_back()
    assert second.done()


def test_who_has_gone_is_passed_over() -> None:
    places = Places(1, most_aside=0)
    places.ask()
    gone, there = places.ask(), places.ask()
    assert gone.cancel()
    places.give_back()
    assert there.done()
    assert not there.cancel()


def test_who_comes_back_and_who_arrives_take_turns() -> None:
    places = Places(1, most_aside=4)
    places.ask()
    queue = {f"arriving {n}": places.ask() for n in range(2)}
    queue |= {f"returning {n}": places.ask(returning=True) for n in range(2)}
    order: list[str] = []
    for _ in range(4):
        places.give_back()
        order += [name for name, place in queue.items() if place.done() and name not in order]
    kinds = [name.split()[0] for name in order]
    assert sorted(kinds[:2]) == sorted(kinds[2:]) == ["arriving", "returning"]


def test_a_place_that_is_left_is_anothers_until_it_is_taken_again() -> None:
    places, let_go, waited, seen = Places(1, most_aside=1), Event(), Event(), Event()

    def wait_aside() -> None:
        with hold_place(places, let_go.set), step_aside():
            seen.set()
            waited.wait(20)
        places.give_back()

    places.ask()
    with ThreadPoolExecutor(1) as thread:
        work = thread.submit(wait_aside)
        assert seen.wait(20)
        assert let_go.is_set()
        other = places.ask()
        assert other.done()
        waited.set()
        places.give_back()
        work.result(20)
    assert places.ask().done()


def test_where_too_many_are_aside_a_place_is_kept() -> None:
    places = Places(1, most_aside=0)
    places.ask()
    with hold_place(places, lambda: None), step_aside():
        assert not places.ask().done()


def test_nothing_is_left_where_nothing_is_held() -> None:
    with step_aside(), step_aside():
        pass
