"""A report file of another hub, or of the command line, checked before it is shown as a page."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from django.utils import timezone
from django.utils.translation import gettext as _
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, FiniteFloat, ValidationError

from memoryhub.errors import Conflict, InvalidInput
from memoryhub.lab.models import LabRun
from memoryhub.lab.reports.build import REPORT_FORMAT
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope

LARGEST_REPORT = 8 * 1024 * 1024  # bytes
Name = Annotated[str, Field(min_length=1, max_length=200)]
Words = Annotated[str, Field(max_length=20_000)]
Number = Annotated[str, Field(pattern=r"^\d{1,4}$")]
Count = Annotated[int, Field(ge=0, le=10**12)]
Figures = dict[Name, FiniteFloat | None]
Calls = dict[Name, dict[Name, FiniteFloat]]


class _ReportPart(BaseModel):
    """What is not named here is kept and not shown."""

    model_config = ConfigDict(extra="allow", strict=True)


class _Run(_ReportPart):
    id: Name
    state: Literal["done", "running", "interrupted", "failed", "queued"]
    started_at: AwareDatetime
    finished_at: AwareDatetime | None
    answers_wanted: Count
    answers_given: Count
    error: Words


class _Settings(_ReportPart):
    presets: list[Name]
    questions: Count | None
    categories: list[Count]
    seed: int
    engine: Name
    judge: Name
    budget_tokens: Count
    limit_conversations: Count | None
    turns: Count | None


class _Model(_ReportPart):
    name: Name
    version: Words
    model: Words


class _Judge(_Model):
    prompt: Words


class _Embedder(_ReportPart):
    name: Name
    dimension: Count
    max_tokens: Count


class _Environment(_ReportPart):
    memoryhub: Name
    engine: _Model
    embedder: _Embedder
    prompts: dict[Name, Name]
    judge: _Judge | None
    prices: dict[Name, dict[Name, FiniteFloat]]


class _Category(_ReportPart):
    number: Count
    content: Name
    others: dict[Name, Name]


class _Whole(_ReportPart):
    conversations: Count
    turns: Count
    questions: dict[Number, Count]


class _Used(_ReportPart):
    conversations: list[Name]
    turns: Count
    questions: dict[Number, Count]
    with_evidence: Count
    with_answers: Count


class _Dataset(_ReportPart):
    name: Name
    format: Name
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    categories: list[_Category]
    whole: _Whole
    used: _Used


class _Point(_ReportPart):
    tokens: Count
    recall: FiniteFloat | None


class _Times(_ReportPart):
    p50: FiniteFloat
    p95: FiniteFloat


class _Latency(_ReportPart):
    recall: _Times
    answer: _Times


class _Writing(_ReportPart):
    shared_with: list[Name]
    turns: Count
    seconds: FiniteFloat
    turns_per_second: FiniteFloat | None
    counts: dict[Name, Count]
    calls: Calls
    errors: list[Words]


class _Money(_ReportPart):
    writing: FiniteFloat
    asking: FiniteFloat
    judging: FiniteFloat


class _System(_ReportPart):
    name: Annotated[str, Field(min_length=1, max_length=40)]
    title: Name
    what: Words
    paper: Words
    signature: Words
    reader: Name
    options: dict[Name, Any]
    policy: dict[Name, Any]
    overall: Figures
    unanswerable: Figures
    by_category: dict[Number, Figures]
    by_dialogue: dict[Name, Figures]
    curve: list[_Point]
    latency_ms: _Latency
    calls: Calls
    judge_calls: Calls
    writing: _Writing
    money: _Money
    degraded: dict[Name, Count]
    errors: list[Words]


class ReportFile(_ReportPart):
    format: Literal["memoryhub.lab/1"]
    run: _Run
    settings: _Settings
    environment: _Environment
    dataset: _Dataset
    systems: Annotated[list[_System], Field(min_length=1, max_length=100)]


def parse_report(raw: bytes) -> ReportFile:
    """Raises InvalidInput that names what is wrong with the file."""
    if len(raw) > LARGEST_REPORT:
        raise InvalidInput(
            _("a report has at most %(n)s MB") % {"n": LARGEST_REPORT // 1024**2}, field="report"
        )
    if b"\\u0000" in raw or b"\0" in raw:
        raise InvalidInput(_("a report holds no NUL"), field="report")
    try:
        return ReportFile.model_validate_json(raw)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])[:200]
        told = {"format": REPORT_FORMAT, "where": where, "why": first["msg"][:200]}
        if where:
            said = _("this is no report of the lab (%(format)s) at %(where)s: %(why)s") % told
        else:
            said = _("this is no report of the lab (%(format)s): %(why)s") % told
        raise InvalidInput(said, field="report") from error


def import_report(owner: Tenant, raw: bytes, actor: str) -> LabRun:
    """Keep a report file as a run that can be looked at; it has no outcomes of its own.

    Raises InvalidInput for anything else, Conflict where it is here already.
    """
    told = parse_report(raw)
    document, run = told.model_dump(mode="json"), told.run
    with tenant_scope(owner.id):
        known = LabRun.objects.filter(imported=True, report__run__id=run.id)
        own = LabRun.objects.filter(imported=False).values_list("id", flat=True)
        if known.exists() or run.id in map(str, own):
            raise Conflict(_("this report is here already"), code="report_known")
        made: LabRun = LabRun.objects.create(
            tenant=owner,
            state=LabRun.State.DONE,
            imported=True,
            actor=actor[:120],
            **{name: document[name] for name in ("settings", "dataset", "environment")},
            systems=[{"name": s["name"], "title": s["title"]} for s in document["systems"]],
            report=document,
            total=run.answers_wanted,
            done=run.answers_given,
            error=run.error,
            created_at=run.started_at,
            updated_at=timezone.now(),
            finished_at=run.finished_at,
        )
    return made
