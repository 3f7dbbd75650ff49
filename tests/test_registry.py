"""The table of sources: built-in ones, and those that other packages bring along."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.metadata import EntryPoint, EntryPoints
from types import SimpleNamespace
from typing import Any

import pytest
from attrs import evolve
from judging import AT, pair

import ctxmeasure as cm
from ctxmeasure import registry
from ctxmeasure.adapters import acp, claude, codex, cursor, pi, text
from ctxmeasure.evidence import Channel, Origin
from ctxmeasure.source import PayloadSource, StoreSource, StreamSource, TailSource

ORIGIN = Origin(
    adapter="vendor", source="vendor.payload", method="vendor_payload", channel=Channel.HANDED_OVER
)
PLUGGED_IN = PayloadSource(
    origin=ORIGIN, about="A vendor's payload", extract=lambda _payload, _query: pair()
)

Install = Callable[..., None]


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Install:
    """Return a function that installs a distribution with the entries it is given."""

    def install(**entries: Any) -> None:
        module = SimpleNamespace(**{f"entry{n}": found for n, found in enumerate(entries.values())})
        monkeypatch.setitem(sys.modules, "vendor_of_sources", module)
        installed = EntryPoints(
            EntryPoint(source_id, f"vendor_of_sources:entry{n}", registry.ENTRY_POINT_GROUP)
            for n, source_id in enumerate(entries)
        )
        others = EntryPoints([EntryPoint("vendor.payload", "nowhere:nothing", "other.group")])
        both = EntryPoints([*installed, *others])
        monkeypatch.setattr("importlib.metadata.entry_points", both.select)

    return install


BUILT_IN = {
    "claude.transcript": claude.TRANSCRIPT,
    "claude.stream": claude.STREAM,
    "claude.status_line": claude.STATUS_LINE,
    "claude.context_usage": claude.CONTEXT_USAGE,
    "claude.hook": claude.HOOK,
    "codex.rollout": codex.ROLLOUT,
    "codex.app_server": codex.APP_SERVER,
    "codex.exec": codex.EXEC,
    "codex.hook": codex.HOOK,
    "cursor.hook": cursor.HOOK,
    "cursor.status_line": cursor.STATUS_LINE,
    "cursor.chat_store": cursor.CHAT_STORE,
    "cursor.composer": cursor.COMPOSER,
    "pi.session": pi.SESSION,
    "pi.stream": pi.STREAM,
    "pi.rpc": pi.RPC,
    "acp.session": acp.SESSION,
    "text": text.TEXT,
}


@pytest.mark.parametrize("source_id", BUILT_IN)
def test_a_built_in_source_is_found_by_its_id(source_id: str) -> None:
    assert registry.find(source_id) is BUILT_IN[source_id]
    assert registry.find(source_id).id == source_id


def test_every_source_that_is_listed_is_found_and_says_what_it_is() -> None:
    found = list(registry.sources())
    assert tuple(source.id for source in found) == registry.ids()
    assert set(BUILT_IN) <= set(registry.ids())
    for source in found:
        assert isinstance(source, TailSource | PayloadSource | StreamSource | StoreSource)
        assert source.origin.adapter == source.id.partition(".")[0]
        assert source.about
        assert not source.about.endswith(".")


def test_no_two_sources_share_a_method() -> None:
    methods = [source.origin.method for source in registry.sources()]
    assert len(methods) == len(set(methods))


def test_a_source_of_another_package_is_found_and_listed_last(install: Install) -> None:
    install(**{"vendor.payload": PLUGGED_IN})
    assert registry.find("vendor.payload") is PLUGGED_IN
    assert registry.ids()[-1] == "vendor.payload"
    assert list(registry.sources())[-1] is PLUGGED_IN


def test_a_source_of_another_package_is_observed_like_any_other(install: Install) -> None:
    install(**{"vendor.payload": PLUGGED_IN})
    observation = cm.observe("vendor.payload", {}, at=AT)
    assert isinstance(observation, cm.Observed)
    assert observation.value.method == "vendor_payload"
    assert observation.provenance.source == "vendor.payload"


def test_sources_of_other_packages_are_listed_once_and_in_order(install: Install) -> None:
    install(**{"b.source": PLUGGED_IN, "a.source": PLUGGED_IN})
    assert registry.ids()[-2:] == ("a.source", "b.source")


def test_no_package_can_replace_a_built_in_source(install: Install) -> None:
    install(**{"claude.stream": PLUGGED_IN})
    assert registry.find("claude.stream") is claude.STREAM
    assert registry.ids().count("claude.stream") == 1


@pytest.mark.parametrize("bad", [None, object(), PayloadSource, "vendor.payload", ORIGIN])
def test_a_plug_in_that_is_no_source_is_refused_with_its_group(install: Install, bad: Any) -> None:
    install(**{"vendor.payload": bad})
    with pytest.raises(TypeError, match=r"^source: .*'ctxmeasure\.sources'"):
        registry.find("vendor.payload")


def test_a_plug_in_whose_source_goes_by_another_id_is_refused(install: Install) -> None:
    other = evolve(PLUGGED_IN, origin=evolve(ORIGIN, source="vendor.other"))
    install(**{"vendor.payload": other})
    with pytest.raises(ValueError, match=r"^source: .*'ctxmeasure\.sources'"):
        registry.find("vendor.payload")


def test_a_plug_in_that_cannot_be_imported_says_so_and_harms_no_other(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(**{"vendor.payload": PLUGGED_IN})
    monkeypatch.delitem(sys.modules, "vendor_of_sources")
    with pytest.raises(ModuleNotFoundError, match="vendor_of_sources"):
        registry.find("vendor.payload")
    assert registry.find("claude.stream") is claude.STREAM


def test_an_id_that_no_source_has_is_a_wrong_argument() -> None:
    with pytest.raises(ValueError, match=r"^source: ") as raised:
        registry.find("secret.source")
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("wrong", [None, 5, b"claude.stream", ["claude.stream"]])
def test_what_is_no_id_is_a_wrong_argument(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"^source: "):
        registry.find(wrong)
