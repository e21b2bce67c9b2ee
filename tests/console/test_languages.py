"""Pages in the reader's language; what programs read in one."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

pytestmark = pytest.mark.django_db(databases=["default"])

CHINESE: dict[str, Any] = {"HTTP_ACCEPT_LANGUAGE": "zh-CN,zh;q=0.9"}


def test_a_page_is_in_the_browsers_language(client: Client) -> None:
    answer = client.get(reverse("sign-in"), **CHINESE)
    assert '<html lang="zh-hans"' in answer.content.decode()
    assert '<html lang="en"' in client.get(reverse("sign-in")).content.decode()


def test_the_chosen_language_goes_before_the_browsers(client: Client) -> None:
    answer = client.post(
        reverse("language"), {"language": "zh-hans", "next": reverse("sign-in")}, follow=True
    )
    assert '<html lang="zh-hans"' in answer.content.decode()
    client.post(reverse("language"), {"language": "en"})
    assert '<html lang="en"' in client.get(reverse("sign-in"), **CHINESE).content.decode()


def test_a_choice_leads_to_no_other_host(client: Client) -> None:
    answer = client.post(reverse("language"), {"language": "en", "next": "https://evil.example/"})
    assert answer["Location"] == "/"


def test_what_programs_read_is_in_one_language(client: Client) -> None:
    answer = client.get("/api/v1/spaces", **CHINESE)
    assert answer.status_code == 401
    assert answer.json()["detail"] == client.get("/api/v1/spaces").json()["detail"]
    assert "Content-Language" not in answer
