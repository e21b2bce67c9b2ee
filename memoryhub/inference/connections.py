"""Where language models are asked: a tenant's own endpoint, else the hub's, else the environment's;
and which embedder the operator chose.

Each is taken whole: a key goes to the endpoint that it was entered for, and to no other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from memoryhub.errors import EngineError, InvalidInput
from memoryhub.inference.endpoint_addresses import parse_origin
from memoryhub.inference.models import HubModels
from memoryhub.inference.prices import Prices, build_prices
from memoryhub.tenants.audit import Action, record_audit_entry
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import hub_scope, tenant_scope
from memoryhub.tenants.sealing import SealBroken, open_sealed, reseal, seal_secret

Level = Literal["tenant", "hub"]
Source = Literal["tenant", "hub", "environment"]
MAX_KEY_LENGTH, MAX_MODEL_LENGTH = 1000, 120


@dataclass(frozen=True, slots=True)
class ModelConnection:
    """An OpenAI-compatible endpoint with its key and the model that is asked there. `source`:
    where it was set."""

    url: str
    model: str
    key: str = field(default="", repr=False)
    source: Source = "environment"


@dataclass(frozen=True, slots=True)
class ConnectionSummary:
    """What of a connection may be shown."""

    url: str
    model: str
    has_key: bool
    source: Source


@dataclass(frozen=True, slots=True)
class ConnectionDraft:
    """As somebody enters it. `key`: None leaves the one that is kept, "" is none."""

    url: str
    model: str
    key: str | None = field(default=None, repr=False)


def find_connection(tenant: Tenant) -> ModelConnection:
    """The one by which the tenant's questions are asked. Raises a permanent EngineError where its
    key can't be opened. At most one statement, and a scope's."""
    if tenant.endpoint:
        return _open_connection(tenant, "tenant")
    return find_hub_connection()


def find_hub_connection() -> ModelConnection:
    """For all tenants without their own. Raises as `find_connection` does."""
    row = load_hub_models()
    if row.endpoint:
        return _open_connection(row, "hub")
    return ModelConnection(settings.OPENAI_BASE_URL, settings.LLM_MODEL, settings.OPENAI_API_KEY)


def describe_connection(tenant: Tenant, hub: HubModels | None = None) -> ConnectionSummary:
    """The one by which the tenant's questions are asked. Opens no key. `hub`: what is set for the
    whole hub, where it was read already."""
    row: Tenant | HubModels = tenant if tenant.endpoint else hub or load_hub_models()
    if row.endpoint:
        source: Source = "tenant" if isinstance(row, Tenant) else "hub"
        return ConnectionSummary(row.endpoint, row.model, bool(row.sealed_key), source)
    has_key = bool(settings.OPENAI_API_KEY)
    return ConnectionSummary(settings.OPENAI_BASE_URL, settings.LLM_MODEL, has_key, "environment")


def is_connected(tenant: Tenant) -> bool:
    """Whether there is an endpoint and a model to ask there."""
    known = describe_connection(tenant)
    return bool(known.url and known.model)


def load_hub_models() -> HubModels:
    """What the operator set in the console for the whole hub; empty where nothing is set."""
    with hub_scope():
        return HubModels.objects.first() or HubModels()


def _open_connection(row: Tenant | HubModels, source: Source) -> ModelConnection:
    key = open_sealed_key(row.endpoint, row.sealed_key)
    return ModelConnection(row.endpoint, row.model, key, source)


def open_sealed_key(endpoint: str, sealed: str) -> str:
    """Raises a permanent EngineError that names the endpoint where it can't be opened."""
    try:
        return open_sealed(sealed)
    except SealBroken as error:
        said = _("The key of %(url)s can't be read: %(why)s") % {
            "url": endpoint,
            "why": error.message,
        }
        raise EngineError(said, permanent=True, code="key_unreadable") from error


def load_prices() -> Prices:
    """What models cost now."""
    return merge_prices(load_hub_models())


def merge_prices(hub: HubModels) -> Prices:
    """The environment's price list, with what the operator set in the console in its place."""
    return {**settings.MODEL_PRICES, **build_prices(hub.prices)}


def may_name_endpoint(*, operates: bool) -> bool:
    """Whether an admin of a tenant, or who `operates` the hub, may name an endpoint at all."""
    return operates or bool(settings.TENANT_ENDPOINTS)


def check_draft(
    draft: ConnectionDraft, kept: Tenant | HubModels, *, operates: bool
) -> ModelConnection:
    """The draft as a connection, with the key that is kept where none was entered: that one stays
    with its own host. Operators name any endpoint, since they could in the environment; others
    those of `MEMORYHUB_TENANT_ENDPOINTS`. Raises InvalidInput naming the field."""
    url, model = draft.url.strip(), " ".join(draft.model.replace("\0", "").split())
    origin = parse_origin(url)
    if not operates and origin not in settings.TENANT_ENDPOINTS:
        said = ", ".join(settings.TENANT_ENDPOINTS) or _("none")
        raise InvalidInput(
            _("the hub's operator allows these hosts: %(hosts)s") % {"hosts": said}, field="url"
        )
    if not 1 <= len(model) <= MAX_MODEL_LENGTH:
        message = _("1 to %(limit)s characters") % {"limit": MAX_MODEL_LENGTH}
        raise InvalidInput(message, field="model")
    return ModelConnection(url, model, _choose_key(draft, kept, origin))


def _choose_key(draft: ConnectionDraft, kept: Tenant | HubModels, origin: str) -> str:
    if draft.key is None:
        if not kept.sealed_key:
            return ""
        if parse_origin(kept.endpoint) != origin:
            raise InvalidInput(_("another host: enter its key"), field="key")
        try:
            return open_sealed(kept.sealed_key)
        except SealBroken as error:
            raise InvalidInput(error.message, field="key") from error
    if len(draft.key) > MAX_KEY_LENGTH or not (draft.key.isascii() and draft.key.isprintable()):
        message = _("at most %(limit)s characters, printable ASCII") % {"limit": MAX_KEY_LENGTH}
        raise InvalidInput(message, field="key")
    return draft.key.strip()


def save_connection(level: Level, tenant_id: UUID, wanted: ModelConnection, actor: str) -> None:
    """Have the tenant, or every tenant without its own, ask there from the next question on. What
    the operator sets for the hub is written down in the tenant that they work for."""
    values = {
        "endpoint": wanted.url,
        "model": wanted.model,
        "sealed_key": seal_secret(wanted.key),
    }
    key = "with a key" if wanted.key else "without a key"
    _write_connection(level, tenant_id, values, actor, f"{wanted.url}, {wanted.model}, {key}")


def clear_connection(level: Level, tenant_id: UUID, actor: str) -> None:
    """Back to the hub's; of the hub, to the environment's. The key is gone."""
    values = {"endpoint": "", "model": "", "sealed_key": ""}
    _write_connection(level, tenant_id, values, actor, "taken away")


def _write_connection(
    level: Level, tenant_id: UUID, values: Mapping[str, str], actor: str, told: str
) -> None:
    with transaction.atomic():
        if level == "hub":
            _update_hub_models(actor, values)
        with tenant_scope(tenant_id):
            if level == "tenant":
                Tenant.objects.filter(id=tenant_id).update(**values)
            about = "endpoint of the hub" if level == "hub" else "endpoint"
            record_audit_entry(tenant_id, Action.MODELS_CHANGED, actor, about, told)


def save_prices(listed: Mapping[str, Any], tenant_id: UUID, actor: str) -> None:
    """The hub's own price list, whole: {model: {"prompt": money, "completion": money}} per million
    tokens. Raises InvalidInput."""
    try:
        prices = build_prices(listed)
    except ValueError as error:
        raise InvalidInput(str(error), field="prices") from error
    kept = {
        model[:MAX_MODEL_LENGTH]: {"prompt": str(p.prompt), "completion": str(p.completion)}
        for model, p in prices.items()
    }
    with transaction.atomic():
        _update_hub_models(actor, {"prices": kept})
        with tenant_scope(tenant_id):
            told = ", ".join(f"{m} {p['prompt']}/{p['completion']}" for m, p in kept.items())
            record_audit_entry(
                tenant_id, Action.MODELS_CHANGED, actor, "prices of the hub", told or "none"
            )


def save_embedder(name: str, url: str, key: str, tenant_id: UUID, actor: str) -> None:
    """Have the vectors of new spaces made by the embedder of this name, and let the others change
    over to it; "" for the environment's. `url` and `key`: of the endpoint that it is asked at."""
    values = {"embedder": name, "embedder_endpoint": url}
    with transaction.atomic():
        _update_hub_models(actor, {**values, "sealed_embedder_key": seal_secret(key)})
        with tenant_scope(tenant_id):
            told = ", ".join(filter(None, (name or "the environment's", url)))
            record_audit_entry(tenant_id, Action.MODELS_CHANGED, actor, "embedder of the hub", told)


def _update_hub_models(actor: str, values: Mapping[str, Any]) -> None:
    stamp = {"changed_by": actor[:120], "changed_at": timezone.now()}
    with hub_scope():
        HubModels.objects.update_or_create(id=1, defaults={**values, **stamp})


@dataclass(frozen=True, slots=True)
class Resealing:
    """How many secrets were sealed anew, and whose could not be opened."""

    done: int
    broken: list[str]


def reseal_keys() -> Resealing:
    """Seal every kept key under the hub's key of now. Call outside every scope."""
    done, broken = 0, []
    hub = HubModels.objects.first()
    rows: list[tuple[str, Any, str]] = []
    if hub:
        rows = [("the hub", hub, "sealed_key"), ("the embedder", hub, "sealed_embedder_key")]
    for tenant_id in _list_sealed_tenants():
        with tenant_scope(tenant_id):
            tenant = Tenant.objects.get(id=tenant_id)
        rows.append((tenant.slug, tenant, "sealed_key"))
    for name, row, column in rows:
        kept = getattr(row, column)
        if not kept:
            continue
        try:
            sealed = reseal(kept)
        except SealBroken:
            broken.append(name)
            continue
        # Whoever entered another key meanwhile sealed it under the key of now.
        same = type(row).objects.filter(pk=row.pk, **{column: kept})
        if isinstance(row, Tenant):
            with tenant_scope(row.id):
                done += same.update(**{column: sealed})
        else:
            done += same.update(**{column: sealed})
    return Resealing(done, broken)


def _list_sealed_tenants() -> list[UUID]:
    """With a key of their own, whoever asks: for commands, which act for the operator."""
    with transaction.get_connection().cursor() as cursor:
        cursor.execute("SELECT id FROM memoryhub_sealed_tenants()")
        return [row[0] for row in cursor.fetchall()]
