"""Who sees what: roles, strangers, and people of no tenant."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import URLPattern, reverse

from memoryhub.console.urls import urlpatterns
from memoryhub.tenants.models import Membership, User
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import add_member
from notes.models import Fact
from tests.console.conftest import ConsoleWorld, make_world
from tests.support.factories import make_member, make_proposal

OPEN = {"sign-in", "sign-in-second", "sign-out", "language", "password-reset", "password-new"}
# They lead to the provider and back; without one they are not there.
OPEN |= {"sign-on", "sign-on-return", "sign-on-end"}
# Pages whose address names nothing of a tenant: they show the reader's own.
OWN = {"overview", "search", "spaces", "jobs", "chat", "keys", "choose-tenant"}
OWN |= {"account", "account-end", "account-second", "account-second-confirm"}
OWN |= {"account-second-app", "account-second-passkey"}
OWN |= {"account-second-codes", "account-second-remove"}
OWN |= {
    "policy",
    "policy-change",
    "policy-unset",
    "usage",
    "usage-redact-all",
    "recalls",
    "feedback",
    "requests",
}
OWN |= {"changes", "settings", "models", "models-test", "models-engine"}
OWN |= {"models-connection", "models-prices", "models-embedder", "lab-upload"}
OWN |= {"find", "jobs-chosen", "figures"}
OWN |= {"people-second-factor"}
OWN |= {"data", "growth", "data-erase", "people", "quality"}
OWN |= {"review", "review-answer", "review-rules", "receipts", "webhooks", "webhook-new"}
OWN |= {"golden", "replays", "replay-start", "policy-try"}
OWN |= {"spaces-import", "spaces-export"}
OWN |= {"lab", "lab-new", "lab-import", "embeddings", "embeddings-begin"}
OWN |= {"imports", "import-new", "chat-load", "predicates", "predicate-facts", "predicate-set"}
# For admins who are operators of the hub as well.
OPERATED = {"lab-new", "lab-resume", "lab-upload", "models-test", "models-engine", "models-prices"}
OPERATED |= {"models-embedder"}
OPERATED |= {"models-connection"}  # or where the operator allows hosts
VIEWER, EDITOR, ADMIN = Membership.Role.VIEWER, Membership.Role.EDITOR, Membership.Role.ADMIN
# Every address with the least role that may use it and the methods it takes.
# A new page fails here until somebody decides.
DECIDED = {
    "overview": (VIEWER, "get"),
    "account": (VIEWER, "get"),
    "account-end": (VIEWER, "post"),
    "account-second": (VIEWER, "get"),
    "account-second-confirm": (VIEWER, "post"),
    "account-second-app": (VIEWER, "get"),
    "account-second-passkey": (VIEWER, "get"),
    "account-second-codes": (VIEWER, "post"),
    "account-second-remove": (VIEWER, "post"),
    "search": (VIEWER, "get"),
    "find": (VIEWER, "get"),
    "choose-tenant": (VIEWER, "post"),
    "spaces": (VIEWER, "get"),
    "space-overview": (VIEWER, "get"),
    "space-memories": (VIEWER, "get"),
    "space-facts-chosen": (EDITOR, "post"),
    "space-notes-chosen": (EDITOR, "post"),
    "space-entities-chosen": (EDITOR, "post"),
    "jobs-chosen": (EDITOR, "post"),
    "space-timeline": (VIEWER, "get"),
    "space-facts": (VIEWER, "get"),
    "space-notes": (VIEWER, "get"),
    "space-segments": (VIEWER, "get"),
    "space-heat": (VIEWER, "get"),
    "space-fact-curve": (VIEWER, "get"),
    "space-note-curve": (VIEWER, "get"),
    "space-episode-curve": (VIEWER, "get"),
    "space-episodes": (VIEWER, "get"),
    "space-episode": (VIEWER, "get"),
    "space-entities": (VIEWER, "get"),
    "space-graph": (VIEWER, "get"),
    "space-graph-data": (VIEWER, "get"),
    "space-graph-about": (VIEWER, "get"),
    "space-map": (VIEWER, "get"),
    "space-map-data": (VIEWER, "get"),
    "space-map-evolution": (VIEWER, "get"),
    "space-map-begin": (EDITOR, "post"),
    "space-history": (VIEWER, "get"),
    "space-event": (VIEWER, "get"),
    "space-roll-back": (VIEWER, "get"),
    "space-review": (VIEWER, "get"),
    "space-erase": (ADMIN, "get"),
    "space-person": (ADMIN, "get"),
    "space-person-revoke": (ADMIN, "post"),
    "space-pause": (EDITOR, "post"),
    "space-name": (EDITOR, "post"),
    "space-export": (ADMIN, "get"),
    "spaces-export": (ADMIN, "get"),
    "spaces-import": (ADMIN, "get"),
    "space-golden": (VIEWER, "get"),
    "space-golden-new": (VIEWER, "get"),
    "space-golden-question": (VIEWER, "get"),
    "golden": (VIEWER, "get"),
    "embeddings": (VIEWER, "get"),
    "embeddings-begin": (ADMIN, "post"),
    "embedding": (VIEWER, "get"),
    "embedding-begin": (ADMIN, "post"),
    "embedding-decide": (ADMIN, "post"),
    "lab": (VIEWER, "get"),
    "lab-new": (ADMIN, "get"),
    "lab-import": (ADMIN, "post"),
    "lab-run": (VIEWER, "get"),
    "lab-questions": (VIEWER, "get"),
    "lab-question": (VIEWER, "get"),
    "lab-report": (VIEWER, "get"),
    "lab-stop": (ADMIN, "post"),
    "lab-resume": (ADMIN, "post"),
    "lab-delete": (ADMIN, "post"),
    "replays": (VIEWER, "get"),
    "replay": (VIEWER, "get"),
    "replay-start": (EDITOR, "post"),
    "replay-cancel": (EDITOR, "post"),
    "replay-decide": (ADMIN, "post"),
    "policy-try": (EDITOR, "post"),
    "space-policy-try": (EDITOR, "post"),
    "review": (VIEWER, "get"),
    "review-case": (VIEWER, "get"),
    "review-answer": (EDITOR, "post"),
    "review-take-back": (EDITOR, "post"),
    "review-rules": (VIEWER, "get"),
    "review-rule-remove": (ADMIN, "post"),
    "quality": (VIEWER, "get"),
    "space-quality": (VIEWER, "get"),
    "space-quality-measure": (EDITOR, "post"),
    "space-quality-act": (EDITOR, "post"),
    "space-entity-split": (EDITOR, "post"),
    "receipts": (ADMIN, "get"),
    "receipt": (ADMIN, "get"),
    "space-turn": (VIEWER, "get"),
    "space-fact": (VIEWER, "get"),
    "space-note": (VIEWER, "get"),
    "space-segment": (VIEWER, "get"),
    "space-persona": (VIEWER, "get"),
    "space-trait": (EDITOR, "post"),
    "space-profile": (EDITOR, "post"),
    "space-blocks": (VIEWER, "get"),
    "space-block": (VIEWER, "get"),
    "block-new": (EDITOR, "post"),
    "block-save": (EDITOR, "post"),
    "block-attach": (EDITOR, "post"),
    "block-detach": (EDITOR, "post"),
    "block-delete": (EDITOR, "post"),
    "imports": (VIEWER, "get"),
    "import": (VIEWER, "get"),
    "import-new": (EDITOR, "post"),
    "import-again": (EDITOR, "post"),
    "import-take": (EDITOR, "post"),
    "jobs": (VIEWER, "get"),
    "job": (VIEWER, "get"),
    "job-retry": (EDITOR, "post"),
    "job-cancel": (EDITOR, "post"),
    "requests": (VIEWER, "get"),
    "chat": (VIEWER, "get"),
    "chat-with": (VIEWER, "get"),
    "chat-say": (EDITOR, "post"),
    "chat-decisions": (VIEWER, "get"),
    "chat-load": (EDITOR, "post"),
    "chat-reading": (VIEWER, "get"),
    "chat-keep": (EDITOR, "post"),
    "chat-forget": (EDITOR, "post"),
    "policy": (VIEWER, "get"),
    "policy-change": (ADMIN, "post"),
    "policy-return": (ADMIN, "post"),
    "policy-unset": (ADMIN, "post"),
    "space-policy-unset": (ADMIN, "post"),
    "space-policy": (VIEWER, "get"),
    "space-policy-change": (ADMIN, "post"),
    "space-search": (VIEWER, "get"),
    "feedback": (VIEWER, "get"),
    "recalls": (VIEWER, "get"),
    "recall": (VIEWER, "get"),
    "usage": (VIEWER, "get"),
    "figures": (VIEWER, "get"),
    "space-figures": (VIEWER, "get"),
    "usage-call": (VIEWER, "get"),
    "changes": (ADMIN, "get"),
    "settings": (VIEWER, "get"),
    "predicates": (VIEWER, "get"),
    "predicate-facts": (VIEWER, "get"),
    "predicate-set": (ADMIN, "post"),
    "models": (VIEWER, "get"),
    "models-test": (ADMIN, "post"),
    "models-engine": (ADMIN, "post"),
    "models-connection": (ADMIN, "post"),
    "models-prices": (ADMIN, "post"),
    "models-embedder": (ADMIN, "post"),
    "lab-upload": (ADMIN, "post"),
    "data": (ADMIN, "get"),
    "growth": (ADMIN, "get"),
    "data-erase": (ADMIN, "post"),
    "people": (ADMIN, "get"),
    "person-role": (ADMIN, "post"),
    "people-second-factor": (ADMIN, "post"),
    "person-sign-out": (ADMIN, "post"),
    "person-remove": (ADMIN, "post"),
    "usage-redact": (ADMIN, "post"),
    "usage-redact-all": (ADMIN, "post"),
    "webhooks": (ADMIN, "get"),
    "webhook-new": (ADMIN, "get"),
    "webhook": (ADMIN, "get"),
    "webhook-ping": (ADMIN, "post"),
    "webhook-rotate": (ADMIN, "post"),
    "webhook-switch": (ADMIN, "post"),
    "webhook-delete": (ADMIN, "post"),
    "webhook-delivery": (ADMIN, "get"),
    "webhook-replay": (ADMIN, "post"),
    "keys": (ADMIN, "get"),
    "key-revoke": (ADMIN, "post"),
}


def build_address(pattern: URLPattern, ids: dict[str, str]) -> str:
    wanted = {name: ids[name] for name in pattern.pattern.converters}
    return reverse(str(pattern.name), kwargs=wanted)


def test_every_page_is_decided() -> None:
    assert {str(p.name) for p in urlpatterns} == set(DECIDED) | OPEN


GUARDED = [p for p in urlpatterns if p.name not in OPEN]
NESTED = [p for p in GUARDED if len(p.pattern.converters) == 2]
FOREIGN = [pytest.param(p, id=str(p.name)) for p in urlpatterns if p.name not in OPEN | OWN]


@pytest.fixture(scope="module")
def elsewhere(kept_for_module: None) -> dict[str, str]:
    """The ids of another tenant's rows."""
    return make_world("Other").collect_ids()


def set_operator(world: ConsoleWorld, operates: bool) -> None:
    User.objects.filter(id=world.admin.id).update(is_superuser=operates)


@pytest.mark.parametrize("pattern", FOREIGN)
def test_ids_of_another_tenant_do_not_exist(
    browser: Client, world: ConsoleWorld, elsewhere: dict[str, str], pattern: URLPattern
) -> None:
    set_operator(world, pattern.name in OPERATED)
    _, method = DECIDED[str(pattern.name)]
    assert getattr(browser, method)(build_address(pattern, elsewhere)).status_code == 404
    # The same page of the own tenant does: the 404 above is not one for all.
    mine = getattr(browser, method)(
        build_address(pattern, world.collect_ids()), {"text": "", "decision": "pause"}
    )
    assert mine.status_code in (200, 302)


def test_own_spaces_do_not_lend_their_name_to_foreign_rows(
    browser: Client, world: ConsoleWorld, elsewhere: dict[str, str]
) -> None:
    ids = elsewhere | {"space_id": str(world.space.id)}
    for pattern in NESTED:
        answer = getattr(browser, DECIDED[str(pattern.name)][1])(build_address(pattern, ids))
        assert answer.status_code == 404, pattern


def test_strangers_are_asked_to_sign_in(client: Client, world: ConsoleWorld) -> None:
    ids = world.collect_ids()
    for pattern in GUARDED:
        answer = getattr(client, DECIDED[str(pattern.name)][1])(build_address(pattern, ids))
        assert answer.status_code == 302, pattern
        assert answer["Location"].startswith(reverse("sign-in")), pattern


def test_every_role_below_the_least_is_refused(client: Client, world: ConsoleWorld) -> None:
    ids, ranks = world.collect_ids(), [VIEWER, EDITOR, ADMIN]
    for role in ranks[:2]:
        client.force_login(make_member(world.tenant, role))
        for pattern in GUARDED:
            least, method = DECIDED[str(pattern.name)]
            if ranks.index(role) < ranks.index(least):
                answer = getattr(client, method)(build_address(pattern, ids))
                assert answer.status_code == 403, (role, pattern)


@pytest.mark.parametrize("pattern", [pytest.param(p, id=str(p.name)) for p in GUARDED])
def test_the_least_role_is_enough(client: Client, world: ConsoleWorld, pattern: URLPattern) -> None:
    least, method = DECIDED[str(pattern.name)]
    client.force_login(make_member(world.tenant, least, is_superuser=pattern.name in OPERATED))
    form = {"tenant": str(world.tenant.id), "decision": "pause"}
    answer = getattr(client, method)(build_address(pattern, world.collect_ids()), form)
    assert answer.status_code != 403


@pytest.mark.parametrize("name", sorted(OPERATED))
def test_what_costs_the_whole_hub_is_for_its_operators(
    client: Client, world: ConsoleWorld, name: str
) -> None:
    pattern = next(p for p in urlpatterns if p.name == name)
    client.force_login(make_member(world.tenant, ADMIN))
    answer = getattr(client, DECIDED[name][1])(build_address(pattern, world.collect_ids()))
    assert answer.status_code == 403


# Pages that also take what is sent, with the least role that may send it.
SENT = {
    "space-fact": (EDITOR, {"action": "pin"}),
    "space-note": (EDITOR, {"action": "pin"}),
    "space-event": (EDITOR, {}),
    "space-roll-back": (ADMIN, {}),
    "space-erase": (ADMIN, {}),
    "space-person": (ADMIN, {"days": "7"}),
    "review-case": (EDITOR, {"answer": "keep"}),
    "webhook": (ADMIN, {"name": "ERP"}),
    "space-golden-new": (EDITOR, {"text": "Bees?"}),
    "space-golden-question": (EDITOR, {"action": "remove"}),
}


@pytest.mark.parametrize("name", SENT)
@pytest.mark.parametrize("role", [VIEWER, EDITOR, ADMIN])
def test_roles_of_what_is_sent(
    client: Client, world: ConsoleWorld, name: str, role: Membership.Role
) -> None:
    client.force_login(make_member(world.tenant, role))
    least, form = SENT[name]
    pattern = next(p for p in urlpatterns if p.name == name)
    ranks = [VIEWER, EDITOR, ADMIN]
    answer = client.post(build_address(pattern, world.collect_ids()), form)
    assert (answer.status_code == 403) == (ranks.index(role) < ranks.index(least))


@pytest.mark.parametrize("name", SENT)
def test_nothing_is_sent_to_rows_of_another_tenant(
    browser: Client, elsewhere: dict[str, str], name: str
) -> None:
    pattern = next(p for p in urlpatterns if p.name == name)
    assert browser.post(build_address(pattern, elsewhere), SENT[name][1]).status_code == 404


def test_only_an_admin_answers_a_wish_to_forget_with_erasing(
    client: Client, world: ConsoleWorld
) -> None:
    with tenant_scope(world.tenant.id):
        wish = make_proposal(world.space, kind="erase", row_type="fact", row_id=world.fact.id)
    where = reverse("review-case", args=[wish.id])
    client.force_login(make_member(world.tenant, EDITOR))
    assert client.post(where, {"answer": "erase"}).status_code == 403
    client.force_login(world.admin)
    chooses = client.post(where, {"answer": "erase"})["Location"]
    with tenant_scope(world.tenant.id):
        assert Fact.objects.filter(id=world.fact.id).exists(), "what is meant is chosen first"
    client.post(chooses, {"chosen": "yes", "wish": str(wish.id), "facts": str(world.fact.id)})
    with tenant_scope(world.tenant.id):
        assert not Fact.objects.filter(id=world.fact.id).exists()


def test_viewers_can_not_enter_a_new_subject(client: Client, world: ConsoleWorld) -> None:
    client.force_login(make_member(world.tenant, VIEWER))
    assert client.post(reverse("chat"), {"subject": "ida"}).status_code == 403


def test_a_person_of_no_tenant_is_told_so(client: Client, db: None) -> None:
    client.force_login(User.objects.create_user("charlie", password="x"))
    answer = client.get(reverse("overview"))
    assert answer.status_code == 403
    assert b"You belong to no tenant yet" in answer.content


def test_switching_the_tenant(browser: Client, world: ConsoleWorld) -> None:
    other = make_world("Orchard")
    add_member(other.tenant, world.admin, VIEWER)
    assert b"nora-of-" in browser.get(reverse("spaces")).content
    browser.post(reverse("choose-tenant"), {"tenant": str(other.tenant.id)})
    page = browser.get(reverse("spaces")).content.decode()
    assert other.space.subject in page
    assert world.space.subject not in page


def test_a_list_of_the_administration_stays_open_for_the_other_tenant(
    browser: Client, world: ConsoleWorld
) -> None:
    other = make_world("Orchard")
    add_member(other.tenant, world.admin, ADMIN)
    listed = browser.get(reverse("admin:tenants_space_changelist"))
    assert b'name="page" value="admin:tenants_space_changelist"' in listed.content
    sent = {"tenant": str(other.tenant.id), "page": "admin:tenants_space_changelist"}
    page = browser.post(reverse("choose-tenant"), sent, follow=True).content.decode()
    assert f">{other.space.subject}<" in page
    assert f">{world.space.subject}<" not in page
    for name in ("admin:nothing_changelist", "admin:notes_fact_change", "spaces", "https://a.test"):
        sent = {"tenant": str(world.tenant.id), "page": name}
        assert browser.post(reverse("choose-tenant"), sent).headers["Location"] == reverse(
            "overview"
        )


def test_only_own_tenants_can_be_chosen(browser: Client, world: ConsoleWorld) -> None:
    other = make_world("Orchard")
    answer = browser.post(reverse("choose-tenant"), {"tenant": str(other.tenant.id)})
    assert answer.status_code == 404
    assert b"Hive" in browser.get(reverse("overview")).content


def test_a_tenant_left_is_no_longer_shown(browser: Client, world: ConsoleWorld) -> None:
    other = make_world("Orchard")
    membership = add_member(other.tenant, world.admin, VIEWER)
    browser.post(reverse("choose-tenant"), {"tenant": str(other.tenant.id)})
    with tenant_scope(other.tenant.id):
        membership.delete()
    assert browser.get(reverse("space-facts", args=[other.space.id])).status_code == 404


def test_sign_in_and_out(client: Client, world: ConsoleWorld) -> None:
    form = {"username": world.admin.username, "password": "wrong"}
    assert b"correct name and password" in client.post(reverse("sign-in"), form).content
    form["password"] = "correct horse"
    assert client.post(reverse("sign-in"), form)["Location"] == reverse("overview")
    assert client.get(reverse("sign-in"))["Location"] == reverse("overview")
    assert client.post(reverse("sign-out"))["Location"] == reverse("sign-in")
    assert client.get(reverse("overview")).status_code == 302
