"""Profiles of users: what their memories give a schema, read when it is asked for. There is nothing
to generate, so a job is done when it is begun; its id says whom it was about, signed."""

from __future__ import annotations

from typing import Any, ClassVar

from django.core import signing
from django.db.models import F
from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from api.core.authentication import filter_reached, get_request_key
from api.core.fields import (
    NULL,
    MetadataField,
    NameField,
    StrictBooleanField,
    TextField,
    validate_body,
)
from api.core.views import get_whole_tenant_id
from api.mem0.exports import list_known_values
from api.mem0.ids import SUBJECT_PREFIXES, is_user_subject, normalise_id
from api.mem0.requests import list_ignored, name_ignored
from api.mem0.schemas import build_plain_profile, fill_schema, read_schema
from api.mem0.select import build_visible_condition, select_memories
from api.mem0.views import Mem0View
from api.models import Mem0Project
from memoryhub.errors import InvalidInput, NotFound
from memoryhub.tenants.keys import KeyRow
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope

_SALT = "mem0.profiles"
_JOBS_PATH = "/v2/profiles/jobs/"


def _load_settings(key: KeyRow) -> dict[str, Any]:
    """{"enabled", "schema"}. Call inside the tenant's scope."""
    row = Mem0Project.objects.filter(tenant_id=key.tenant_id).first()
    kept: dict[str, Any] = (row.settings if row else {}).get("profile", {})
    return {"enabled": True, "schema": None} | kept


def _render_settings(kept: dict[str, Any]) -> dict[str, Any]:
    of_users = {"schema": kept["schema"], "custom_instructions": None}
    return {"enabled": kept["enabled"], "capabilities": {}, "entities": {"user": of_users}}


class ProfileView(Mem0View):
    scopes: ClassVar = {"GET": "read"}

    def get(self, request: Request, name: str) -> Response:
        key, name = get_request_key(request), normalise_id(name)
        with tenant_scope(key.tenant_id):
            settings = _load_settings(key)
            _get_users(key, [name])
            shown = build_visible_condition(timezone.now(), expired=False)
            rows: list[Any] = list(
                select_memories(key, {"user_id": {"user_id": {"eq": name}}}, shown).rows
            )
        known = list_known_values(rows)
        schema = read_schema(settings["schema"])
        profile = fill_schema(schema, known) if schema else build_plain_profile(known)
        if not settings["enabled"]:
            profile, status = {}, "not_enabled"
        else:
            status = "succeeded" if _has_content(profile) else "insufficient_data"
        latest = max((fact.updated_at for fact in rows), default=None)
        told = {"profile": profile, "status": status, "entity_type": "user", "entity_id": name}
        updated_at = latest.isoformat() if latest else None
        return Response(told | {"updated_at": updated_at, "generation_count": 1, "error": None})


def _has_content(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_has_content, value.values()))
    return value not in (None, [])


def _get_users(key: KeyRow, names: list[str]) -> list[Space]:
    """Call inside the tenant's scope. Raises NotFound unless there are all of these users."""
    known = filter_reached(Space.objects.filter(subject__in=names), key, "id")
    found = [space for space in known if is_user_subject(space.subject)]
    if len(found) < len(names):
        raise NotFound("There is no such user.")
    return found


class EntitySettingsSerializer(serializers.Serializer[Any]):
    schema = MetadataField(**NULL)
    custom_instructions = NameField(**NULL)


class ProfileSettingsSerializer(serializers.Serializer[Any]):
    enabled = StrictBooleanField(required=False)
    entities = serializers.DictField(child=EntitySettingsSerializer(), required=False)


class ProfileSettingsView(Mem0View):
    scopes: ClassVar = {"GET": "read", "POST": "admin"}

    def get(self, request: Request) -> Response:
        key = get_request_key(request)
        with tenant_scope(key.tenant_id):
            return Response(_render_settings(_load_settings(key)))

    def post(self, request: Request) -> Response:
        """Only what is sent is changed; a schema of null is none."""
        key, tenant_id = get_request_key(request), get_whole_tenant_id(request)
        body = self.read_body(request)
        given = validate_body(ProfileSettingsSerializer, body)
        of_users = (body.get("entities") or {}).get("user") or {}
        if unknown := sorted(set(given.get("entities", {})) - {"user"}):
            raise InvalidInput("only users have profiles", field=f"entities.{unknown[0]}")
        if of_users.get("custom_instructions"):
            message = "nothing here follows custom_instructions: a profile is read from memories"
            raise InvalidInput(message, field="entities.user.custom_instructions")
        changed = {name: given[name] for name in ("enabled",) if name in given}
        if "schema" in of_users:
            changed["schema"] = read_schema(of_users["schema"]) or None
        with tenant_scope(tenant_id):
            row, _ = Mem0Project.objects.select_for_update().get_or_create(tenant_id=tenant_id)
            kept = _load_settings(key) | changed
            row.settings = {**row.settings, "profile": kept}
            row.save()
        told = _render_settings(kept)
        return Response(name_ignored(told, list_ignored(body, ("enabled", "entities"))))


class ProfileJobSerializer(serializers.Serializer[Any]):
    operation = serializers.ChoiceField(choices=("trigger", "sample"))
    entity_type = serializers.ChoiceField(choices=("user",), default="user")
    entity_id = TextField(**NULL, max_length=200)
    limit = serializers.IntegerField(allow_null=True, default=3, min_value=1, max_value=10)


class ProfileJobsView(Mem0View):
    """Of one user, or of some whom most was heard of lately."""

    scopes: ClassVar = {"POST": "read"}

    def post(self, request: Request) -> Response:
        key = get_request_key(request)
        wanted = validate_body(ProfileJobSerializer, self.read_body(request))
        sampled = wanted["operation"] == "sample"
        entity_id = normalise_id(wanted["entity_id"] or "")
        if not sampled and not entity_id:
            raise InvalidInput("the id of a user", field="entity_id")
        with tenant_scope(key.tenant_id):
            if sampled:
                names = _list_latest_users(key, wanted["limit"] or 3)
            else:
                names = [space.subject for space in _get_users(key, [entity_id])]
        job = {"tenant": str(key.tenant_id), "count": len(names), "of": wanted["operation"]}
        job_id = signing.dumps(job, salt=_SALT)
        told = {
            "job_id": job_id,
            "status": "succeeded",
            "status_url": f"{_JOBS_PATH}{job_id}/",
            "operation": wanted["operation"],
            "entity_type": "user",
            "entity_count_reserved": len(names),
            "event_id": None,
            "replayed": False,
        }
        return Response(told | ({"sampled": len(names), "entity_ids": names} if sampled else {}))


def _list_latest_users(key: KeyRow, most: int) -> list[str]:
    """Call inside the tenant's scope."""
    spaces = filter_reached(Space.objects.all(), key, "id")
    for prefix in SUBJECT_PREFIXES:
        spaces = spaces.exclude(subject__startswith=prefix)
    newest = spaces.order_by(F("last_activity_at").desc(nulls_last=True), "subject")
    return list(newest.values_list("subject", flat=True)[:most])


class ProfileJobView(Mem0View):
    scopes: ClassVar = {"GET": "read"}

    def get(self, request: Request, job_id: str) -> Response:
        try:
            job = signing.loads(job_id, salt=_SALT)
        except (signing.BadSignature, ValueError):
            job = {}
        if job.get("tenant") != str(get_request_key(request).tenant_id):
            raise NotFound("There is no such job.")
        done = dict.fromkeys(("total", "completed", "succeeded"), job["count"])
        told = {"id": job_id, "operation": job["of"], "entity_type": "user", "status": "succeeded"}
        more = {"enumeration_complete": True, "failed": 0, "skipped": 0}
        return Response({"job": told | done | more})
