from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from memoryhub import env


def test_unset_and_empty_mean_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("X_N", raising=False)
    assert env.read_integer("X_N", 7) == 7
    monkeypatch.setenv("X_N", " ")
    assert env.read_integer("X_N", 7) == 7


@pytest.mark.parametrize(
    ("read", "bad"),
    [
        (lambda: env.read_integer("X_N", 1), "many"),
        (lambda: env.read_integer("X_N", 1, least=1), "0"),
        (lambda: env.read_number("X_N", 1.0), "fast"),
        (lambda: env.read_flag("X_N", False), "maybe"),
        (lambda: env.read_choice("X_N", "a", ("a", "b")), "c"),
    ],
)
def test_a_bad_value_names_its_variable(
    monkeypatch: pytest.MonkeyPatch, read: object, bad: str
) -> None:
    monkeypatch.setenv("X_N", bad)
    with pytest.raises(env.BadSetting, match=f"X_N='{bad}'"):
        read()  # type: ignore[operator]  # a reader, see the parameters


def test_values_are_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("X_N", "yes")
    assert env.read_flag("X_N", False) is True
    monkeypatch.setenv("X_N", "a, b")
    assert env.read_names("X_N") == ["a", "b"]
    monkeypatch.setenv("X_N", str(tmp_path))
    assert env.read_path("X_N", Path("/")) == tmp_path


def test_a_bad_setting_stops_the_start_with_its_name() -> None:
    code = "import os; os.environ['MEMORYHUB_PORT'] = 'high'; import memoryhub.settings"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode != 0
    assert "MEMORYHUB_PORT='high'" in ran.stderr


def test_a_start_loads_no_models_and_no_dictionaries() -> None:
    """Every process of a hub starts so, and most read no English: they would wait for nothing."""
    code = (
        "import django, sys; django.setup(); import memoryhub.urls;"
        "print([name for name in ('spacy', 'lemminflect', 'torch') if name in sys.modules])"
    )
    given = {**os.environ, "DJANGO_SETTINGS_MODULE": "memoryhub.settings"}
    ran = subprocess.run(
        [sys.executable, "-c", code], env=given, capture_output=True, text=True, check=False
    )
    assert ran.stdout.strip() == "[]", ran.stderr
