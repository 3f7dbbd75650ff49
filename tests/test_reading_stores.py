"""The verb on a store: rounds of keys, faults of the file, and wrong arguments."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import ctxmeasure as cm
from ctxmeasure.bounded.keys import Key, KeyValues, Lack
from ctxmeasure.evidence import (
    Channel,
    Evidence,
    Gap,
    NeedKeys,
    Origin,
    Query,
    UsedPercent,
)
from ctxmeasure.source import StoreSource
from ctxmeasure.testing import databases

NOWHERE = Gap(reason=cm.MissingReason.SESSION_NOT_FOUND)


def asking(answer: Callable[[KeyValues, Query], Evidence | NeedKeys]) -> StoreSource:
    origin = Origin(
        adapter="test", source="test.store", method="test_store", channel=Channel.LAGGING
    )
    return StoreSource(origin=origin, about="The values of a test", extract=answer)


def item(name: str) -> Key:
    return Key("ItemTable", name)


def following(values: KeyValues, _: Query) -> Evidence | NeedKeys:
    """Follow the key in each value to the next, until one is a percentage."""
    name = "first"
    while (value := values.get(item(name))) is not None:
        if not isinstance(value, bytes):
            return NOWHERE
        link = json.loads(value)
        if isinstance(link, float):
            return UsedPercent(used_percent=link, measured_at=values.modified_at)
        name = link
    return NeedKeys((item(name),), Gap(reason=cm.MissingReason.BUDGET_EXHAUSTED))


def chain(path: Path, links: int) -> Path:
    """Write a percentage behind so many keys."""
    names = ["first", *(f"key {n}" for n in range(1, links))]
    values = [json.dumps(name) for name in names[1:]] + ["12.5"]
    return databases.write(path, {"ItemTable": dict(zip(names, values, strict=True))})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


def test_keys_are_read_until_there_is_evidence(path: Path) -> None:
    observation = cm.observe(asking(following), chain(path, 4))
    assert isinstance(observation, cm.Observed)
    assert observation.value.method == "test_store"
    stats = observation.provenance.stats
    assert stats == cm.ReadStats(bytes_read=3 * len('"key 1"') + len("12.5"), rows_decoded=4)


def test_an_adapter_that_never_has_enough_gets_its_fallback(path: Path) -> None:
    observation = cm.observe(asking(following), chain(path, 5))
    assert isinstance(observation, cm.Missing)
    assert observation.reason is cm.MissingReason.BUDGET_EXHAUSTED
    assert observation.provenance.stats.rows_decoded == 4


def test_evidence_may_need_no_key_at_all(path: Path) -> None:
    observation = cm.observe(asking(lambda _, __: NOWHERE), chain(path, 1))
    assert isinstance(observation, cm.Missing)
    assert observation.reason is cm.MissingReason.SESSION_NOT_FOUND
    assert observation.provenance.stats == cm.ReadStats()


def test_what_keeps_a_value_from_being_read_is_the_reason(path: Path) -> None:
    budget = cm.ReadBudget(maximum=10)
    observation = cm.observe(asking(following), chain(path, 2), budget=budget)
    assert isinstance(observation, cm.Missing)
    assert observation.reason is cm.MissingReason.BUDGET_EXHAUSTED
    assert observation.provenance.stats.bytes_read == len('"key 1"')


def test_what_keeps_a_store_from_being_opened_is_the_reason(path: Path) -> None:
    for content, reason in ((None, "source_absent"), (b"garbage", "source_malformed")):
        if content is not None:
            path.write_bytes(content)
        observation = cm.observe(asking(following), path)
        assert isinstance(observation, cm.Missing)
        assert observation.reason.value == reason


def test_a_path_may_be_a_str(path: Path) -> None:
    assert isinstance(cm.observe(asking(following), str(chain(path, 1))), cm.Observed)


def test_the_clock_of_a_store_is_its_files(path: Path) -> None:
    written = datetime.fromtimestamp(chain(path, 1).stat().st_mtime, UTC)
    observation = cm.observe(asking(following), path)
    assert isinstance(observation, cm.Observed)
    assert abs(observation.value.measured_at - written) < timedelta(milliseconds=2)


@pytest.mark.parametrize("wrong", [b"store.db", io.BytesIO(b""), {}, None, 5])
def test_a_store_is_read_from_a_path_only(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"^data: expected a path$"):
        cm.observe(asking(following), wrong)


def test_a_store_source_has_an_id_and_recognises_nothing() -> None:
    source = asking(following)
    assert source.id == "test.store"
    assert source.recognise is None


def test_a_value_that_is_not_there_is_for_the_adapter_to_explain(path: Path) -> None:
    databases.write(path, {})
    seen: list[object] = []

    def answer(values: KeyValues, _: Query) -> Evidence | NeedKeys:
        keys = (item("a"), Key("elsewhere", "a"))
        seen.extend(values.get(key) for key in keys)
        return NeedKeys(keys, NOWHERE) if None in seen and len(seen) == 2 else NOWHERE

    cm.observe(asking(answer), path)
    assert seen == [None, None, Lack.NO_ROW, Lack.NO_COLUMN]
