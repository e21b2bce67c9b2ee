"""The lab: systems side by side on the same questions."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from memoryhub.console.frame.access import ADMIN, action_at, operator_view, page_at, tenant_page
from memoryhub.console.frame.forms import attempt, run_and_report
from memoryhub.console.frame.lists import read_filters
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.pages.lab import queries, report_plots, report_table
from memoryhub.console.pages.lab.forms import LabRunForm
from memoryhub.errors import MemoryHubError
from memoryhub.lab.datasets import folder
from memoryhub.lab.models import LabRun
from memoryhub.lab.reports.files import LARGEST_REPORT, import_report
from memoryhub.lab.runs import background, services
from memoryhub.lab.systems import SYSTEMS
from memoryhub.tenants.scope import tenant_scope

# What the squares of the third plot can show.
SQUARE_MEASURES = ("recall", "recall@10", "f1", "rouge_l", "judge", "refusal", "context_tokens")


@page_at("lab/", "lab")
@tenant_page()
def lab_run_list_page(request: ConsoleRequest) -> HttpResponse:
    """The whole page, or for the polling browser only the part that changes."""
    filters = read_filters(request.GET, (queries.LAB_STATE_CHOICE, queries.LAB_ORIGIN_CHOICE))
    page = queries.load_lab_runs(filters)
    going = any(run.state in LabRun.ACTIVE_STATES for run in page)
    context = {"filters": filters, "page": page, "going": going}
    return render(request, "lab/_list.html" if request.htmx else "lab/list.html", context)


@page_at("lab/new", "lab-new")
@operator_view
def new_lab_run_page(request: ConsoleRequest) -> HttpResponse:
    """What a run is told. Sent, it waits for a worker."""
    form = LabRunForm(request.POST or None, files=folder.list_files(), systems=SYSTEMS.values())
    if form.is_valid():
        try:
            options, file = form.build_options(), form.cleaned_data["file"]
            run = background.queue_run(request.tenant, options, file, request.actor)
        except MemoryHubError as error:
            form.add_error(None, error.message)
        else:
            return redirect("lab-run", lab_id=run.id)
    context = {
        "form": form,
        "systems": SYSTEMS.values(),
        "chosen": form["presets"].value() or [],
        "folder": folder.get_folder_path(),
    }
    status = 422 if form.errors else 200
    return render(request, "lab/new.html", context, status=status)


@action_at("lab/upload", "lab-upload")
@operator_view
def upload_lab_data(request: ConsoleRequest) -> HttpResponse:
    """A dialogue set into the folder that runs take theirs from, which all tenants share."""
    sent = request.FILES.get("data")
    if sent is None:
        messages.error(request, _("No file selected."))
        return redirect("lab-new")
    count = attempt(
        request,
        lambda: folder.store_file(str(sent.name), sent.chunks()),
        _("Not imported: %(why)s."),
    )
    if count is not None:
        said = ngettext("Imported: %(n)s dialogue.", "Imported: %(n)s dialogues.", count)
        messages.success(request, said % {"n": count})
    return redirect("lab-new")


@page_at("lab/import", "lab-import")
@tenant_page(role=ADMIN)
def import_lab_report(request: ConsoleRequest) -> HttpResponse:
    """Show a report file as a page. Who comes back here from signing in is led to the form."""
    if request.method != "POST":
        return redirect("lab")
    sent = request.FILES.get("report")
    if sent is None:
        messages.error(request, _("No report file selected."))
        return redirect("lab")
    content = sent.read(LARGEST_REPORT + 1)
    run = attempt(
        request,
        lambda: import_report(request.tenant, content, request.actor),
        _("Not imported: %(why)s."),
    )
    if run is None:
        return redirect("lab")
    messages.success(request, _("Imported."))
    return redirect("lab-run", lab_id=run.id)


@page_at("lab/<uuid:lab_id>/", "lab-run")
@tenant_page()
def lab_run_page(request: ConsoleRequest, lab_id: UUID) -> HttpResponse:
    """The whole page, or for the polling browser only how far it is."""
    row = queries.get_lab_run_or_404(lab_id)
    going = row.state in LabRun.ACTIVE_STATES
    if request.htmx:
        answer = render(request, "lab/_progress.html", {"run": row, "going": going})
        if not going:
            answer["HX-Refresh"] = "true"  # it has ended: the page is to be loaded anew
        return answer
    report = queries.load_lab_report(row)
    filters = read_filters(request.GET, (queries.build_category_choice(report),))
    square = request.GET.get("square", SQUARE_MEASURES[0])
    category, sort = filters["category"], request.GET.get("sort", "")
    measures = _list_square_measures(report)
    context = _describe_lab_settings(report) | {
        "run": row,
        "report": report,
        "asked": sum(report["dataset"]["used"]["questions"].values()),
        "filters": filters,
        "table": report_table.build_table(report["systems"], category, sort),
        "squares": [(name, report_table.MEASURES_BY_NAME[name].label) for name in measures],
        "square": square if square in measures else SQUARE_MEASURES[0],
        "going": going,
        "here": row.file in {file.name for file in folder.list_files()},
    }
    return render(request, "lab/run.html", context | _build_lab_plots(report, context["square"]))


def _list_square_measures(report: dict[str, Any]) -> list[str]:
    """Measures that a system has in some category."""
    cells = [row for system in report["systems"] for row in system["by_category"].values()]
    return [name for name in SQUARE_MEASURES if any(row.get(name) is not None for row in cells)]


def _build_lab_plots(report: dict[str, Any], square: str) -> dict[str, Any]:
    systems = [system for system in report["systems"] if system["overall"].get("questions")]
    if not systems:
        return {}
    share = report_table.MEASURES_BY_NAME[square].shape != "count"
    return {
        "curves": report_plots.plot_recall_against_tokens(systems),
        "times": report_plots.plot_latency(systems),
        "categories": report_plots.plot_by_category(
            systems, square, queries.list_category_names(report), share
        ),
    }


def _describe_lab_settings(report: dict[str, Any]) -> dict[str, Any]:
    """What every figure rests on, as (name, value) pairs."""
    given, made = report["settings"], report["environment"]
    told = [
        (_("Presets"), ", ".join(given["presets"])),
        (_("Questions"), given["questions"] or _("all")),
        (_("Categories"), ", ".join(map(str, given["categories"])) or _("all")),
        (_("Seed"), given["seed"]),
        (_("Conversations"), given["limit_conversations"] or _("all")),
        (_("Turns per conversation"), given["turns"] or _("all")),
        (_("Tokens of a context"), given["budget_tokens"]),
    ]
    return {"told": told, "engine": made["engine"], "judge": made["judge"], "made": made}


@page_at("lab/<uuid:lab_id>/questions/", "lab-questions")
@tenant_page()
def lab_question_list_page(request: ConsoleRequest, lab_id: UUID) -> HttpResponse:
    row = queries.get_lab_run_or_404(lab_id)
    told = {"dataset": row.dataset}
    filters = read_filters(
        request.GET, (queries.build_category_choice(told), queries.LAB_FOUND_CHOICE)
    )
    page = queries.load_lab_questions(row, filters)
    context = {
        "run": row,
        "filters": filters,
        "page": page,
        "called": queries.list_category_names(told),
    }
    return render(request, "lab/questions.html", context)


@page_at("lab/<uuid:lab_id>/questions/<uuid:outcome_id>/", "lab-question")
@tenant_page()
def lab_question_page(request: ConsoleRequest, lab_id: UUID, outcome_id: UUID) -> HttpResponse:
    """What every system handed over and answered."""
    row = queries.get_lab_run_or_404(lab_id)
    asked = queries.get_outcome_or_404(row, outcome_id)
    before, after = queries.find_adjacent_outcomes(row, asked)
    names = queries.list_category_names({"dataset": row.dataset})
    context = {
        "run": row,
        "asked": asked,
        "given": queries.load_system_outcomes(row, asked),
        "before": before,
        "after": after,
        "category": names.get(str(asked.category), ""),
    }
    return render(request, "lab/question.html", context)


@page_at("lab/<uuid:lab_id>/report.json", "lab-report")
@tenant_page()
def download_lab_report(request: ConsoleRequest, lab_id: UUID) -> HttpResponse:
    """The report as a file."""
    row = queries.get_lab_run_or_404(lab_id)
    answer = JsonResponse(queries.load_lab_report(row), json_dumps_params={"indent": 1})
    answer["Content-Disposition"] = f'attachment; filename="lab-{row.id}.json"'
    return answer


@action_at("lab/<uuid:lab_id>/stop", "lab-stop")
@tenant_page(role=ADMIN)
def stop_lab_run(request: ConsoleRequest, lab_id: UUID) -> HttpResponse:
    row = queries.get_lab_run_or_404(lab_id)
    said = _("It stops before its next question. Answers so far are kept.")
    run_and_report(request, lambda: background.stop_run(row, request.actor), said)
    return redirect("lab-run", lab_id=row.id)


@action_at("lab/<uuid:lab_id>/resume", "lab-resume")
@operator_view
def resume_lab_run(request: ConsoleRequest, lab_id: UUID) -> HttpResponse:
    with tenant_scope(request.tenant.id):
        row = queries.get_lab_run_or_404(lab_id)
    run_and_report(
        request, lambda: background.queue_run_again(row), _("It continues where it stopped.")
    )
    return redirect("lab-run", lab_id=row.id)


@action_at("lab/<uuid:lab_id>/delete", "lab-delete")
@tenant_page(role=ADMIN)
def delete_lab_run(request: ConsoleRequest, lab_id: UUID) -> HttpResponse:
    row = queries.get_lab_run_or_404(lab_id)
    if row.state in LabRun.ACTIVE_STATES:
        messages.error(request, _("Not deleted: stop it first."))
        return redirect("lab-run", lab_id=row.id)
    services.delete_run(row)
    messages.success(request, _("Deleted, with its answers."))
    return redirect("lab")
