"""Observations as text for people: a summary, a gauge, an explanation.

Pure: no colour, no clock, no terminal. What was assumed or estimated is always visible as such,
and a missing measurement never looks like one. Says nothing that the observation does not hold; of
the identifiers in it only the model's id is named. May import `observation` and what lies below it.
"""

from __future__ import annotations

import sys
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Literal, TypeAlias, get_args

from .capability.model import ModelRef
from .figures import bar, decimal, plain, short, thousands
from .measurement import Measurement, PercentMeasurement, TokenMeasurement, utc_milliseconds
from .observation import (
    Attestation,
    Completeness,
    Confidence,
    LimitBasis,
    Missing,
    Observation,
    Observed,
    Partial,
    Provenance,
    UsedBasis,
)
from .spelling import Rounding, context_line, share

__all__ = [
    "Rounding",
    "Style",
    "codex_left_percent",
    "explain",
    "gauge",
    "grade",
    "iteration_line",
    "summary",
]

Style: TypeAlias = Literal["default", "ralph"]
"""How counts are written: ``default`` (``1.05M``), or as Ralph does (``1050K``)."""


def summary(
    observation: Observation, *, style: Style = "default", percent: Rounding = "round"
) -> str:
    """Return one short line, or an empty one when nothing is known.

    - ``Context: 45% (90K/200K)``: tokens. The percentage is a whole one and not clamped: ``125%``
      is an overrun.
    - ``Context: 63.5%``: a percentage without counts, with one decimal, which is left out when it
      is 0.
    - ``Context: ~45% (90K/200K assumed)``: the limit is an assumed default.
    - ``Context: ~45% (90K/200K)``, ``Context: ~63.5%``: the confidence is low, an estimate.
    - ``Tokens: 90K``: the count was measured and only its limit is missing. A count that was
      estimated, or that the missing reason makes void (stale, rewound, disputed), is not shown.

    Counts are plain below 1000, then thousands (``90K``, rounded half up), and from 999,500 on
    millions with up to two decimals (``1M``, ``1.05M``). Ralph's style has thousands only
    (``0K``, ``1050K``) and only whole percentages (formats/pi_ralph.md §7).

    Args:
        observation: What to show.
        style: How counts are written.
        percent: Whether a percentage is rounded half up, or cut off as Ralph does.

    Raises:
        TypeError: *observation* is not an observation.
        ValueError: *style* or *percent* is none of its words (the message names it).
    """
    _one_of(get_args(Style), style, "style")
    _one_of(get_args(Rounding), percent, "percent")
    count = thousands if style == "ralph" else short
    match observation:
        case Missing():
            standing = observation.standing_tokens
            return "" if standing is None else f"Tokens: {count(standing)}"
        case Observed():
            return context_line(
                observation.value,
                is_rough=observation.is_rough,
                is_assumed=observation.is_assumed,
                count=count,
                rounding=percent,
                decimals=int(style != "ralph"),
            )
        case _:
            raise TypeError("observation: expected an Observed or a Missing")


def iteration_line(
    duration_ms: int,
    cost_usd: float | None,
    turns: int | None,
    observation: Observation,
    *,
    style: Style = "ralph",
    percent: Rounding = "round",
) -> str:
    """Return the line that ends an iteration of a runner, as Ralph prints it.

    ``Duration: 12345ms | Est. cost: $0.0526 | Turns: 3 | Context: 45% (90K/200K)``: what is not
    known is left out, and the last part is what `summary` says of the observation.

    Args:
        duration_ms: How long the iteration took, in milliseconds.
        cost_usd: What it cost by the agent's estimate, in US dollars; None: not known.
        turns: How many turns it had; None: not known.
        observation: What to show of the context: ``Stream.peak`` to show what Ralph shows, or
            ``Stream.latest``.
        style: As for `summary`.
        percent: As for `summary`.

    Raises:
        TypeError: An argument has the wrong type (the message names it).
        ValueError: An argument has an impossible value (the message names it).
    """
    shown = summary(observation, style=style, percent=percent)
    _whole(duration_ms, "duration_ms")
    parts = [f"Duration: {duration_ms}ms"]
    if cost_usd is not None:
        _amount_of_money(cost_usd, "cost_usd")
        parts.append(f"Est. cost: ${abs(cost_usd):.4f}")  # abs for -0.0
    if turns is not None:
        _whole(turns, "turns")
        parts.append(f"Turns: {turns}")
    if shown:
        parts.append(shown)
    return " | ".join(parts)


def gauge(observation: Observation, width: int = 10) -> str:
    """Return a bar of *width* cells such as ``[####------]``, or an empty text when it is missing.

    A cell is filled once all of it is in use, so a full bar means 100 % or more. ``~`` in place of
    ``#`` says what it says in `summary`: an assumed limit or an estimate.

    Raises:
        TypeError: *width* is not an int.
        ValueError: *width* is below 1.
    """
    if type(width) is not int:
        raise TypeError("width: expected an int")
    if width < 1:
        raise ValueError("width: expected at least 1")
    if isinstance(observation, Missing):
        return ""
    value = observation.value
    if isinstance(value, PercentMeasurement):
        filled = int(width * value.used_percent / 100)
    else:
        filled = width * value.used_tokens // value.limit_tokens
    return bar(filled, width, "~" if observation.is_rough else "#")


_ATTESTED = {Attestation.INFERRED: "inferred", Attestation.OPERATOR: "declared"}


def grade(observation: Observation) -> str:
    """Return in a word or two how far to believe an observation.

    ``exact``: the runtime's own numbers. ``derived``: from a store of the runtime's that can lag.
    ``inferred``: the limit was looked up by the model. ``declared``: the caller stated the limit.
    ``assumed``, ``estimated``: the caller accepted as much. ``(medium)`` behind it: a setting could
    have changed what it rests on. Or ``missing:`` and the reason.

    Raises:
        TypeError: *observation* is not an observation.
    """
    match observation:
        case Missing(reason=reason):
            return f"missing: {reason.value}"
        case Observed(is_assumed=True):
            return "assumed"
        case Observed(confidence=Confidence.LOW):
            return "estimated"
        case Observed(attestation=attestation, confidence=confidence):
            is_exact = confidence is Confidence.EXACT
            word = _ATTESTED.get(attestation, "exact" if is_exact else attestation.value)
            return f"{word} (medium)" if confidence is Confidence.MEDIUM else word
        case _:
            raise TypeError("observation: expected an Observed or a Missing")


# What Codex takes for the prompt that is always there: BASELINE_TOKENS, since 2025-09-04.
_CODEX_BASELINE = 12_000
_STATED_LIMITS = (LimitBasis.WINDOW, LimitBasis.EFFECTIVE_WINDOW)


def codex_left_percent(observation: Observation) -> int | None:
    """Return the percentage that Codex itself shows as left, 0..100; 100 less it is its "used".

    This is Codex's display and not the measurement: Codex leaves 12,000 tokens out of both the use
    and the window, so 120,100 of 258,400 tokens show as 56 % left where 53.5 % are. For use beside
    Codex's own screen; take the measurement for all else. Seen on the screen of 0.171 and in the
    source before it, with its rounding: a half away from zero (formats/codex.md §5).

    Returns:
        The percentage; None for anything but a pair of counts that Codex stated: another agent's,
        a missing one, a count of the prompt alone, a limit that the caller declared or assumed.
    """
    if isinstance(observation, Missing) or not isinstance(observation.value, TokenMeasurement):
        return None
    provenance, value = observation.provenance, observation.value
    is_codex = provenance.adapter == "codex" and provenance.limit_basis in _STATED_LIMITS
    if not is_codex or provenance.used_basis is not UsedBasis.PROMPT_AND_OUTPUT:
        return None
    room = value.limit_tokens - _CODEX_BASELINE
    if room <= 0:
        return 0
    left = max(0, room - max(0, value.used_tokens - _CODEX_BASELINE))
    percent = left / room * 100  # in this order, as Codex does: the last bit can decide
    whole = int(percent)
    return whole + (percent - whole >= 0.5)


def explain(observation: Observation, *, at: datetime | None = None) -> str:
    """Return a few sentences, one a line, on what the number is and how it is known.

    They say where each part of the number comes from, how old it is, and why it has its grade; for
    a missing measurement what is missing, what is still known, and what to do.

    Args:
        observation: What to explain.
        at: The moment to tell the sample's age at; aware. Without it no age is told.

    Raises:
        TypeError: *at* is not a datetime.
        ValueError: *at* has no time zone.
    """
    moment = None if at is None else utc_milliseconds(at, "at")
    sentences = (
        _of_missing(observation, moment)
        if isinstance(observation, Missing)
        else _of_observed(observation, moment)
    )
    return "\n".join(sentence for sentence in sentences if sentence)


# -- arguments ------------------------------------------------------------------------------------


def _one_of(words: tuple[str, ...], word: object, argument: str) -> None:
    if word not in words:
        raise ValueError(f"{argument}: expected {' or '.join(words)}")


def _whole(number: object, argument: str) -> None:
    if type(number) is not int:
        raise TypeError(f"{argument}: expected an int")
    if number < 0:
        raise ValueError(f"{argument}: expected at least 0")


def _amount_of_money(amount: float, argument: str) -> None:
    if type(amount) not in (int, float):
        raise TypeError(f"{argument}: expected a number")
    if not 0 <= amount <= sys.float_info.max:  # NaN fails too
        raise ValueError(f"{argument}: expected a finite amount of at least 0")


# -- sentences ------------------------------------------------------------------------------------

_COUNTED = {
    UsedBasis.PROMPT: "The count is what the last request sent: input, cache reads and writes.",
    UsedBasis.PROMPT_AND_OUTPUT: "The count is what the last request sent and what came back.",
}
_LIMIT = {
    LimitBasis.WINDOW: "The limit is the model's context window",
    LimitBasis.EFFECTIVE_WINDOW: "The limit is the part of the context window that is put to use",
    LimitBasis.INPUT_BUDGET: "The limit is the context window less what is reserved for output",
    LimitBasis.DECLARED: "The limit is the one that the caller declared",
    LimitBasis.ASSUMED_DEFAULT: "The limit is a default that the caller chose to assume",
}
_CALLERS_LIMITS = (LimitBasis.DECLARED, LimitBasis.ASSUMED_DEFAULT)
_MARKER = {
    None: "",
    True: ", with the long-context marker",
    False: ", without the long-context marker",
}
_ORIGIN = {
    Attestation.NATIVE: "The runtime itself states this in {place}.",
    Attestation.DERIVED: "This was computed from what the runtime wrote to {place}.",
    Attestation.INFERRED: "The used amount was read from {place}; the limit is not stated there.",
    Attestation.OPERATOR: "The used amount was read from {place}.",
}
_UNTOLD = "auto"  # what stands for a source that was to be told by its looks
_ESTIMATED = "The runtime estimated this in {place}."
_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


def _of_observed(observation: Observed, at: datetime | None) -> list[str]:
    provenance = observation.provenance
    return [
        _amount(observation.value),
        _counted(provenance),
        _limit(provenance, _teller(observation)),
        _model(provenance.model),
        _origin(observation),
        _moment(observation.value.measured_at, at),
        _grade("Confidence", observation.confidence),
        _grade("Completeness", observation.completeness),
    ]


def _of_missing(observation: Missing, at: datetime | None) -> list[str]:
    partial, provenance = observation.partial, observation.provenance
    return [
        f"There is no measurement: {_words(observation.reason)}.",
        str(observation.reason.__doc__),
        _seen(observation),
        _counted(provenance),
        _limit(provenance),
        _model(provenance.model),
        _source(provenance),
        "" if partial is None else _moment(partial.measured_at, at),
    ]


def _source(provenance: Provenance) -> str:
    """Return which source it is, unless nothing could be read to tell it."""
    return "" if provenance.source == _UNTOLD else f"The source is {plain(provenance.source)}."


def _amount(value: Measurement) -> str:
    if isinstance(value, PercentMeasurement):
        return f"{share(value)} of the context is in use; token counts are not known."
    left = f"{value.remaining_tokens:,} are left"
    return (
        f"{value.used_tokens:,} tokens are in use against a limit of {value.limit_tokens:,}: "
        f"that is {share(value)}, and {left}."
    )


def _seen(missing: Missing) -> str:
    numbers = [] if missing.partial is None else _numbers(missing.partial)
    if not numbers:
        return "No number is known."
    told = "Still known" if missing.reason.is_about_limit else "Seen, but not to be relied on"
    return f"{told}: {', '.join(numbers)}."


def _numbers(partial: Partial) -> list[str]:
    estimated = "an estimated " if partial.estimated else ""
    numbers = []
    if partial.used_tokens is not None:
        numbers.append(f"{estimated}{partial.used_tokens:,} tokens in use")
    if partial.used_percent is not None:
        numbers.append(f"{estimated}{decimal(partial.used_percent)} in use")
    if partial.limit_tokens is not None:
        numbers.append(f"a limit of {partial.limit_tokens:,} tokens")
    return numbers


def _counted(provenance: Provenance) -> str:
    return "" if provenance.used_basis is None else _COUNTED[provenance.used_basis]


def _limit(provenance: Provenance, teller: str = "") -> str:
    basis = provenance.limit_basis
    if basis is None:
        return ""
    return f"{_LIMIT[basis]}{'' if basis in _CALLERS_LIMITS else teller}."


def _teller(observation: Observed) -> str:
    """Return who tells the limit, where the grade shows it."""
    match observation.attestation, observation.confidence:
        case Attestation.NATIVE | Attestation.DERIVED, _:
            return ", as the runtime states it"
        case Attestation.INFERRED, Confidence.HIGH | Confidence.MEDIUM:
            return ", looked up by the model's id"
        case _:
            return ""


def _model(model: ModelRef | None) -> str:
    if model is None:
        return ""
    return f"The model is {plain(model.id)}{_MARKER[model.long_context_marker]}."


def _origin(observation: Observed) -> str:
    source, method = plain(observation.provenance.source), plain(observation.value.method)
    # Low rests on an assumption or an estimate, and what is assumed is the limit.
    estimated = observation.confidence is Confidence.LOW and not observation.is_assumed
    told = _ESTIMATED if estimated else _ORIGIN[observation.attestation]
    return told.format(place=f"{source} (method {method})")


def _moment(measured_at: datetime | None, at: datetime | None) -> str:
    if measured_at is None:
        return ""
    told = f"The sample was taken at {measured_at:%H:%M:%S} UTC on {measured_at.date().isoformat()}"
    if at is None:
        return f"{told}."
    side = "before" if at >= measured_at else "after"
    return f"{told}, {_duration(abs(at - measured_at))} {side} the moment asked about."


def _duration(age: timedelta) -> str:
    seconds = age // timedelta(seconds=1)
    for length, unit in _UNITS:
        if seconds >= 2 * length:  # "90 minutes" says more than "1 hour"
            return f"{seconds // length:,} {unit}s"
    return "1 second" if seconds == 1 else f"{seconds} seconds"


def _grade(name: str, grade: Confidence | Completeness) -> str:
    reason = str(grade.__doc__)
    return f"{name} is {_words(grade)}: {reason[0].lower()}{reason[1:]}"


def _words(name: StrEnum) -> str:
    return name.value.replace("_", " ")
