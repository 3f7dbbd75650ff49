"""What people read: never a number that is not known, never an assumption that does not show."""

from __future__ import annotations

import json
import math
import re
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from ctxmeasure.bounded.budget import ReadStats
from ctxmeasure.capability.model import ModelRef
from ctxmeasure.measurement import PercentMeasurement, TokenMeasurement
from ctxmeasure.observation import (
    Attestation,
    Completeness,
    Confidence,
    LimitBasis,
    Missing,
    MissingReason,
    Observation,
    Observed,
    Partial,
    Provenance,
    UsedBasis,
)
from ctxmeasure.render import (
    Rounding,
    Style,
    codex_left_percent,
    explain,
    gauge,
    grade,
    iteration_line,
    summary,
)
from ctxmeasure.testing.strategies import (
    counts,
    limits,
    missing,
    models,
    moments,
    observations,
    observed,
    percent_measurements,
    percentages,
    provenances,
    token_measurements,
)
from ctxmeasure.usage import TokenUsage

AT = datetime(2026, 11, 29, 18, tzinfo=UTC)
STYLES: tuple[Style, ...] = ("default", "ralph")
ROUNDINGS: tuple[Rounding, ...] = ("round", "floor")
LIMIT_REASONS = [
    MissingReason.PERCENT_NOT_REPORTED,
    MissingReason.PERCENT_INVALID,
    MissingReason.LIMIT_NOT_REPORTED,
    MissingReason.LIMIT_INVALID,
    MissingReason.MODEL_NOT_REPORTED,
    MissingReason.MODEL_UNKNOWN,
    MissingReason.WINDOW_AMBIGUOUS,
    MissingReason.LIMIT_CONTRADICTED,
]


def tokens(
    used: int,
    limit: int,
    *,
    confidence: Confidence = Confidence.EXACT,
    limit_basis: LimitBasis = LimitBasis.WINDOW,
) -> Observed:
    return Observed(
        value=TokenMeasurement(
            used_tokens=used, limit_tokens=limit, measured_at=AT, method="claude_status_line"
        ),
        attestation=Attestation.NATIVE,
        confidence=confidence,
        completeness=Completeness.EXACT,
        provenance=Provenance(
            adapter="claude",
            source="claude.status_line",
            used_basis=UsedBasis.PROMPT,
            limit_basis=limit_basis,
        ),
    )


def percent(share: float, *, confidence: Confidence = Confidence.HIGH) -> Observed:
    return Observed(
        value=PercentMeasurement(
            used_percent=share, measured_at=AT, method="cursor_composer_context_percent"
        ),
        attestation=Attestation.DERIVED,
        confidence=confidence,
        completeness=Completeness.PERCENTAGE_ONLY,
        provenance=Provenance(adapter="cursor", source="cursor.composer"),
    )


def no_limit(
    partial: Partial | None, reason: MissingReason = MissingReason.MODEL_UNKNOWN
) -> Missing:
    return Missing(
        reason=reason,
        partial=partial,
        provenance=Provenance(adapter="pi", source="pi.stream"),
    )


# -- the summary ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("used", "limit", "line"),
    [
        (90_000, 200_000, "Context: 45% (90K/200K)"),
        (0, 200_000, "Context: 0% (0/200K)"),
        (999, 200_000, "Context: 0% (999/200K)"),
        (1_000, 200_000, "Context: 1% (1K/200K)"),
        (1_499, 200_000, "Context: 1% (1K/200K)"),
        (1_500, 200_000, "Context: 1% (2K/200K)"),
        (89_499, 200_000, "Context: 45% (89K/200K)"),
        (89_500, 200_000, "Context: 45% (90K/200K)"),
        (91_000, 200_000, "Context: 46% (91K/200K)"),
        (250_000, 200_000, "Context: 125% (250K/200K)"),
        (123_456, 1_000_000, "Context: 12% (123K/1M)"),
        (999_499, 1_000_000, "Context: 100% (999K/1M)"),
        (999_500, 1_048_576, "Context: 95% (1M/1.05M)"),
        (1_004_999, 1_005_000, "Context: 100% (1M/1.01M)"),
        (1_500_000, 2_000_000, "Context: 75% (1.5M/2M)"),
        (1, 7, "Context: 14% (1/7)"),
    ],
)
def test_tokens_are_shown_with_their_share(used: int, limit: int, line: str) -> None:
    assert summary(tokens(used, limit)) == line


@pytest.mark.parametrize(
    ("share", "line"),
    [
        (63.5, "Context: 63.5%"),
        (45, "Context: 45%"),
        (63.04, "Context: 63%"),
        (8.45, "Context: 8.5%"),  # as a binary fraction below the half
        (99.95, "Context: 100%"),
        (1e-7, "Context: 0%"),
        (-0.0, "Context: 0%"),
        (100, "Context: 100%"),
    ],
)
def test_a_percentage_has_one_decimal_unless_it_is_zero(share: float, line: str) -> None:
    assert summary(percent(share)) == line


def test_an_assumed_limit_is_visible() -> None:
    assumed = tokens(
        90_000, 200_000, confidence=Confidence.LOW, limit_basis=LimitBasis.ASSUMED_DEFAULT
    )
    assert summary(assumed) == "Context: ~45% (90K/200K assumed)"


def test_an_estimate_is_visible() -> None:
    assert summary(tokens(90_000, 200_000, confidence=Confidence.LOW)) == "Context: ~45% (90K/200K)"
    assert summary(percent(63.5, confidence=Confidence.LOW)) == "Context: ~63.5%"


@pytest.mark.parametrize("reason", LIMIT_REASONS)
def test_a_count_stands_when_only_its_limit_is_missing(reason: MissingReason) -> None:
    assert summary(no_limit(Partial(used_tokens=89_500), reason)) == "Tokens: 90K"


@pytest.mark.parametrize("reason", sorted(set(MissingReason) - set(LIMIT_REASONS)))
def test_a_count_that_the_reason_makes_void_is_not_shown(reason: MissingReason) -> None:
    assert summary(no_limit(Partial(used_tokens=89_500), reason)) == ""


@pytest.mark.parametrize(
    "partial",
    [
        None,
        Partial(),
        Partial(used_percent=45, limit_tokens=200_000),
        Partial(used_tokens=18_000, estimated=True),
    ],
)
def test_nothing_is_shown_when_no_count_was_measured(partial: Partial | None) -> None:
    assert summary(no_limit(partial)) == ""


@given(missing())
def test_the_summary_of_a_missing_measurement_has_no_percentage(observation: Missing) -> None:
    line = summary(observation)
    assert "%" not in line
    assert line == "" or re.fullmatch(r"Tokens: [0-9]+(\.[0-9]{1,2})?[KM]?", line)


@given(observed(percent_measurements()))
def test_the_summary_of_a_percentage_has_no_tokens(observation: Observed) -> None:
    assert re.fullmatch(r"Context: ~?[0-9]{1,3}(\.[1-9])?%", summary(observation))


@given(observed(token_measurements()))
def test_the_summary_of_tokens_is_used_against_limit(observation: Observed) -> None:
    count = r"[0-9]+(\.[0-9]{1,2})?[KM]?"
    assert re.fullmatch(
        rf"Context: (~?[0-9]+% \({count}/{count}\)|~[0-9]+% \({count}/{count} assumed\))",
        summary(observation),
    )


@given(observed())
def test_a_rough_number_is_marked_and_no_other(observation: Observed) -> None:
    rough = (
        observation.confidence is Confidence.LOW
        or observation.provenance.limit_basis is LimitBasis.ASSUMED_DEFAULT
    )
    assert ("~" in summary(observation)) is rough


@given(counts())
def test_a_shown_count_is_off_by_at_most_half_its_last_digit(used: int) -> None:
    shown = summary(no_limit(Partial(used_tokens=used))).removeprefix("Tokens: ")
    unit, step = {"K": (1_000, 1_000), "M": (1_000_000, 10_000)}.get(shown[-1], (1, 1))
    off = Fraction(shown.rstrip("KM")) * unit - used
    assert -step < 2 * off <= step


@given(percentages())
def test_a_shown_percentage_is_off_by_at_most_half_a_tenth(share: float) -> None:
    shown = summary(percent(share)).removeprefix("Context: ").removesuffix("%")
    assert -Decimal("0.1") < 2 * (Decimal(shown) - Decimal(repr(share))) <= Decimal("0.1")


# -- the summary in Ralph's style -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("used", "limit", "line"),
    [
        (90_000, 200_000, "Context: 45% (90K/200K)"),
        (0, 200_000, "Context: 0% (0K/200K)"),
        (499, 200_000, "Context: 0% (0K/200K)"),
        (500, 200_000, "Context: 0% (1K/200K)"),
        (1_500, 200_000, "Context: 1% (2K/200K)"),
        (89_499, 200_000, "Context: 45% (89K/200K)"),
        (89_500, 200_000, "Context: 45% (90K/200K)"),
        (89_700, 200_000, "Context: 45% (90K/200K)"),
        (250_000, 200_000, "Context: 125% (250K/200K)"),
        (123_456, 1_000_000, "Context: 12% (123K/1000K)"),
        (525_000, 1_050_000, "Context: 50% (525K/1050K)"),
    ],
)
def test_ralphs_style_knows_only_thousands(used: int, limit: int, line: str) -> None:
    assert summary(tokens(used, limit), style="ralph") == line


def test_ralphs_style_knows_only_whole_percentages() -> None:
    assert summary(percent(63.5), style="ralph") == "Context: 64%"
    assert summary(percent(0.4), style="ralph") == "Context: 0%"
    assert summary(percent(100), style="ralph") == "Context: 100%"


@pytest.mark.parametrize(
    ("used", "rounded", "cut_off"),
    [
        (1_499, "1%", "0%"),
        (89_700, "45%", "44%"),
        (199_999, "100%", "99%"),
        (250_000, "125%", "125%"),
    ],
)
def test_a_percentage_is_rounded_unless_it_is_to_be_cut_off(
    used: int, rounded: str, cut_off: str
) -> None:
    assert f" {rounded} " in summary(tokens(used, 200_000))
    assert f" {cut_off} " in summary(tokens(used, 200_000), percent="floor")
    assert f" {cut_off} " in summary(tokens(used, 200_000), style="ralph", percent="floor")


def test_a_share_is_cut_off_after_its_last_shown_digit() -> None:
    assert summary(percent(63.59), percent="floor") == "Context: 63.5%"
    assert summary(percent(63.09), percent="floor") == "Context: 63%"
    assert summary(percent(63.59), style="ralph", percent="floor") == "Context: 63%"


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_an_assumption_and_an_estimate_are_visible_in_every_style(
    style: Style, rounding: Rounding
) -> None:
    assumed = tokens(
        90_000, 200_000, confidence=Confidence.LOW, limit_basis=LimitBasis.ASSUMED_DEFAULT
    )
    line = summary(assumed, style=style, percent=rounding)
    assert line == "Context: ~45% (90K/200K assumed)"
    estimated = tokens(90_000, 200_000, confidence=Confidence.LOW)
    assert summary(estimated, style=style, percent=rounding) == "Context: ~45% (90K/200K)"


def test_a_count_without_a_limit_is_in_thousands_in_ralphs_style() -> None:
    assert summary(no_limit(Partial(used_tokens=90_000)), style="ralph") == "Tokens: 90K"
    assert summary(no_limit(Partial(used_tokens=1_050_000)), style="ralph") == "Tokens: 1050K"
    assert summary(no_limit(None), style="ralph") == ""


@given(observations(), st.sampled_from(STYLES))
def test_a_cut_off_percentage_is_never_above_the_rounded_one(
    observation: Observation, style: Style
) -> None:
    rounded, cut_off = (
        re.search(r"[0-9.]+(?=%)", summary(observation, style=style, percent=rounding))
        for rounding in ROUNDINGS
    )
    if rounded is not None and cut_off is not None:
        assert 0 <= Decimal(rounded[0]) - Decimal(cut_off[0]) <= 1
    assert (rounded is None) is (cut_off is None)


@given(observed(token_measurements()))
def test_a_cut_off_percentage_is_the_whole_part_of_the_share(observation: Observed) -> None:
    value = observation.value
    assert isinstance(value, TokenMeasurement)
    whole = 100 * value.used_tokens // value.limit_tokens
    assert f"{whole}% (" in summary(observation, percent="floor")


@given(observations(), st.sampled_from(ROUNDINGS))
def test_the_styles_tell_the_same_kind_of_thing(
    observation: Observation, rounding: Rounding
) -> None:
    default, ralph = (
        re.sub(r"[0-9]+(\.[0-9]+)?[KM]?", "7", summary(observation, style=style, percent=rounding))
        for style in STYLES
    )
    assert default == ralph


@pytest.mark.parametrize(
    ("argument", "wrong", "error"),
    [
        ("style", "secret", ValueError),
        ("style", None, ValueError),
        ("style", ["ralph"], ValueError),
        ("percent", "secret", ValueError),
        ("observation", None, TypeError),
        ("observation", "secret", TypeError),
    ],
)
def test_a_wrong_argument_of_a_summary_is_named(
    argument: str, wrong: Any, error: type[Exception]
) -> None:
    with pytest.raises(error, match=f"^{argument}: ") as refusal:
        summary(**{"observation": percent(50), argument: wrong})
    assert "secret" not in str(refusal.value)


# -- the line of an iteration ---------------------------------------------------------------------


def test_an_iteration_is_one_line() -> None:
    assert iteration_line(12_345, 0.0526, 3, tokens(90_000, 200_000)) == (
        "Duration: 12345ms | Est. cost: $0.0526 | Turns: 3 | Context: 45% (90K/200K)"
    )


@pytest.mark.parametrize(
    ("cost", "turns", "line"),
    [
        (0.0526, 3, "Duration: 0ms | Est. cost: $0.0526 | Turns: 3"),
        (None, 3, "Duration: 0ms | Turns: 3"),
        (0.0526, None, "Duration: 0ms | Est. cost: $0.0526"),
        (None, None, "Duration: 0ms"),
        (0, 0, "Duration: 0ms | Est. cost: $0.0000 | Turns: 0"),
        (-0.0, 0, "Duration: 0ms | Est. cost: $0.0000 | Turns: 0"),
        (12, 1, "Duration: 0ms | Est. cost: $12.0000 | Turns: 1"),
    ],
)
def test_what_is_not_known_of_an_iteration_is_left_out(
    cost: float | None, turns: int | None, line: str
) -> None:
    assert iteration_line(0, cost, turns, no_limit(None)) == line


def test_an_iteration_is_in_ralphs_style_unless_another_is_asked_for() -> None:
    full = tokens(199_999, 1_050_000)
    assert iteration_line(1, None, None, full) == "Duration: 1ms | Context: 19% (200K/1050K)"
    assert iteration_line(1, None, None, full, style="default", percent="floor") == (
        "Duration: 1ms | Context: 19% (200K/1.05M)"
    )
    assert iteration_line(1, None, None, tokens(199_999, 200_000), percent="floor") == (
        "Duration: 1ms | Context: 99% (200K/200K)"
    )


@given(observations(), st.sampled_from(STYLES), st.sampled_from(ROUNDINGS))
def test_the_last_part_of_an_iteration_is_the_summary(
    observation: Observation, style: Style, rounding: Rounding
) -> None:
    line = iteration_line(7, 0.5, 2, observation, style=style, percent=rounding)
    told = summary(observation, style=style, percent=rounding)
    base = "Duration: 7ms | Est. cost: $0.5000 | Turns: 2"
    assert line == (f"{base} | {told}" if told else base)


@given(st.integers(min_value=0), st.floats(min_value=0, allow_infinity=False))
def test_any_possible_iteration_is_told(number: int, cost: float) -> None:
    line = iteration_line(number, cost, number, no_limit(None))
    assert re.fullmatch(r"Duration: \d+ms \| Est\. cost: \$\d+\.\d{4} \| Turns: \d+", line)


@pytest.mark.parametrize(
    ("argument", "wrong", "error"),
    [
        ("duration_ms", None, TypeError),
        ("duration_ms", 12.5, TypeError),
        ("duration_ms", True, TypeError),
        ("duration_ms", -1, ValueError),
        ("cost_usd", "0.05", TypeError),
        ("cost_usd", True, TypeError),
        ("cost_usd", -0.01, ValueError),
        ("cost_usd", math.nan, ValueError),
        ("cost_usd", math.inf, ValueError),
        ("cost_usd", 10**400, ValueError),
        ("turns", 1.0, TypeError),
        ("turns", True, TypeError),
        ("turns", -1, ValueError),
        ("observation", None, TypeError),
        ("style", "secret", ValueError),
        ("percent", "secret", ValueError),
    ],
)
def test_a_wrong_argument_of_an_iteration_is_named(
    argument: str, wrong: Any, error: type[Exception]
) -> None:
    known = {"duration_ms": 1, "cost_usd": 0.1, "turns": 1, "observation": percent(50)}
    with pytest.raises(error, match=f"^{argument}: "):
        iteration_line(**{**known, argument: wrong})


# -- the gauge ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("used", "bar"),
    [
        (0, "[----------]"),
        (19_999, "[----------]"),
        (20_000, "[#---------]"),
        (90_000, "[####------]"),
        (199_999, "[#########-]"),
        (200_000, "[##########]"),
        (250_000, "[##########]"),
    ],
)
def test_a_cell_is_filled_once_all_of_it_is_in_use(used: int, bar: str) -> None:
    assert gauge(tokens(used, 200_000)) == bar


def test_a_percentage_has_a_gauge_of_the_asked_width() -> None:
    assert gauge(percent(63.5), width=20) == "[############--------]"
    assert gauge(percent(100), width=1) == "[#]"


def test_a_rough_gauge_looks_rough() -> None:
    assert gauge(percent(63.5, confidence=Confidence.LOW)) == "[~~~~~~----]"


@given(missing())
def test_a_missing_measurement_has_no_gauge(observation: Missing) -> None:
    assert gauge(observation) == ""


@given(observed(), st.integers(1, 200))
def test_a_gauge_is_as_wide_as_asked(observation: Observed, width: int) -> None:
    assert re.fullmatch(rf"\[(?=[#~-]{{{width}}}\])(#*|~*)-*\]", gauge(observation, width))


@pytest.mark.parametrize(
    ("attestation", "confidence", "said"),
    [
        (Attestation.NATIVE, Confidence.EXACT, "exact"),
        (Attestation.NATIVE, Confidence.MEDIUM, "native (medium)"),
        (Attestation.DERIVED, Confidence.HIGH, "derived"),
        (Attestation.INFERRED, Confidence.HIGH, "inferred"),
        (Attestation.INFERRED, Confidence.MEDIUM, "inferred (medium)"),
        (Attestation.OPERATOR, Confidence.EXACT, "declared"),
        (Attestation.INFERRED, Confidence.LOW, "estimated"),
    ],
)
def test_a_grade_says_how_far_to_believe(
    attestation: Attestation, confidence: Confidence, said: str
) -> None:
    graded = evolve(tokens(90_000, 200_000), attestation=attestation, confidence=confidence)
    assert grade(graded) == said


def test_the_grade_of_what_is_assumed_or_missing_names_that_alone() -> None:
    assumed = tokens(90_000, 200_000, limit_basis=LimitBasis.ASSUMED_DEFAULT)
    assert grade(assumed) == "assumed"
    assert grade(no_limit(None)) == "missing: model_unknown"


def test_what_is_no_observation_has_no_grade() -> None:
    wrong: Any = "secret"
    with pytest.raises(TypeError, match=r"^observation: (?!.*secret)"):
        grade(wrong)


def test_a_width_that_is_no_width_is_refused() -> None:
    with pytest.raises(TypeError, match="width: "):
        gauge(percent(50), width=True)
    with pytest.raises(ValueError, match="width: "):
        gauge(percent(50), width=0)


# -- Codex's own percentage -----------------------------------------------------------------------

H_TUI = Path(__file__).parent / "recordings" / "codex" / "h-tui" / "truth.json"


def of_codex(used: int, limit: int = 258_400, **provenance: Any) -> Observed:
    native = tokens(used, limit)
    stated = {
        "adapter": "codex",
        "source": "codex.rollout",
        "used_basis": UsedBasis.PROMPT_AND_OUTPUT,
        "limit_basis": LimitBasis.EFFECTIVE_WINDOW,
        **provenance,
    }
    return evolve(native, provenance=Provenance(**stated))


@pytest.mark.parametrize(
    ("used", "limit", "left"),
    [  # formats/codex.md §5
        (6_851, 258_400, 100),
        (12_000, 258_400, 100),
        (15_160, 258_400, 99),
        (61_840, 258_400, 80),
        (120_100, 258_400, 56),
        (232_560, 258_400, 10),
        (258_400, 258_400, 0),
        (14_900, 38_000, 89),
    ],
)
def test_codexs_own_percentage_leaves_12000_tokens_out(used: int, limit: int, left: int) -> None:
    assert codex_left_percent(of_codex(used, limit)) == left


@pytest.mark.parametrize(
    ("used", "screens"),
    [
        (103_006, ["screen-1-after-turn-1", "screen-2-status", "screen-4-after-esc"]),
        (12_727, ["screen-5-after-compact", "screen-6-status"]),  # an estimate
        (21_033, ["screen-7-after-turn-3", "screen-8-status"]),
    ],
)
def test_codexs_own_percentage_is_the_one_on_its_screen(used: int, screens: list[str]) -> None:
    shown = json.loads(H_TUI.read_bytes())["displayed_on_screen"]
    left = codex_left_percent(of_codex(used))
    assert left is not None
    assert {shown[f"{screen}.txt"] for screen in screens} == {str(100 - left)}


@pytest.mark.parametrize(
    ("used", "limit", "left"),
    [
        (400_000, 258_400, 0),
        (0, 12_000, 0),
        (0, 1, 0),
        (0, 12_001, 100),
        (12_001, 12_008, 88),  # 87.5: a half is rounded away from zero
        (12_007, 12_008, 13),  # 12.5, where a half to even is 12
    ],
)
def test_codexs_own_percentage_stays_within_its_bounds(used: int, limit: int, left: int) -> None:
    assert codex_left_percent(of_codex(used, limit)) == left


@pytest.mark.parametrize(
    "other",
    [
        tokens(120_100, 258_400),
        percent(56.0),
        no_limit(Partial(used_tokens=120_100, limit_tokens=258_400)),
        of_codex(120_100, used_basis=UsedBasis.PROMPT),
        of_codex(120_100, limit_basis=LimitBasis.DECLARED),
        of_codex(120_100, limit_basis=LimitBasis.ASSUMED_DEFAULT),
        of_codex(120_100, limit_basis=None),
        evolve(percent(56.0), provenance=Provenance(adapter="codex", source="codex.rollout")),
    ],
)
def test_only_a_pair_that_codex_stated_has_codexs_percentage(other: Observation) -> None:
    assert codex_left_percent(other) is None


@given(counts(), limits())
def test_codexs_own_percentage_is_the_nearest_whole_one(used: int, limit: int) -> None:
    left = codex_left_percent(of_codex(used, limit))
    assert left is not None
    assert 0 <= left <= 100
    if limit > 12_000:
        share = Fraction(max(0, limit - max(used, 12_000)), limit - 12_000)
        assert abs(left - 100 * share) <= Fraction(1, 2) + Fraction(1, 10**9)


# -- the explanation ------------------------------------------------------------------------------


def test_a_native_pair_is_explained() -> None:
    assert explain(tokens(90_000, 200_000)).splitlines() == [
        "90,000 tokens are in use against a limit of 200,000: that is 45%, and 110,000 are left.",
        "The count is what the last request sent: input, cache reads and writes.",
        "The limit is the model's context window, as the runtime states it.",
        "The runtime itself states this in claude.status_line (method claude_status_line).",
        "The sample was taken at 18:00:00 UTC on 2026-11-29.",
        "Confidence is exact: the runtime's own numbers, nothing added.",
        "Completeness is exact: both counts were measured.",
    ]


def test_an_inferred_limit_is_explained_with_the_model() -> None:
    observation = Observed(
        value=TokenMeasurement(
            used_tokens=41_500,
            limit_tokens=200_000,
            measured_at=AT,
            method="claude_transcript_usage_model_capability",
        ),
        attestation=Attestation.INFERRED,
        confidence=Confidence.MEDIUM,
        completeness=Completeness.INFERRED,
        provenance=Provenance(
            adapter="claude",
            source="claude.transcript",
            runtime_version="2.1.234",
            used_basis=UsedBasis.PROMPT,
            limit_basis=LimitBasis.WINDOW,
            model=ModelRef(id="claude-opus-4-6", long_context_marker=False),
        ),
    )
    assert explain(observation, at=AT + timedelta(seconds=12)).splitlines() == [
        "41,500 tokens are in use against a limit of 200,000: that is 21%, and 158,500 are left.",
        "The count is what the last request sent: input, cache reads and writes.",
        "The limit is the model's context window, looked up by the model's id.",
        "The model is claude-opus-4-6, without the long-context marker.",
        (
            "The used amount was read from claude.transcript (method "
            "claude_transcript_usage_model_capability); the limit is not stated there."
        ),
        (
            "The sample was taken at 18:00:00 UTC on 2026-11-29, "
            "12 seconds before the moment asked about."
        ),
        (
            "Confidence is medium: rests on a documented default that a setting could have "
            "changed, or on the caller's word."
        ),
        "Completeness is inferred: the count was measured, the limit was looked up or assumed.",
    ]


def test_a_percentage_is_explained_without_tokens() -> None:
    assert explain(percent(63.5)).splitlines() == [
        "63.5% of the context is in use; token counts are not known.",
        (
            "This was computed from what the runtime wrote to cursor.composer "
            "(method cursor_composer_context_percent)."
        ),
        "The sample was taken at 18:00:00 UTC on 2026-11-29.",
        "Confidence is high: one documented step away from the runtime's own numbers.",
        "Completeness is percentage only: only a share is known, no counts.",
    ]


def test_a_declared_limit_is_explained() -> None:
    observation = evolve(
        tokens(250_000, 200_000, confidence=Confidence.HIGH, limit_basis=LimitBasis.DECLARED),
        attestation=Attestation.OPERATOR,
    )
    assert explain(observation).splitlines()[:4] == [
        "250,000 tokens are in use against a limit of 200,000: that is 125%, and 0 are left.",
        "The count is what the last request sent: input, cache reads and writes.",
        "The limit is the one that the caller declared.",
        "The used amount was read from claude.status_line (method claude_status_line).",
    ]


def test_an_assumed_limit_is_explained() -> None:
    observation = evolve(
        tokens(90_000, 200_000, confidence=Confidence.LOW, limit_basis=LimitBasis.ASSUMED_DEFAULT),
        attestation=Attestation.INFERRED,
    )
    text = explain(observation)
    assert "The limit is a default that the caller chose to assume.\n" in text
    assert "The used amount was read from claude.status_line " in text
    assert "Confidence is low: rests on an assumption or an estimate" in text


def test_an_accepted_estimate_is_explained_as_one() -> None:
    observation = evolve(
        tokens(18_000, 200_000, confidence=Confidence.LOW), attestation=Attestation.INFERRED
    )
    text = explain(observation)
    assert "The runtime estimated this in claude.status_line " in text
    assert "The limit is the model's context window.\n" in text


def test_a_missing_limit_is_explained_with_what_is_known_and_what_to_do() -> None:
    observation = Missing(
        reason=MissingReason.WINDOW_AMBIGUOUS,
        partial=Partial(used_tokens=41_500, measured_at=AT),
        provenance=Provenance(
            adapter="pi",
            source="pi.stream",
            used_basis=UsedBasis.PROMPT_AND_OUTPUT,
            model=ModelRef(id="claude-opus-4-6", long_context_marker=True),
        ),
    )
    assert explain(observation, at=AT - timedelta(seconds=1)).splitlines() == [
        "There is no measurement: window ambiguous.",
        (
            "A plan, setting or platform decides this model's window. Use the status line, pass "
            "the model as the agent was started with it, or declare limit_tokens (--limit)."
        ),
        "Still known: 41,500 tokens in use.",
        "The count is what the last request sent and what came back.",
        "The model is claude-opus-4-6, with the long-context marker.",
        "The source is pi.stream.",
        (
            "The sample was taken at 18:00:00 UTC on 2026-11-29, "
            "1 second after the moment asked about."
        ),
    ]


def test_an_estimate_after_a_compaction_is_explained_as_one() -> None:
    partial = Partial(used_tokens=18_000, used_percent=9, limit_tokens=200_000, estimated=True)
    assert explain(no_limit(partial, MissingReason.COMPACTED)).splitlines() == [
        "There is no measurement: compacted.",
        "The context was compacted and no response has followed. Ask again after the next one.",
        (
            "Seen, but not to be relied on: an estimated 18,000 tokens in use, an estimated 9% in "
            "use, a limit of 200,000 tokens."
        ),
        "The source is pi.stream.",
    ]


@pytest.mark.parametrize("partial", [None, Partial()])
def test_it_is_said_when_nothing_is_known(partial: Partial | None) -> None:
    assert "No number is known." in explain(no_limit(partial)).splitlines()


@pytest.mark.parametrize("reason", list(MissingReason))
def test_every_reason_is_explained_with_what_to_do(reason: MissingReason) -> None:
    assert str(reason.__doc__) in explain(no_limit(None, reason)).splitlines()


@pytest.mark.parametrize(
    ("age", "told"),
    [
        (timedelta(0), "0 seconds before"),
        (timedelta(milliseconds=999), "0 seconds before"),
        (timedelta(seconds=1), "1 second before"),
        (timedelta(seconds=119), "119 seconds before"),
        (timedelta(minutes=2), "2 minutes before"),
        (timedelta(minutes=119), "119 minutes before"),
        (timedelta(hours=2), "2 hours before"),
        (timedelta(hours=47), "47 hours before"),
        (timedelta(days=2), "2 days before"),
        (timedelta(days=1_500), "1,500 days before"),
        (timedelta(seconds=-7), "7 seconds after"),
    ],
)
def test_the_age_is_told_at_the_moment_asked_about(age: timedelta, told: str) -> None:
    east = timezone(timedelta(hours=5, minutes=30))
    text = explain(percent(50), at=(AT + age).astimezone(east))
    assert f"on 2026-11-29, {told} the moment asked about." in text


def test_a_moment_that_is_no_moment_is_refused() -> None:
    with pytest.raises(TypeError, match="at: "):
        explain(percent(50), at=1_795_975_200)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at: "):
        explain(percent(50), at=datetime(2026, 11, 29))  # noqa: DTZ001 - the point of the test


@given(observations())
def test_without_a_moment_there_is_no_age(observation: Observation) -> None:
    bare = _with(observation, Provenance(adapter="", source=""))
    assert not re.search(r"(?m)the moment asked about\.$", explain(bare))


@given(observations(), moments(), models(), provenances(), models())
def test_the_explanation_does_not_depend_on_what_it_may_not_tell(
    observation: Observation,
    at: datetime,
    model: ModelRef,
    other: Provenance,
    other_model: ModelRef,
) -> None:
    provenance = evolve(observation.provenance, model=model)
    changed = evolve(
        provenance,
        adapter=other.adapter,
        runtime_version=other.runtime_version,
        usage=other.usage,
        witness=other.witness,
        stats=other.stats,
        model=evolve(model, provider=other_model.provider, platform=other_model.platform),
    )
    told = explain(evolve(observation, provenance=provenance), at=at)
    assert explain(evolve(observation, provenance=changed), at=at) == told


@given(observations())
def test_every_number_in_an_explanation_is_the_observations(observation: Observation) -> None:
    # With names that hold no digits, all the digits are those of the observation's own numbers.
    provenance = Provenance(
        adapter="a",
        source="source",
        runtime_version="9.9.9",
        used_basis=observation.provenance.used_basis,
        limit_basis=observation.provenance.limit_basis,
        usage=TokenUsage(input_tokens=987_654_321),
        stats=ReadStats(bytes_read=987_654_321),
    )
    told = _with(observation, provenance)
    text = explain(told)
    if isinstance(told, Missing):
        text = text.replace(str(told.reason.__doc__), "")  # one of them names a range
    numbers = {int(digits.replace(",", "")) for digits in re.findall(r"[0-9][0-9,]*", text)}
    assert numbers <= _facts(told)


def _with(observation: Observation, provenance: Provenance) -> Observation:
    """Return *observation* with *provenance* and, where it has one, a plain method."""
    told = evolve(observation, provenance=provenance)
    if isinstance(told, Observed):
        return evolve(told, value=evolve(told.value, method="method"))
    return told


def _facts(observation: Observation) -> set[int]:
    """Return every whole number that *observation* entitles an explanation to."""
    known = observation.value if isinstance(observation, Observed) else observation.partial
    if known is None:
        return set()
    facts: set[int] = set()
    if known.measured_at is not None:
        moment = known.measured_at
        facts |= {moment.year, moment.month, moment.day, moment.hour, moment.minute, moment.second}
    if isinstance(known, TokenMeasurement):
        facts |= {known.used_tokens, known.limit_tokens, known.remaining_tokens}
        facts.add((200 * known.used_tokens + known.limit_tokens) // (2 * known.limit_tokens))
        return facts
    if isinstance(known, Partial):
        facts |= {count for count in (known.used_tokens, known.limit_tokens) if count is not None}
    if known.used_percent is not None:
        whole = math.floor(known.used_percent)
        tenth = math.floor(10 * (known.used_percent - whole))
        facts |= {whole, whole + 1, tenth, tenth + 1, 0}
    return facts


@given(observations(), moments())
def test_nothing_is_not_a_number(observation: Observation, at: datetime) -> None:
    text = summary(observation) + gauge(observation)
    assert "nan" not in text.lower()
    assert "inf" not in text.lower()
    bare = _with(observation, Provenance(adapter="", source=""))
    assert "None" not in explain(bare, at=at)


@given(observations(), moments())
def test_no_character_commands_the_terminal(observation: Observation, at: datetime) -> None:
    lines = explain(observation, at=at).split("\n")
    assert all(line.isprintable() for line in lines)
    assert 3 <= len(lines) <= 8
    assert summary(observation).isprintable()
