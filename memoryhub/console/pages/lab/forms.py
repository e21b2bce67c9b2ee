"""Forms of more than a few fields."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from memoryhub.lab.datasets.folder import DatasetFile
from memoryhub.lab.runs.plan import RunOptions
from memoryhub.lab.systems import System
from memoryhub.tenants.models import Tenant

MOST_CONVERSATIONS, MOST_TURNS, MOST_TOKENS = 10_000, 100_000, 200_000


class LabRunForm(forms.Form):
    """What a run of the lab is told."""

    file = forms.ChoiceField(label=_("Data"))
    presets = forms.MultipleChoiceField(widget=forms.CheckboxSelectMultiple, label=_("Systems"))
    questions = forms.IntegerField(
        min_value=1,
        max_value=100_000,
        required=False,
        initial=50,
        label=_("Questions"),
        help_text=_("In total, spread over categories and conversations. Leave empty for all."),
    )
    limit_conversations = forms.IntegerField(
        min_value=1,
        max_value=MOST_CONVERSATIONS,
        required=False,
        initial=1,
        label=_("Conversations"),
        help_text=_(
            "Takes the first ones. Each is read once for all systems that store memories "
            "the same way."
        ),
    )
    turns = forms.IntegerField(
        min_value=1,
        max_value=MOST_TURNS,
        required=False,
        label=_("Turns per conversation"),
        help_text=_("Only questions whose evidence is among them are asked. Leave empty for all."),
    )
    categories = forms.CharField(
        max_length=100,
        required=False,
        label=_("Categories"),
        help_text=_("Numbers, separated by commas. Leave empty for all."),
    )
    seed = forms.IntegerField(
        min_value=0,
        max_value=2**31 - 1,
        initial=0,
        label=_("Seed"),
        help_text=_("The same seed draws the same questions."),
    )
    budget_tokens = forms.IntegerField(
        min_value=50,
        max_value=MOST_TOKENS,
        initial=2000,
        label=_("Tokens of a context"),
        help_text=_("Baselines return the context their papers describe."),
    )
    engine = forms.ChoiceField(choices=Tenant.Engine.choices, label=_("Engine"))
    judge = forms.ChoiceField(
        choices=(("off", _("Off")), ("llm", _("Have a model grade each answer"))), label=_("Judge")
    )

    def __init__(
        self, *args: Any, files: Sequence[DatasetFile], systems: Iterable[System], **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.fields["file"].choices = [(f.name, f.name) for f in files]  # type: ignore[attr-defined]  # a ChoiceField
        names = [(system.name, system.title) for system in systems]
        self.fields["presets"].choices = names  # type: ignore[attr-defined]  # a ChoiceField
        self.fields["presets"].initial = ["balanced", "mem0", "rag", "full_context"]

    def clean_categories(self) -> tuple[int, ...]:
        given = self.cleaned_data["categories"].replace("，", ",").split(",")
        parts = [part.strip() for part in given if part.strip()]
        if not all(part.isdecimal() and len(part) < 5 for part in parts):
            raise forms.ValidationError(_("Numbers, separated by commas."))
        return tuple(int(part) for part in parts)

    def build_options(self) -> RunOptions:
        """Of a valid form."""
        told = {n: v for n, v in self.cleaned_data.items() if n != "file"}
        return RunOptions(**{**told, "presets": tuple(told["presets"])})
