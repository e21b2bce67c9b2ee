"""What is remembered, in an order that means something to the person it is about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.db.models import Case, IntegerField, Q, Value, When
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from memoryhub.tenants.models import Space
from personas.traits import get_owner_name

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

_HOME_PREDICATES = ("lives_in", "address", "speaks", "marital_status", "married", "age")
_WORK_PREDICATES = ("works_as", "works_at")
_HEALTH_PREDICATES = ("allergic_to", "smokes")
_TASTE_PREDICATES = ("eats", "drinks", "likes", "plays", "rides", "owns")
_IS_PLAN = Q(kind="plan") | Q(predicate_key__startswith="scheduled_")
_IS_LIKING = (
    Q(kind="preference")
    | Q(predicate_key__in=_TASTE_PREDICATES)
    | Q(predicate_key__startswith="favourite_")
)
# Of facts about the person, in the order of the page; one stands under the first that takes it.
_OWN_HEADINGS: Sequence[tuple[StrOrPromise, Q]] = (
    (_("Home and family"), Q(predicate_key__in=_HOME_PREDICATES) & ~_IS_PLAN),
    (pgettext_lazy("in a life", "Work"), Q(predicate_key__in=_WORK_PREDICATES) & ~_IS_PLAN),
    (pgettext_lazy("in a life", "Health"), Q(predicate_key__in=_HEALTH_PREDICATES) & ~_IS_PLAN),
    (_("Likes and habits"), _IS_LIKING & ~_IS_PLAN),
    (_("What you are like"), Q(kind="attribute") & ~_IS_PLAN),
    (_("Plans and dates"), _IS_PLAN),
    (_("What happened"), Q(kind="event")),
    (_("How things are"), Q()),
)
_OTHERS_HEADING = _("Other people and things you spoke of")
HEADINGS = (*(heading for heading, of in _OWN_HEADINGS), _OTHERS_HEADING)


def list_person_names(space: Space) -> list[str]:
    """What the person is called. Where nobody who spoke is called so, the name may be an id of
    an application's: then whoever spoke is taken for the person."""
    name = get_owner_name(space)
    return [name] if name in space.speakers else [name, *space.speakers]


def build_heading_case(names: Sequence[str]) -> Case:
    """Where in HEADINGS a fact stands, for SQL. `names`: what the person is called."""
    mine = Q(owner__in=names)
    cases = [When(mine & of, then=Value(at)) for at, (heading, of) in enumerate(_OWN_HEADINGS)]
    return Case(*cases, default=Value(len(_OWN_HEADINGS)), output_field=IntegerField())
