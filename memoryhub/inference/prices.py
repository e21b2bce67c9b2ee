"""What calls cost, by a price list of the operator. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

MILLION = Decimal(1_000_000)


@dataclass(frozen=True, slots=True)
class Price:
    """Money per million tokens, in whatever currency the operator pays."""

    prompt: Decimal
    completion: Decimal


Prices = Mapping[str, Price]


def parse_prices(text: str) -> Prices:
    """{"model": {"prompt": 0.15, "completion": 0.6}} as prices. Raises ValueError."""
    try:
        listed = json.loads(text, parse_float=Decimal, parse_int=Decimal) if text else {}
    except ValueError as error:
        raise ValueError(f"must be JSON ({error})") from error
    if not isinstance(listed, dict):
        raise ValueError('must be an object: {"model": {"prompt": 0.15, "completion": 0.6}}')
    return build_prices(listed)


def build_prices(listed: Mapping[str, Any]) -> Prices:
    """{"model": {"prompt": 0.15, "completion": "0.6"}} as prices. Raises ValueError."""
    return {str(model): _parse_price(model, price) for model, price in listed.items()}


def _parse_price(model: str, given: Any) -> Price:
    try:
        price = Price(Decimal(given["prompt"]), Decimal(given["completion"]))
        fits = 0 <= price.prompt < MILLION and 0 <= price.completion < MILLION
    except (KeyError, TypeError, InvalidOperation) as error:
        raise ValueError(f"{model} needs the numbers prompt and completion") from error
    if not fits:
        raise ValueError(f"{model}: a price is a number from 0 to a million")
    return price


def compute_call_cost(
    prices: Prices, model: str, prompt_tokens: int, completion_tokens: int
) -> Decimal:
    """0 for a model without a price."""
    price = prices.get(model)
    if price is None:
        return Decimal(0)
    money = price.prompt * prompt_tokens + price.completion * completion_tokens
    return (money / MILLION).quantize(Decimal("0.000001"))
