"""What the model is asked to send about questions."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator

from memoryhub.engines.llm.replies.claims import Text, Texts


def _coerce_count(value: Any) -> Any:
    try:
        return max(0, int(float(value)))
    except (TypeError, ValueError, OverflowError):
        return 0


def _coerce_flag(value: Any) -> Any:
    return bool(value) if value is None or isinstance(value, int | float) else value


def _coerce_conflicts(value: Any) -> Any:
    """One conflict for a list of them; what is no object is none."""
    listed = value if isinstance(value, list) else [value]
    return [each for each in listed if isinstance(each, dict)]


Flag = Annotated[bool, BeforeValidator(_coerce_flag)]


class RouteReply(BaseModel):
    query: Text
    fine: Flag = False
    abstract: Flag = False
    event: Flag = False
    atomic: Flag = True
    want: Annotated[int, BeforeValidator(_coerce_count)] = 0


class ConflictReply(BaseModel):
    handles: Texts = []
    why: Text = ""


class JudgeReply(BaseModel):
    relevant: Texts
    conflicts: Annotated[list[ConflictReply], BeforeValidator(_coerce_conflicts)] = []
    enough: Flag


class NamesReply(BaseModel):
    names: Texts


class GradeReply(BaseModel):
    correct: Flag
    why: Text = ""
