"""Where ctxmeasure and other tools differ: relations that hold for one and break for the other.

`relations` says what has to hold between two readings, `tongues` tells a conversation in the words
of every source, and `published_readers` has the readers that others have published.
"""

from __future__ import annotations

import pytest
from attrs import evolve
from hypothesis import Phase, find, given, settings
from published_readers import PEERS, Peer
from relations import RELATIONS, Pair, Relation
from tongues import TONGUES, Conversation, Said, Tongue

from ctxmeasure import registry
from ctxmeasure.assess import DEFAULT_POLICY

pytestmark = pytest.mark.once

BY_NAME = {relation.name: relation for relation in RELATIONS}
ASKED = [
    (relation, tongue)
    for relation in RELATIONS
    for tongue in TONGUES.values()
    if relation.needs <= tongue.can
]
FEW = settings(max_examples=10)
AS_DRAWN = settings(phases=[Phase.generate])  # the first that is found will do

# Sources of which nothing is ever measured: there is no reading that a change could change.
SILENT = {"text", "codex.hook"}


def ours(tongue: Tongue, relation: Relation, *told: Conversation) -> list[Said]:
    return [tongue.said(tongue.tell(conversation), relation.policy) for conversation in told]


def theirs(peer: Peer, *told: Conversation) -> list[Said]:
    return [peer.formula(TONGUES[peer.tongue].tell(conversation)) for conversation in told]


# -- ctxmeasure -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("relation", "tongue"), ASKED, ids=[f"{relation.name}: {t.name}" for relation, t in ASKED]
)
def test_a_relation_holds(relation: Relation, tongue: Tongue) -> None:
    @FEW
    @given(relation.pairs)
    def check(pair: Pair) -> None:
        before, after = ours(tongue, relation, *pair)
        assert relation.holds(before, after), (before, after)

    check()


def test_every_source_that_can_measure_is_asked() -> None:
    asked = {tongue.source for _, tongue in ASKED}
    assert asked == set(registry.ids()) - SILENT


# -- others ---------------------------------------------------------------------------------------

EACH_PEER = pytest.mark.parametrize("peer", PEERS, ids=lambda peer: f"{peer.report}: {peer.of}")


@EACH_PEER
def test_a_published_reader_breaks_its_relation(peer: Peer) -> None:
    relation, told = BY_NAME[peer.breaks], (peer.before, peer.after)
    assert not relation.holds(*theirs(peer, *told))
    assert relation.holds(*ours(TONGUES[peer.tongue], relation, *told))


@EACH_PEER
def test_a_published_reader_breaks_its_relation_in_what_is_drawn(peer: Peer) -> None:
    relation = BY_NAME[peer.breaks]

    def is_broken(pair: Pair) -> bool:
        return not relation.holds(*theirs(peer, *pair))

    assert is_broken(find(relation.pairs, is_broken, settings=AS_DRAWN))


@EACH_PEER
def test_a_published_reader_is_right_about_some_conversation(peer: Peer) -> None:
    tongue, relation = TONGUES[peer.tongue], BY_NAME[peer.breaks]
    if peer.right is None:
        (told,), (right,) = theirs(peer, peer.before), ours(tongue, relation, peer.before)
        assert not _agree(told, right)
    else:
        (told,), (right,) = theirs(peer, peer.right), ours(tongue, relation, peer.right)
        assert _agree(told, right)


def _agree(told: Said, right: Said) -> bool:
    """Return whether two readings are one, as far as the first one goes."""
    return right.is_number and told.used == right.used and told.limit in (None, right.limit)


@EACH_PEER
def test_an_example_says_what_both_say(peer: Peer) -> None:
    tongue, relation = TONGUES[peer.tongue], BY_NAME[peer.breaks]
    assert list(map(str, theirs(peer, peer.shown))) == [peer.theirs]
    assert list(map(str, ours(tongue, relation, peer.shown))) == [peer.ours]


def test_every_relation_is_broken_by_a_reader_but_the_one_that_a_policy_makes() -> None:
    own = {relation.name for relation in RELATIONS if relation.policy != DEFAULT_POLICY}
    assert {peer.breaks for peer in PEERS} == BY_NAME.keys() - own


@pytest.mark.parametrize("name", ["codex.rollout", "codex.app_server", "pi.session", "pi.stream"])
def test_an_agents_own_meter_breaks_what_the_policy_makes(name: str) -> None:
    (relation,) = (relation for relation in RELATIONS if relation.policy != DEFAULT_POLICY)
    tongue = TONGUES[name]
    own = evolve(relation, policy=DEFAULT_POLICY)

    def is_broken(pair: Pair) -> bool:
        return not own.holds(*ours(tongue, own, *pair))

    assert is_broken(find(relation.pairs, is_broken, settings=AS_DRAWN))
