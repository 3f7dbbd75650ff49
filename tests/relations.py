"""Relations between what is said of a conversation and of one that was changed in one thing.

None of them says which number is right: each says how two readings have to stand to each other,
whatever the conversation. They are asked of ctxmeasure in every tongue that can tell both, and of
the readers in `published_readers`, each of which breaks one.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isclose
from typing import Any, TypeAlias

from attrs import evolve, frozen
from hypothesis import strategies as st
from tongues import (
    Again,
    Compaction,
    Conversation,
    Detour,
    Failure,
    Response,
    Said,
    Step,
    SubAgent,
    Text,
)

from ctxmeasure.assess import DEFAULT_POLICY, Policy

__all__ = ["RELATIONS", "Pair", "Relation"]

Pair: TypeAlias = tuple[Conversation, Conversation]

PROMPTS = Policy(counts="prompt")
FURTHER = 1_000
"""How many tokens more, where the number of them matters."""


@frozen(kw_only=True)
class Relation:
    """How the reading of a conversation stands to that of a changed one.

    Attributes:
        name: What holds.
        needs: What a tongue has to be able to tell.
        pairs: The conversations, before and after the change.
        holds: Whether it holds between what is said of the two.
        policy: What ctxmeasure is asked for.
    """

    name: str
    needs: frozenset[str]
    pairs: st.SearchStrategy[Pair]
    holds: Callable[[Said, Said], bool]
    policy: Policy = DEFAULT_POLICY


# -- conversations --------------------------------------------------------------------------------


@st.composite
def responses(draw: st.DrawFn) -> Response:
    """Draw a response of at most 90,000 tokens: twice that fits into every window."""
    output = draw(st.integers(1, 4_000))
    return Response(
        fresh=draw(st.integers(1_000, 20_000)),
        read=draw(st.integers(0, 50_000)),
        written=draw(st.integers(0, 16_000)),
        output=output,
        reasoning=draw(st.integers(0, output)),
    )


STEPS = st.lists(responses(), min_size=1, max_size=3).map(tuple)
TALKS = STEPS.map(Conversation)
COUNTS = st.integers(1_000, 190_000)


@st.composite
def inserted(
    draw: st.DrawFn, step: st.SearchStrategy[Step], least: int = 0, ways: int = 1
) -> tuple[Conversation, ...]:
    """Draw a conversation, and *ways* to put a step into it, behind *least* of its own or more."""
    talk = draw(TALKS)
    place = draw(st.integers(least, len(talk.steps)))
    head, tail = talk.steps[:place], talk.steps[place:]
    return (talk, *(Conversation((*head, draw(step), *tail)) for _ in range(ways)))


def put_in(step: st.SearchStrategy[Any], least: int = 0) -> st.SearchStrategy[Pair]:
    """Return pairs of a conversation without and with *step*."""
    return inserted(step, least).map(lambda drawn: (drawn[0], drawn[1]))


def put_in_two_ways(step: st.SearchStrategy[Any]) -> st.SearchStrategy[Pair]:
    """Return pairs of a conversation with *step* in it and with another one."""
    return inserted(step, ways=2).map(lambda drawn: (drawn[1], drawn[2]))


def changed_last(change: Callable[[Response], Response]) -> st.SearchStrategy[Pair]:
    """Return pairs of which the last response differs."""
    return TALKS.map(lambda talk: (talk, _with_last(talk, change)))


def _with_last(talk: Conversation, change: Callable[[Response], Response]) -> Conversation:
    *before, last = talk.steps
    assert isinstance(last, Response)
    return Conversation((*before, change(last)))


@st.composite
def split(draw: st.DrawFn) -> Pair:
    """Draw two conversations whose last prompts are cached differently and equally large."""
    talk = draw(TALKS)

    def other(last: Response) -> Response:
        read = draw(st.integers(0, last.prompt - 1))
        written = draw(st.integers(0, last.prompt - 1 - read))
        return evolve(last, fresh=last.prompt - read - written, read=read, written=written)

    return talk, _with_last(talk, other)


def doubled(talk: Conversation) -> Conversation:
    return _with_last(talk, lambda last: last + last)


@st.composite
def fallen(draw: st.DrawFn) -> Pair:
    """Draw a conversation, and how it goes on with a response of half as many tokens."""
    talk = draw(TALKS)
    (*_, last) = talk.steps
    assert isinstance(last, Response)
    fuller = doubled(talk)
    return fuller, fuller.then(last)


@st.composite
def compacted(draw: st.DrawFn) -> Pair:
    talk = draw(TALKS)
    return talk, talk.then(Compaction(draw(COUNTS)))


@st.composite
def behind(draw: st.DrawFn) -> Pair:
    """Draw a conversation, and the same one behind a compaction of another."""
    before, talk = draw(TALKS), draw(TALKS)
    return talk, before.then(Compaction(draw(COUNTS)), *talk.steps)


def with_other(**changes: st.SearchStrategy[Any]) -> st.SearchStrategy[Pair]:
    """Return pairs of which the circumstances differ."""
    drawn = st.fixed_dictionaries(changes)
    return st.tuples(TALKS, drawn, drawn).map(
        lambda parts: (evolve(parts[0], **parts[1]), evolve(parts[0], **parts[2]))
    )


WINDOWS = st.integers(190_000, 400_000)
UNKNOWN = st.sampled_from(["mystery-model-9", "my-claude-opus-4-8-build", "gateway/claude-opus-5"])


SMALL_WINDOWS = ["claude-haiku-4-5", "claude-opus-4-5", "claude-sonnet-4-5"]
LARGE_WINDOWS = ["claude-opus-4-8", "claude-opus-5", "claude-sonnet-5", "claude-fable-5"]


def with_model(before: list[str], after: list[str]) -> st.SearchStrategy[Pair]:
    """Return pairs of which the model is one and another of these."""
    models = st.tuples(st.sampled_from(before), st.sampled_from(after))
    return st.tuples(TALKS, models).map(
        lambda told: (evolve(told[0], model=told[1][0]), evolve(told[0], model=told[1][1]))
    )


def looped(talk: Conversation, inner: tuple[Response, ...]) -> Conversation:
    """Return *talk* with a loop of tools before the end of its last response."""
    return _with_last(talk, lambda last: evolve(last, inner=inner))


@st.composite
def overfull(draw: st.DrawFn) -> Pair:
    """Draw a conversation with more tokens than its window, and one with still more."""
    full = Response(fresh=draw(st.integers(200_001, 400_000)))
    fuller = Response(fresh=full.fresh + FURTHER)
    return Conversation((full,)), Conversation((fuller,))


# -- what holds -----------------------------------------------------------------------------------


def same(before: Said, after: Said) -> bool:
    return before == after


def further(before: Said, after: Said) -> bool:
    return None not in (before.used, after.used) and _used(after) == _used(before) + FURTHER


def _used(said: Said) -> int:
    assert said.used is not None
    return said.used


def lower(before: Said, after: Said) -> bool:
    if before.used is None or after.used is None:
        return before.share is not None and after.share is not None and after.share < before.share
    return after.used < before.used


def ended(before: Said, after: Said) -> bool:
    return before.is_number and not after.is_number and after.used is None


def nothing_first(before: Said, after: Said) -> bool:
    return not before.is_number and after.is_number


def wider(before: Said, after: Said) -> bool:
    if before.limit is None or after.limit is None or before.used != after.used:
        return False
    return after.limit == 2 * before.limit and _share(before) == 2 * _share(after)


def _share(said: Said) -> float:
    assert said.share is not None
    return said.share


def without_limit(before: Said, after: Said) -> bool:
    is_told = after.reason == "model_unknown" and after.limit is None and after.share is None
    return is_told and before.limit is not None and before.used == after.used


def five_times_as_wide(before: Said, after: Said) -> bool:
    are_counted = before.limit is not None and before.used == after.used
    return are_counted and after.limit == 5 * (before.limit or 0)


def not_taken(before: Said, after: Said) -> bool:
    return before.is_number and (after == before or (after.used is None and not after.is_number))


def twice(before: Said, after: Said) -> bool:
    is_counted = before.used is None or after.used == 2 * before.used
    return is_counted and isclose(_share(after), 2 * _share(before))


def share_alone(before: Said, after: Said) -> bool:
    return before == after and before.used is None and before.limit is None


def _relation(name: str, needs: str, pairs: st.SearchStrategy[Pair], holds: Any) -> Relation:
    return Relation(name=name, needs=frozenset(needs.split()), pairs=pairs, holds=holds)


RELATIONS = (
    _relation(
        "a sub-agent changes nothing", "sub_agent", put_in(st.builds(SubAgent, COUNTS)), same
    ),
    _relation(
        "a response that is written down again changes nothing",
        "again",
        put_in(st.just(Again()), least=1),
        same,
    ),
    _relation(
        "a failed call changes nothing", "failure", put_in(st.builds(Failure, st.booleans())), same
    ),
    _relation(
        "the length of a text changes nothing",
        "text",
        put_in_two_ways(st.builds(Text, st.integers(1, 4_000))),
        same,
    ),
    _relation(
        "the calls of a loop before the last one change nothing",
        "loop",
        st.tuples(TALKS, STEPS).map(lambda told: (told[0], looped(*told))),
        same,
    ),
    _relation("how a prompt is cached changes nothing", "parts", split(), same),
    evolve(
        _relation(
            "the output is no part of the prompt",
            "parts",
            changed_last(lambda last: evolve(last, output=last.output + FURTHER)),
            same,
        ),
        policy=PROMPTS,
    ),
    _relation(
        "the output does not count where the agent's meter leaves it out",
        "outputless",
        changed_last(lambda last: evolve(last, output=last.output + FURTHER)),
        same,
    ),
    _relation(
        "the output counts where the agent's meter counts it",
        "output",
        changed_last(lambda last: evolve(last, output=last.output + FURTHER)),
        further,
    ),
    _relation(
        "the reasoning lies inside the output",
        "reasoning",
        changed_last(lambda last: evolve(last, reasoning=last.output - last.reasoning)),
        same,
    ),
    _relation(
        "a sum beside the usage changes nothing",
        "billed",
        with_other(billed=st.integers(0, 5_000_000)),
        same,
    ),
    _relation("a response of fewer tokens lowers the reading", "later", fallen(), lower),
    _relation("a compaction ends the old number", "compaction", compacted(), ended),
    _relation(
        "what a compaction says of itself changes nothing",
        "compaction",
        TALKS.flatmap(
            lambda talk: st.tuples(COUNTS, COUNTS).map(
                lambda left: (talk.then(Compaction(left[0])), talk.then(Compaction(left[1])))
            )
        ),
        same,
    ),
    _relation("nothing before a compaction counts behind it", "behind", behind(), same),
    _relation(
        "a response that was gone back from does not count",
        "detour",
        st.tuples(TALKS, responses()).map(lambda told: (told[0], told[0].then(Detour(told[1])))),
        not_taken,
    ),
    _relation(
        "what a parent's rows say changes nothing",
        "fork",
        st.tuples(TALKS, STEPS).map(lambda told: (told[0], evolve(told[0], parent=told[1]))),
        same,
    ),
    _relation(
        "a fork without a response of its own has no number",
        "fork",
        st.tuples(TALKS, STEPS).map(lambda told: (told[0], Conversation(parent=told[1]))),
        ended,
    ),
    _relation(
        "before the first response there is no number",
        "empty",
        TALKS.map(lambda talk: (Conversation(), talk)),
        nothing_first,
    ),
    _relation(
        "a window of twice the size halves the share and leaves the count",
        "window",
        st.tuples(TALKS, WINDOWS).map(
            lambda told: (evolve(told[0], window=told[1]), evolve(told[0], window=2 * told[1]))
        ),
        wider,
    ),
    _relation(
        "a model that nobody knows takes the limit and leaves the count",
        "unknown",
        st.tuples(TALKS, UNKNOWN).map(lambda told: (told[0], evolve(told[0], model=told[1]))),
        without_limit,
    ),
    _relation(
        "a model of another window has that one and the same count",
        "model",
        with_model(SMALL_WINDOWS, LARGE_WINDOWS),
        five_times_as_wide,
    ),
    _relation(
        "a long window that was asked for is the limit",
        "marker",
        with_model(["claude-opus-4-6"], ["claude-opus-4-6[1m]"]),
        five_times_as_wide,
    ),
    _relation(
        "twice the tokens are twice the count and twice the share",
        "double",
        TALKS.map(lambda talk: (talk, doubled(talk))),
        twice,
    ),
    _relation("beyond the window every further token shows", "over", overfull(), further),
    _relation(
        "a share says nothing of counts",
        "share",
        st.tuples(st.integers(10, 990), WINDOWS).map(
            lambda told: (
                Conversation(share=told[0] / 10, window=told[1]),
                Conversation(share=told[0] / 10, window=2 * told[1]),
            )
        ),
        share_alone,
    ),
)
