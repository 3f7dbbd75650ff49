"""Small inputs with the right answer, through the verb; ``cases.json`` says what its words mean."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import ctxmeasure as cm

CASES = Path(__file__).parent / "cases"
ALL: list[dict[str, Any]] = json.loads((CASES / "cases.json").read_bytes())["cases"]
AT = datetime(2026, 11, 29, 20, 0, tzinfo=UTC)

LIMIT_REASONS = {"model_unknown", "model_not_reported", "window_ambiguous", "limit_contradicted"}


def faults(observation: cm.Observation, expect: dict[str, Any]) -> list[str]:
    """Return what *observation* does not meet of *expect*."""
    if "any_of" in expect:
        tried = [faults(observation, alternative) for alternative in expect["any_of"]]
        return [] if [] in tried else [fault for each in tried for fault in each]
    match observation:
        case cm.Missing(reason=reason, partial=partial):
            known = None if partial is None else partial.used_tokens
            if "missing" in expect:
                named = expect["missing"]
                unmet = [f"missing {reason}"] if named and reason not in named else []
                if "partial_used" in expect and known != expect["partial_used"]:
                    unmet.append(f"partial {known}")
                return unmet
            used_only = expect.get("used_only_ok") and known == expect.get("used_tokens")
            return [] if used_only and reason in LIMIT_REASONS else [f"missing {reason}"]
        case cm.Observed(value=cm.TokenMeasurement() as value):
            asked = {key: expect[key] for key in ("used_tokens", "limit_tokens") if key in expect}
            if not asked:
                return [f"observed {value.used_tokens}/{value.limit_tokens}"]
            return [
                f"{key} {getattr(value, key)}"
                for key, right in asked.items()
                if getattr(value, key) != right
            ]
        case cm.Observed(value=value):
            right = expect.get("used_percent")
            if right is not None and abs(value.used_percent - right) <= expect.get("tol", 0):
                return []
            return [f"observed {value.used_percent} %"]


@pytest.mark.parametrize("case", ALL, ids=lambda case: case["id"])
def test_the_case_has_its_right_answer(case: dict[str, Any], tmp_path: Path) -> None:
    readable: list[Any]
    if "file" in case:
        path = CASES / case["file"]
        readable = [path, str(path), path.read_bytes()]
    else:
        payload = case["payload"]
        written = tmp_path / "payload.json"
        written.write_text(json.dumps(payload), encoding="utf-8")
        readable = [payload, json.dumps(payload).encode(), written]
    for data in readable:
        observation = cm.observe(case["source"], data, at=AT)
        assert faults(observation, case["expect"]) == []


OBSERVED = cm.observe(
    "claude.transcript", CASES / "transcripts" / "01_plain.jsonl", at=AT
)  # 41,500 of 200,000
UNKNOWN = cm.observe("claude.transcript", CASES / "transcripts" / "08_unknown_model.jsonl", at=AT)
SHARE = cm.observe("claude.status_line", {"context_window": {"used_percentage": 16.7}}, at=AT)


@pytest.mark.parametrize(
    ("observation", "expect"),
    [
        (OBSERVED, {"used_tokens": 41_501}),
        (OBSERVED, {"used_tokens": 41_500, "limit_tokens": 1_000_000}),
        (OBSERVED, {"missing": []}),
        (OBSERVED, {"used_percent": 20.75}),
        (OBSERVED, {"any_of": [{"missing": []}, {"used_tokens": 1}]}),
        (UNKNOWN, {"used_tokens": 41_500}),
        (UNKNOWN, {"used_tokens": 1, "used_only_ok": True}),
        (UNKNOWN, {"missing": ["compacted"]}),
        (UNKNOWN, {"missing": ["model_unknown"], "partial_used": 1}),
        (SHARE, {"used_percent": 16.5, "tol": 0.1}),
        (SHARE, {"used_tokens": 41_500}),
        (SHARE, {"missing": []}),
    ],
)
def test_a_wrong_answer_is_found(observation: cm.Observation, expect: dict[str, Any]) -> None:
    assert faults(observation, expect)


@pytest.mark.parametrize(
    ("observation", "expect"),
    [
        (UNKNOWN, {"missing": []}),
        (UNKNOWN, {"used_tokens": 41_500, "used_only_ok": True}),
        (SHARE, {"any_of": [{"missing": []}, {"used_percent": 16.7}]}),
    ],
)
def test_a_right_answer_is_none(observation: cm.Observation, expect: dict[str, Any]) -> None:
    assert faults(observation, expect) == []
