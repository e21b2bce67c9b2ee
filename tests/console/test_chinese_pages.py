"""In Chinese, a page says nothing in English but what is data, a name or a command."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib import admin
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from memoryhub.console.admin.actions import ACTIONS
from memoryhub.console.frame.admin_addresses import find_row_address
from memoryhub.console.pages.chat.samples import SAMPLES
from memoryhub.dialogues.models import Turn
from memoryhub.pipeline.models import Job
from memoryhub.tenants import person_links
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.models import Fact, Revision
from tests.console.conftest import ConsoleWorld
from tests.console.test_escaping import ME, PAGES, build_address, hostile, hostile_scene
from tests.support.factories import make_event
from tests.support.untranslated import find_english_in_page, find_english_in_template

__all__ = ["hostile", "hostile_scene"]  # fixtures

TEMPLATES = sorted(path for folder in settings.TEMPLATE_DIRS for path in folder.rglob("*.html"))
CHINESE: dict[str, Any] = {"HTTP_ACCEPT_LANGUAGE": "zh-CN,zh;q=0.9"}
# What the world's rows say beside "甲乙丙", and what rows keep as it was written.
DATA = [sample.person for sample in SAMPLES]
DATA += ["by name", "was said", "it seems", "What of", "A paper", "printed", "no such thing"]
DATA += ["as admin", "one space", "nothing above the floor at first; 2 rounds"]
DATA += ["Token"]  # a word of Chinese by now
# Two words of a sentence, or one that begins it; a setting's or a stage's name is neither.
PROSE = re.compile(r"\b[A-Za-z]{2,} [a-z]{2,}\b|\b[A-Z][a-z]{2,}\b")


@pytest.fixture(scope="module")
def evil() -> str:
    """All names and texts of the world: none is English."""
    return "甲乙丙"


def test_the_catalogue_is_whole_and_in_step_with_what_pages_say() -> None:
    call_command("messages", check=True, stdout=StringIO())


@pytest.mark.parametrize("name", ["space-timeline", "space-notes", "space-review", "space-facts"])
def test_who_has_no_name_yet_is_called_the_user_in_chinese(
    browser: Client, world: ConsoleWorld, name: str
) -> None:
    with tenant_scope(world.tenant.id):
        Space.objects.update(subject="u-4711", name="", speakers=["the user"])
        Turn.objects.update(speaker="the user")
        Fact.objects.update(speaker="the user", owner="the user")
    page = browser.get(reverse(name, args=[world.space.id]), **CHINESE).content.decode()
    shown = re.sub(r"<[^>]+>", " ", page)
    assert "用户" in shown
    assert "the user" not in shown


@pytest.mark.parametrize(
    "template",
    [pytest.param(each, id=str(each.relative_to(settings.BASE_DIR))) for each in TEMPLATES],
)
def test_templates_ask_for_a_translation_of_all_they_say(template: Path) -> None:
    assert list(find_english_in_template(template.read_text(encoding="utf-8"))) == []


def test_no_page_of_the_console_says_anything_in_english(
    client: Client, hostile: ConsoleWorld
) -> None:
    client.force_login(hostile.admin)
    queries = ("", "?status=all&sort=recent&kind=all&state=all", "?q=no+such+thing")
    asked = [build_address(hostile, name) + query for name in PAGES for query in queries]
    assert dict(find_untranslated(client, asked)) == {}


def test_no_page_of_a_person_says_anything_in_english(
    client: Client, hostile: ConsoleWorld
) -> None:
    now = timezone.now()
    _, token = person_links.create_person_link(hostile.space, "甲", now, now + timedelta(days=1))
    client.post(reverse("me-open"), {"token": token})
    memory = ("me-memory", "me-memory-erase")
    asked = [reverse(name, args=[hostile.fact.id] * (name in memory)) for name in ME]
    assert dict(find_untranslated(client, asked)) == {}


def list_admin_lists() -> list[str]:
    names = [f"{m._meta.app_label}_{m._meta.model_name}" for m in admin.site._registry]
    return [reverse(f"admin:{name}_changelist") for name in names]


def test_no_list_of_the_administration_says_anything_in_english(
    client: Client, hostile: ConsoleWorld
) -> None:
    client.force_login(hostile.admin)
    asked = [reverse("admin:index")]
    asked += [where + query for where in list_admin_lists() for query in ("", "?q=no+such+thing")]
    assert dict(find_untranslated(client, asked)) == {}


def test_no_row_of_the_administration_says_anything_in_english(
    client: Client, hostile: ConsoleWorld
) -> None:
    """One of each table that has any."""
    client.force_login(hostile.admin)
    asked = []
    for where in list_admin_lists():
        rows = client.get(where).context["cl"].result_list
        asked += [find_row_address(row) for row in rows[:1]]
    assert len(asked) > 30
    assert dict(find_untranslated(client, asked)) == {}


def test_nothing_is_asked_in_english_before_it_is_done(
    client: Client, hostile: ConsoleWorld
) -> None:
    """Each action of each table, on a row as it is: whether it fits or is refused."""
    client.force_login(hostile.admin)
    found = {}
    for model, actions in ACTIONS.items():
        where = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
        row = client.get(where).context["cl"].result_list[0]
        for action in actions:
            form = {"action": action.name, "_selected_action": str(row.pk)}
            page = client.post(where, form, **CHINESE).content.decode()
            assert f'value="{action.name}"' in page
            if left := list_prose(page):
                found[where, action.name] = left
    assert found == {}


def test_what_the_hub_decided_and_why_is_said_in_chinese(
    client: Client, hostile: ConsoleWorld
) -> None:
    """Wherever a row keeps a reason: not the row's English words, but the reader's."""
    client.force_login(hostile.admin)
    why, space = "no longer so", hostile.space
    with tenant_scope(hostile.tenant.id):
        correction = make_event(space, kind="manual", reason=why, actor="the person themselves")
        Revision.objects.create(
            tenant=hostile.tenant, space=space, event=correction, row_type="fact",
            row_id=hostile.fact.id, version_after=2, before={"text": "甲"}, after={"text": "乙"},
        )  # fmt: skip
        Fact.objects.filter(id=hostile.fact.id).update(corrected_by="the person themselves")
        make_event(space, kind="promote", reason=why)
        make_event(space, job_id=hostile.job.id, reason=why)
        decided = {"decisions": [{"op": "none", "text": "甲", "reason": why}]}
        Job.objects.filter(id=hostile.job.id).update(state="done", result=decided)
        hostile.block.versions.update(reason=why, actor="pipeline")
    pages = ("space-fact", "space-heat", "job", "jobs", "space-block")
    for name in pages:
        answer = client.get(build_address(hostile, name) + "?state=all", follow=True, **CHINESE)
        page = answer.content.decode()
        assert (name, "不再如此" in page, why in page) == (name, True, False)
        assert not re.search("the hub|themselves|pipeline<", page), name


def find_untranslated(client: Client, addresses: list[str]) -> Iterator[tuple[str, list[str]]]:
    for each in addresses:
        answer = client.get(each, follow=True, **CHINESE)
        assert answer.status_code == 200, each
        if left := list_prose(answer.content.decode()):
            yield each, left


def list_prose(page: str) -> list[str]:
    """What a page says in English besides what its rows hold."""
    said = {remove_data(words) for words in find_english_in_page(page)}
    return sorted(words for words in said if PROSE.search(words))


def remove_data(words: str) -> str:
    for each in DATA:
        words = words.replace(each, "")
    return words


def test_the_check_itself_sees_english(client: Client, hostile: ConsoleWorld) -> None:
    client.force_login(hostile.admin)
    page = client.get(reverse("overview")).content.decode()
    assert [words for words in find_english_in_page(page) if PROSE.search(words)]
