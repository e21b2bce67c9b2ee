"""A tenant's own affairs: keys, people, trials of settings, webhooks, imports.

Secrets and passwords are in the answer that makes them and in no other. What makes one is not
repeated where it may have happened: take back what was lost on the way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from memoryhub_client.calls.base import CallGroup, ListCalls, RowCalls, Time
from memoryhub_client.calls.methods import Listing, M, call, pages
from memoryhub_client.calls.shared import FILE_SECONDS
from memoryhub_client.flows import Flow
from memoryhub_client.rows.models import (
    Delivery,
    Import,
    Key,
    KeyWithSecret,
    Member,
    NewMember,
    PersonLink,
    PersonLinkWithAddress,
    Replay,
    ReplayResult,
    ReviewRule,
    Webhook,
    WebhookWithSecret,
)

Scope = Literal["read", "write", "admin"]
Role = Literal["viewer", "editor", "admin"]
Content = Literal["ids", "text"]
Source = Literal["mem0", "letta", "zep", "langmem", "chatgpt", "jsonl"]


class Keys(ListCalls[M, Key]):
    _row = Key

    @call
    def new(
        self,
        name: str,
        scopes: Sequence[Scope],
        *,
        subject: str = "",
        expires_at: Time | None = None,
    ) -> Flow[KeyWithSecret]:
        """A key, with its secret in `key`. `subject`: the only one it reaches."""
        body = {"name": name, "scopes": scopes, "subject": subject, "expires_at": expires_at}
        return self._write_for_secret(KeyWithSecret, "new", body)

    @call
    def rotate(self, id: str, *, overlap_hours: int = 24) -> Flow[KeyWithSecret]:
        """Another secret with the same rights, in `key`."""
        body = {"overlap_hours": overlap_hours}
        return self._write_for_secret(KeyWithSecret, f"{id}/rotate", body)

    @call
    def revoke(self, id: str, *, key: str | None = None) -> Flow[Key]:
        """Every request with it is refused from now on."""
        return self._write_for_row(Key, f"{id}/revoke", {}, key=key)


class PersonLinks(ListCalls[M, PersonLink]):
    _row = PersonLink

    @call
    def new(self, *, expires_at: Time | None = None, note: str = "") -> Flow[PersonLinkWithAddress]:
        """A link to send to the person, in `url`: with it they see, correct, export and may erase
        what is remembered of them. For a week unless given, ninety days at most."""
        body = {"expires_at": expires_at, "note": note}
        return self._write_for_secret(PersonLinkWithAddress, "new", body)

    @call
    def revoke(self, id: str, *, key: str | None = None) -> Flow[PersonLink]:
        """Close it, also for whoever looks at the page now."""
        return self._write_for_row(PersonLink, f"{id}/revoke", {}, key=key)


class Members(ListCalls[M, Member]):
    """People with an account."""

    _row = Member

    @call
    def new(self, username: str, role: Role, *, email: str = "") -> Flow[NewMember]:
        """Let a person in. Of one who has an account already there is no password."""
        body = {"username": username, "role": role, "email": email}
        return self._write_for_secret(NewMember, "new", body)

    @call
    def set_role(self, id: str, role: Role, *, key: str | None = None) -> Flow[Member]:
        return self._write_named(Member, f"{id}/role", {"role": role}, key)

    @call
    def remove(self, id: str, *, key: str | None = None) -> Flow[Member]:
        """Take a person out of the tenant."""
        return self._write_named(Member, f"{id}/remove", {}, key)


class ReviewRules(ListCalls[M, ReviewRule]):
    """Answers given beforehand to what waits for a decision."""

    _row = ReviewRule

    @call
    def new(
        self,
        kind: Literal["conflict", "quarantine", "overwrite", "merge", "rename"],
        answer: Literal["accept", "keep_both", "reject"],
        *,
        subject: str = "",
        predicate_key: str = "",
        role: str = "",
        reason: str = "",
        key: str | None = None,
    ) -> Flow[ReviewRule]:
        """Answer such cases from now on, of one subject, predicate and role or of any."""
        body = {
            "kind": kind,
            "answer": answer,
            "subject": subject,
            "predicate_key": predicate_key,
            "role": role,
            "reason": reason,
        }
        return self._write_named(ReviewRule, "new", body, key)

    @call
    def remove(self, id: str, *, key: str | None = None) -> Flow[ReviewRule]:
        """It answers nothing more; what it answered stays."""
        return self._write_named(ReviewRule, f"{id}/remove", {}, key)


class Replays(RowCalls[M, Replay]):
    """Settings that are tried on golden questions."""

    _row = Replay

    @call
    def new(
        self,
        *,
        subject: str = "",
        tag: str = "",
        preset: str = "",
        overrides: Mapping[str, Any] | None = None,
        engine: str = "",
        key: str | None = None,
    ) -> Flow[Replay]:
        """Try a policy or an engine; it is worked on in the background.

        `subject`: on that one's questions, `tag`: on those that have it, else on all.
        """
        body = {
            "subject": subject,
            "tag": tag,
            "preset": preset,
            "overrides": overrides,
            "engine": engine,
        }
        return self._write_named(Replay, "new", body, key)

    @call
    def cancel(self, id: str, *, key: str | None = None) -> Flow[Replay]:
        """Ask no further question."""
        return self._write_named(Replay, f"{id}/cancel", {}, key)

    @call
    def decide(
        self, id: str, decision: Literal["live", "dropped"], *, key: str | None = None
    ) -> Flow[Replay]:
        """Put the candidate in force, or leave things as they are."""
        return self._write_named(Replay, f"{id}/decide", {"decision": decision}, key)

    @pages
    def results(self, id: str, *, page_size: int | None = None) -> Listing[ReplayResult]:
        """What each side found for each question."""
        return self._build_listing(ReplayResult, f"{id}/results", limit=page_size)


class Webhooks(RowCalls[M, Webhook]):
    """Addresses that are told what happens."""

    _row = Webhook

    @call
    def new(
        self,
        name: str,
        url: str,
        events: Sequence[str],
        *,
        subject: str = "",
        content: Content = "ids",
        style: Literal["native", "mem0"] = "native",
    ) -> Flow[WebhookWithSecret]:
        """Have an address told of these events, of one subject or of all."""
        body = {"name": name, "url": url, "events": events, "subject": subject}
        more = {"content": content, "style": style}
        return self._write_for_secret(WebhookWithSecret, "new", {**body, **more})

    @call
    def change(
        self,
        id: str,
        *,
        name: str | None = None,
        url: str | None = None,
        events: Sequence[str] | None = None,
        content: Content | None = None,
        is_active: bool | None = None,
        version: int | None = None,
        key: str | None = None,
    ) -> Flow[Webhook]:
        """What is not given stays."""
        body = {"name": name, "url": url, "events": events, "content": content}
        path = f"{id}/change"
        return self._write_named(Webhook, path, {**body, "is_active": is_active}, key, version)

    @call
    def rotate(self, id: str, *, overlap_hours: int = 24) -> Flow[WebhookWithSecret]:
        """Another secret; both sign for so long."""
        body = {"overlap_hours": overlap_hours}
        return self._write_for_secret(WebhookWithSecret, f"{id}/rotate", body)

    @call
    def delete(self, id: str, *, key: str | None = None) -> Flow[None]:
        """Tell it nothing more, and forget what it was told."""
        yield from self._write_for_json(f"{id}/delete", {}, key=key)

    @call
    def ping(self, id: str, *, key: str | None = None) -> Flow[Delivery]:
        """Send a test at once, and see what came of it."""
        return self._write_named(Delivery, f"{id}/ping", {}, key)

    @pages
    def deliveries(
        self, id: str, *, state: str | None = None, page_size: int | None = None
    ) -> Listing[Delivery]:
        """What it was sent and what it answered; `state` "dead" what was given up."""
        path = f"{id}/deliveries"
        return self._build_listing(Delivery, path, state=state, limit=page_size)


class Deliveries(CallGroup[M]):
    """Single deliveries; lists of them are at their webhook."""

    @call
    def get(self, id: str) -> Flow[Delivery]:
        """One, with its latest tries."""
        return self._fetch_row(Delivery, id)

    @call
    def replay(self, id: str, *, key: str | None = None) -> Flow[Delivery]:
        """Send it again, with the same event id."""
        return self._write_named(Delivery, f"{id}/replay", {}, key)


class Imports(RowCalls[M, Import]):
    """Memories of other systems on their way in."""

    _row = Import

    @call
    def new(
        self,
        source: Source,
        content: str,
        *,
        name: str = "",
        subject: str = "",
        only: Sequence[str] = (),
        dry_run: bool = False,
        key: str | None = None,
    ) -> Flow[Import]:
        """The words of a file, up to what a body may have; `manage.py bring` takes larger ones.

        `subject`: whose all of it is, else whom the file names. `only`: turn, fact, note, block.
        A `state` other than "done": a worker has it.
        """
        body = {
            "source": source,
            "content": content,
            "name": name,
            "subject": subject,
            "only": only,
            "dry_run": dry_run,
        }
        return self._send_import(None, body, key)

    @call
    def take(self, id: str, *, key: str | None = None) -> Flow[Import]:
        """Take in what was tried, within a day."""
        return self._send_import(f"{id}/take", {}, key)

    def _send_import(
        self, path: str | None, body: Mapping[str, Any], key: str | None
    ) -> Flow[Import]:
        return self._write_for_row(Import, path, body, key=key, patience=FILE_SECONDS)
