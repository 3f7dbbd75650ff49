"""What `conformance` takes, which checks it makes, and that a source without data is one too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any, ClassVar

import pytest
from hypothesis import settings

from ctxmeasure import Policy, claude, cursor
from ctxmeasure.evidence import (
    Channel,
    Claim,
    Evidence,
    Origin,
    Quantity,
    Query,
    UsedTokens,
)
from ctxmeasure.observation import MissingReason, UsedBasis
from ctxmeasure.source import PayloadSource, Source
from ctxmeasure.testing import Answer, Check, StoreWriter, Truth, Writer, conformance
from ctxmeasure.testing.claude.payloads import ContextUsageWriter
from ctxmeasure.testing.writers import WRITERS

ONE = settings(max_examples=1, database=None)
SOME = settings(max_examples=20, database=None)


class Stepless(Writer):
    """Takes no step."""


class NeverTold(Writer):
    """Says nothing of what is true."""

    steps: ClassVar[tuple[str, ...]] = ("hand_over",)

    def hand_over(self, size: int) -> None:
        """Hand over an empty payload."""
        self.write({"size": size})


class Untrue(NeverTold):
    """Says what is not true."""

    def answers(self) -> Iterator[Answer]:
        """Return what no payload shows."""
        yield Answer(Truth.tokens(1, 2, self.now))


class Asking(ContextUsageWriter):
    """Asks with a limit, and for estimates, too."""

    def answers(self) -> Iterator[Answer]:
        """Return what is seen by who declares a limit, and by who accepts estimates."""
        yield from super().answers()
        seen = self._seen
        if seen.used_tokens is None:
            return
        used = seen.used_tokens
        if seen.reason == "estimate_only":
            estimate = Truth.tokens(used, 200_000, self.now)
            yield Answer(estimate, policy=Policy(accept_estimates=True))
        else:
            declared = Truth.tokens(used, 1_000_000, self.now)
            yield Answer(declared, limit_tokens=1_000_000)
            aged = Policy(max_age=timedelta(days=2))
            yield Answer(declared, limit_tokens=1_000_000, policy=aged, phase="active")


def names(source: Source | str, writer: type[Writer], **given: Any) -> set[str]:
    return {check.name for check in conformance(source, writer, **given)}


@pytest.mark.parametrize(
    ("source", "writer", "error", "argument"),
    [
        ("no.such", NeverTold, ValueError, "source"),
        (7, NeverTold, TypeError, "source"),
        ("claude.hook", Source, TypeError, "writer"),
        ("claude.hook", NeverTold(), TypeError, "writer"),
        ("claude.hook", StoreWriter, TypeError, "writer"),
        ("cursor.composer", NeverTold, TypeError, "writer"),
        ("claude.hook", Stepless, ValueError, "writer"),
    ],
)
def test_a_wrong_argument_is_named(
    source: Any, writer: Any, error: type[Exception], argument: str
) -> None:
    with pytest.raises(error, match=f"^{argument}: "):
        conformance(source, writer)


def test_a_source_is_given_by_itself_or_by_its_id() -> None:
    (writer,) = WRITERS["claude.hook"]
    assert names(claude.HOOK, writer) == names("claude.hook", writer)


def test_what_is_checked_hangs_on_the_kind_of_the_source() -> None:
    payload = names(claude.HOOK, WRITERS["claude.hook"][0])
    store = names(cursor.COMPOSER, WRITERS["cursor.composer"][0])
    stream = names(claude.STREAM, WRITERS["claude.stream"][0])
    tail = names(claude.TRANSCRIPT, WRITERS["claude.transcript"][0])
    assert "leaves_nothing_behind" in store - payload - stream - tail
    assert "does_not_feel_chunks" in stream - payload - store - tail
    assert "knows_nothing_before_its_window" in tail - payload - store - stream
    assert "shows_nothing_of_a_cut_payload" in payload - store - stream - tail
    assert "is_deaf_to_strangers" in (store & stream & tail) - payload


def test_a_twin_is_compared_when_there_is_one() -> None:
    twin = ("claude.transcript", WRITERS["claude.transcript"][0])
    (writer,) = WRITERS["claude.stream"]
    assert names("claude.stream", writer, twin=twin) - names("claude.stream", writer) == {
        "agrees_with_its_twin"
    }


def test_a_check_is_known_by_its_name() -> None:
    check = conformance("claude.hook", WRITERS["claude.hook"][0])[0]
    assert str(check) == check.name == "shows_the_truth_at_every_step"
    assert repr(check) == "Check(name='shows_the_truth_at_every_step')"


def test_a_writer_that_says_nothing_or_no_truth_does_not_pass() -> None:
    told_nothing = conformance("claude.hook", NeverTold, settings=ONE)
    with pytest.raises(NotImplementedError):
        told_nothing[0]()
    untrue = conformance("claude.hook", Untrue, settings=ONE)
    with pytest.raises(AssertionError, match=r"true: .*\n.*told: ") as failed:
        untrue[0]()
    (note,) = failed.value.__notes__
    assert note == "after 1 of the 1 written by session_of(writer, [('hand_over', 0)])"


ASKING = conformance("claude.context_usage", Asking, settings=SOME)


@pytest.mark.parametrize("check", ASKING, ids=str)
def test_a_question_may_have_a_policy_and_a_limit(check: Check) -> None:
    check()


class Counted(NeverTold):
    """Knows a count, and neither a model nor a limit."""

    def answers(self) -> Iterator[Answer]:
        """Return the count that is still known."""
        yield Answer(Truth.missing("model_not_reported", used_tokens=7))


def cure_of(**fields: Any) -> Check:
    def extract(_: Mapping[str, Any], query: Query) -> Evidence:
        sample = {"used_tokens": 7, "used_basis": UsedBasis.PROMPT, "measured_at": query.at}
        return UsedTokens(**{**sample, **fields})

    origin = Origin(adapter="a", source="a.b", method="a_b", channel=Channel.HANDED_OVER)
    source = PayloadSource(origin=origin, about="A count", extract=extract)
    checks = {check.name: check for check in conformance(source, Counted, settings=SOME)}
    return checks["is_cured_as_its_reason_advises"]


def test_what_a_reason_advises_has_to_help() -> None:
    cure_of()()
    with pytest.raises(AssertionError):  # the model that is passed is not looked at
        cure_of(limit_missing=MissingReason.MODEL_NOT_REPORTED)()


def test_with_a_limit_something_else_may_be_seen_to_be_wrong() -> None:
    cure_of(claims=(Claim(Quantity.USED_TOKENS, 9),))()


def test_without_settings_those_in_force_hold() -> None:
    (survives,) = (
        check
        for check in conformance("claude.hook", WRITERS["claude.hook"][0])
        if check.name == "survives_the_wire"
    )
    survives()
