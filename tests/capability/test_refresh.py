"""The maintainer's refresh script classifies every difference and edits nothing."""

from __future__ import annotations

import importlib.util
import sys
from datetime import date
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ctxmeasure.capability.rows import ModelRow, Source, Span

PATH = Path(__file__).parents[2] / "scripts" / "refresh_models.py"


@pytest.fixture(scope="module")
def refresh() -> ModuleType:
    spec = importlib.util.spec_from_file_location("refresh_models", PATH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def row(model_id: str = "nova-1", window: int | None = 200_000, **more: Any) -> ModelRow:
    return ModelRow(
        **{
            "client": None,
            "provider": "acme",
            "id": model_id,
            "ids": (model_id,),
            "pattern": None,
            "window_tokens": window,
            "max_input_tokens": None,
            "max_output_tokens": None,
            "spans": (Span(windows=(window or 1,)),),
            "why": None,
            "since": None,
            "before": None,
            "gate": None,
            "sources": (
                Source(name="genai-prices-0.2.3", as_of=date(2026, 11, 1)),
                Source(name="litellm-1.110.2", as_of=date(2026, 11, 1)),
            ),
            **more,
        }
    )


def found(
    refresh: ModuleType, rows: list[ModelRow], stated: dict[str, dict[str, int | None]], **more: Any
) -> list[tuple[str, str, str]]:
    sources = {"genai-prices", "litellm"}
    keyed = {("acme", model_id): by_source for model_id, by_source in stated.items()}
    findings = refresh.findings(rows, keyed, installed=sources, **more)
    return [(each.kind, each.id, each.detail) for each in findings]


def test_what_the_sources_still_state_is_no_finding(refresh: ModuleType) -> None:
    stated: dict[str, dict[str, int | None]] = {
        "nova-1": {"genai-prices": 200_000, "litellm": 200_000}
    }
    assert found(refresh, [row()], stated) == []


def test_an_input_cap_counts_as_agreement(refresh: ModuleType) -> None:
    stated: dict[str, dict[str, int | None]] = {
        "nova-1": {"genai-prices": 400_000, "litellm": 272_000}
    }
    assert found(refresh, [row(window=400_000, max_input_tokens=272_000)], stated) == []


def test_an_id_that_no_row_knows_is_new_unless_it_was_left_out(refresh: ModuleType) -> None:
    stated: dict[str, dict[str, int | None]] = {"nova-2": {"litellm": 500_000}}
    assert found(refresh, [], stated) == [("new id", "nova-2", "litellm: 500000")]
    assert found(refresh, [], stated, untabled={"acme/nova-2"}) == []


def test_an_id_that_a_pattern_matches_is_not_new(refresh: ModuleType) -> None:
    dated = row(pattern="^nova-1(?:-[0-9]{8})?$")
    stated: dict[str, dict[str, int | None]] = {
        "nova-1": {"genai-prices": 200_000},
        "nova-1-20261129": {"litellm": 200_000},
    }
    assert found(refresh, [dated], stated) == []


def test_another_providers_id_is_another_model(refresh: ModuleType) -> None:
    other = row(provider="other", sources=())
    stated: dict[str, dict[str, int | None]] = {"nova-1": {"litellm": 1}}
    assert found(refresh, [other], stated) == [("new id", "nova-1", "litellm: 1")]


def test_a_value_that_all_sources_changed_alike_is_a_changed_value(refresh: ModuleType) -> None:
    stated: dict[str, dict[str, int | None]] = {
        "nova-1": {"genai-prices": 1_000_000, "litellm": 1_000_000}
    }
    assert found(refresh, [row()], stated) == [
        (
            "value changed",
            "nova-1",
            "genai-prices: 200000 -> 1000000, litellm: 200000 -> 1000000",
        )
    ]


def test_a_value_that_one_source_changed_is_a_disagreement(refresh: ModuleType) -> None:
    stated: dict[str, dict[str, int | None]] = {
        "nova-1": {"genai-prices": 200_000, "litellm": 1_000_000}
    }
    assert found(refresh, [row()], stated) == [
        ("sources now disagree", "nova-1", "litellm: 200000 -> 1000000")
    ]


def test_a_source_that_no_longer_lists_an_id_has_dropped_it(refresh: ModuleType) -> None:
    stated: dict[str, dict[str, int | None]] = {"nova-1": {"litellm": None}}
    assert found(refresh, [row()], stated) == [("source dropped id", "nova-1", "genai-prices")]


def test_a_source_that_never_stated_a_window_cannot_change_it(refresh: ModuleType) -> None:
    only_genai = row(sources=(Source(name="genai-prices-0.2.3", as_of=date(2026, 11, 1)),))
    stated: dict[str, dict[str, int | None]] = {
        "nova-1": {"genai-prices": 200_000, "litellm": 64_000}
    }
    assert found(refresh, [only_genai], stated) == []


def test_an_alias_with_another_window_has_moved(refresh: ModuleType) -> None:
    stated: dict[str, dict[str, int | None]] = {
        "nova-1": {"genai-prices": 1_000_000, "litellm": 1_000_000}
    }
    assert [kind for kind, *_ in found(refresh, [row(why="moving-alias")], stated)] == [
        "alias target moved"
    ]


def test_a_row_without_a_published_window_cannot_differ(refresh: ModuleType) -> None:
    stated: dict[str, dict[str, int | None]] = {"nova-1": {"genai-prices": 5, "litellm": 6}}
    assert found(refresh, [row(window=None)], stated) == []


def test_the_clients_rows_are_not_the_vendors(refresh: ModuleType) -> None:
    assert found(refresh, [row(client="pi")], {}) == []


@pytest.mark.parametrize("absent", ["genai_prices.data", "litellm"])
def test_a_missing_source_is_said_and_nothing_is_reported(
    refresh: ModuleType,
    absent: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    genai = ModuleType("genai_prices.data")
    genai.providers = ()  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "genai_prices", ModuleType("genai_prices"))
    monkeypatch.setitem(sys.modules, "genai_prices.data", genai)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    if absent != "litellm":
        monkeypatch.delitem(sys.modules, absent)
    assert refresh.main() == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert absent.partition("_")[0].partition(".")[0] in printed.err


def test_the_sources_are_read_in_the_tables_terms(
    refresh: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    def model(model_id: str, window: int | None) -> Any:
        found: Any = ModuleType(model_id)
        found.id, found.context_window = model_id, window
        return found

    def provider(provider_id: str, *models: Any) -> Any:
        found: Any = ModuleType(provider_id)
        found.id, found.models = provider_id, models
        return found

    genai: Any = ModuleType("genai_prices.data")
    genai.providers = (
        provider("anthropic", model("claude-3-opus-latest", 200_000), model("claude-nova-9", 7)),
        provider("groq", model("nova", 8)),
        provider("google", model("claude-opus-5", 9)),
    )
    monkeypatch.setitem(sys.modules, "genai_prices", ModuleType("genai_prices"))
    monkeypatch.setitem(sys.modules, "genai_prices.data", genai)
    (tmp_path / "model_prices_and_context_window_backup.json").write_text(
        '{"sample_spec": {}, "xai/grok-nova": {"litellm_provider": "xai", "mode": "chat", '
        '"max_input_tokens": 10}, "xai/grok-image": {"litellm_provider": "xai", "mode": "image"}}'
    )
    spec: Any = ModuleType("spec")
    spec.submodule_search_locations = [str(tmp_path)]
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: spec)
    assert refresh.main() == 1
    new = [line for line in capsys.readouterr().out.splitlines() if line.startswith("new id")]
    assert [line.split(maxsplit=2)[2] for line in new] == [
        "anthropic/claude-nova-9  genai-prices: 7",
        "xai/grok-nova  litellm: 10",
    ]


def test_a_litellm_without_its_table_is_a_missing_source(
    refresh: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    spec: Any = ModuleType("spec")
    spec.submodule_search_locations = [str(tmp_path)]
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: spec)
    with pytest.raises(refresh.SourceMissingError, match="no longer ships"):
        list(refresh.stated_by_litellm())
