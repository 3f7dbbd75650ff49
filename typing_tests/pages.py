"""What the documentation says of type-checkers; executed by them only."""

from __future__ import annotations

import ctxmeasure as cm


def the_quickstarts_match_forgets_nothing(observation: cm.Observation) -> str:
    match observation:
        case cm.Observed(value=cm.TokenMeasurement() as tokens):
            return f"{tokens.used_tokens} of {tokens.limit_tokens} tokens"
        case cm.Observed(value=percent):
            return f"{percent.used_percent:.0f} %"
        case cm.Missing(reason=reason):
            return f"not known: {reason.value}"


def a_match_that_forgets_one_is_found(observation: cm.Observation) -> str:  # type: ignore[return]
    match observation:
        case cm.Observed(value=cm.TokenMeasurement() as tokens):
            return f"{tokens.used_tokens} of {tokens.limit_tokens} tokens"
        case cm.Missing(reason=reason):
            return f"not known: {reason.value}"
