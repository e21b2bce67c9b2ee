"""The lab: systems side by side on the same questions."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from memoryhub.console import measures, plots
from memoryhub.console.access import operator_view, tenant_page
from memoryhub.console.forms import RunForm
from memoryhub.console.listing import read_filters
from memoryhub.console.outcomes import tried
from memoryhub.console.queries import lab as queries
from memoryhub.console.requests import ConsoleRequest
from memoryhub.errors import MemoryHubError
from memoryhub.lab import background, shelf
from memoryhub.lab import runs as services
from memoryhub.lab.importing import LARGEST, import_report
from memoryhub.lab.models import LabRun
from memoryhub.lab.systems import SYSTEMS
from memoryhub.tenants.models import Membership
from memoryhub.tenants.scope import tenant_scope

ADMIN = Membership.Role.ADMIN
# What the squares of the third plot can show.
SQUARES = ("recall", "recall@10", "f1", "rouge_l", "judge", "refusal", "context_tokens")


@tenant_page()
def runs(request: ConsoleRequest) -> HttpResponse:
    """The whole page, or for the polling browser only the part that changes."""
    filters = read_filters(request.GET, (queries.STATE, queries.WHENCE))
    page = queries.runs(filters)
    going = any(run.state in queries.ACTIVE for run in page)
    context = {"filters": filters, "page": page, "going": going}
    return render(request, "parts/lab_runs.html" if request.htmx else "lab.html", context)


@operator_view
def new(request: ConsoleRequest) -> HttpResponse:
    """What a run is told. Sent, it waits for a worker."""
    form = RunForm(request.POST or None, files=shelf.files(), systems=SYSTEMS.values())
    if form.is_valid():
        try:
            options, file = form.options(), form.cleaned_data["file"]
            run = background.begin(request.tenant, options, file, request.user.get_username())
        except MemoryHubError as error:
            form.add_error(None, error.message)
        else:
            return redirect("lab-run", lab_id=run.id)
    context = {
        "form": form,
        "systems": SYSTEMS.values(),
        "chosen": form["presets"].value() or [],
        "folder": shelf.folder(),
    }
    status = 422 if form.errors else 200
    return render(request, "lab_new.html", context, status=status)


@tenant_page(role=ADMIN)
def take_in(request: ConsoleRequest) -> HttpResponse:
    """Show a report file as a page. Who comes back here from signing in is led to the form."""
    if request.method != "POST":
        return redirect("lab")
    sent = request.FILES.get("report")
    if sent is None:
        messages.error(request, _("Nothing was sent: choose a report file."))
        return redirect("lab")
    try:
        run = import_report(request.tenant, sent.read(LARGEST + 1), request.user.get_username())
    except MemoryHubError as error:
        messages.error(request, _("Not imported: %(why)s.") % {"why": error.message})
        return redirect("lab")
    messages.success(request, _("Imported."))
    return redirect("lab-run", lab_id=run.id)


@tenant_page()
def run(request: ConsoleRequest, lab_id: UUID) -> HttpResponse:
    """The whole page, or for the polling browser only how far it is."""
    row = queries.run_or_404(lab_id)
    if request.htmx:
        return _progress(request, row)
    report = queries.report(row)
    filters = read_filters(request.GET, (queries.category_choice(report),))
    square = request.GET.get("square", SQUARES[0])
    table = measures.table(report["systems"], filters["category"], request.GET.get("sort", ""))
    context = _settings(report) | {
        "run": row,
        "report": report,
        "asked": sum(report["dataset"]["used"]["questions"].values()),
        "filters": filters,
        "table": table,
        "squares": [(name, measures.BY_NAME[name].label) for name in _shown(report)],
        "square": square if square in _shown(report) else SQUARES[0],
        "going": row.state in queries.ACTIVE,
        "here": row.file in {file.name for file in shelf.files()},
    }
    return render(request, "lab_run.html", context | _plots(report, context["square"]))


def _progress(request: ConsoleRequest, row: LabRun) -> HttpResponse:
    """When it has ended, the browser is to load the page anew."""
    going = row.state in queries.ACTIVE
    answer = render(request, "parts/lab_progress.html", {"run": row, "going": going})
    if not going:
        answer["HX-Refresh"] = "true"
    return answer


def _shown(report: dict[str, Any]) -> list[str]:
    """Measures that a system has in some category."""
    cells = [row for system in report["systems"] for row in system["by_category"].values()]
    return [name for name in SQUARES if any(row.get(name) is not None for row in cells)]


def _plots(report: dict[str, Any], square: str) -> dict[str, Any]:
    systems = [system for system in report["systems"] if system["overall"].get("questions")]
    if not systems:
        return {}
    share = measures.BY_NAME[square].shape != "count"
    return {
        "curves": plots.recall_against_tokens(systems),
        "times": plots.latency(systems),
        "categories": plots.by_category(systems, square, queries.called(report), share),
    }


def _settings(report: dict[str, Any]) -> dict[str, Any]:
    """What every figure rests on, as (name, value) pairs."""
    given, made = report["settings"], report["environment"]
    told = [
        (_("Presets"), ", ".join(given["presets"])),
        (_("Questions"), given["questions"] or _("every one")),
        (_("Categories"), ", ".join(map(str, given["categories"])) or _("all")),
        (_("Seed"), given["seed"]),
        (_("Conversations"), given["limit_conversations"] or _("all")),
        (_("Turns of each"), given["turns"] or _("all")),
        (_("Tokens of a context"), given["budget_tokens"]),
    ]
    return {"told": told, "engine": made["engine"], "judge": made["judge"], "made": made}


@tenant_page()
def questions(request: ConsoleRequest, lab_id: UUID) -> HttpResponse:
    row = queries.run_or_404(lab_id)
    told = {"dataset": row.dataset}
    filters = read_filters(request.GET, (queries.category_choice(told), queries.FOUND))
    page = queries.questions(row, filters)
    context = {"run": row, "filters": filters, "page": page, "called": queries.called(told)}
    return render(request, "lab_questions.html", context)


@tenant_page()
def question(request: ConsoleRequest, lab_id: UUID, outcome_id: UUID) -> HttpResponse:
    """What every system handed over and answered."""
    row = queries.run_or_404(lab_id)
    asked = queries.outcome_or_404(row, outcome_id)
    before, after = queries.neighbours(row, asked)
    context = {
        "run": row,
        "asked": asked,
        "given": queries.given(row, asked),
        "before": before,
        "after": after,
        "category": queries.called({"dataset": row.dataset}).get(str(asked.category), ""),
    }
    return render(request, "lab_question.html", context)


@tenant_page()
def report(request: ConsoleRequest, lab_id: UUID) -> HttpResponse:
    """The report as a file."""
    row = queries.run_or_404(lab_id)
    answer = JsonResponse(queries.report(row), json_dumps_params={"indent": 1})
    answer["Content-Disposition"] = f'attachment; filename="lab-{row.id}.json"'
    return answer


@require_POST
@tenant_page(role=ADMIN)
def stop(request: ConsoleRequest, lab_id: UUID) -> HttpResponse:
    row, actor = queries.run_or_404(lab_id), request.user.get_username()
    said = _("It ends before its next question. What was answered is kept.")
    tried(request, lambda: background.stop(row, actor), said)
    return redirect("lab-run", lab_id=row.id)


@require_POST
@operator_view
def resume(request: ConsoleRequest, lab_id: UUID) -> HttpResponse:
    with tenant_scope(request.tenant.id):
        row = queries.run_or_404(lab_id)
    tried(request, lambda: background.resume(row), _("It goes on where it stood."))
    return redirect("lab-run", lab_id=row.id)


@require_POST
@tenant_page(role=ADMIN)
def delete(request: ConsoleRequest, lab_id: UUID) -> HttpResponse:
    row = queries.run_or_404(lab_id)
    if row.state in queries.ACTIVE:
        messages.error(request, _("Not deleted: stop it first."))
        return redirect("lab-run", lab_id=row.id)
    services.delete(row)
    messages.success(request, _("Deleted, with its answers."))
    return redirect("lab")
