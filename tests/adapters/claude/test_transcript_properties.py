"""What holds for all sessions: of a model of the conversation, and of any garbage in a file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeAlias

from attrs import define, field
from claude_sessions import read
from hypothesis import given
from hypothesis import strategies as st

from ctxmeasure.evidence import Evidence, Gap, Phase, UsedTokens
from ctxmeasure.testing import START
from ctxmeasure.testing.claude.rows import TranscriptRows
from ctxmeasure.testing.session import joined

Seen: TypeAlias = int | str
Op: TypeAlias = tuple[str, int]

AGENT = "a54e51b23b1dadccb"
OTHER_SESSION = "0123abcd-0000-4000-8000-00000000000f"


def shown(evidence: Evidence) -> Seen:
    """Return the used tokens, or the reason why there are none."""
    if isinstance(evidence, Gap):
        return evidence.reason.value
    assert isinstance(evidence, UsedTokens)
    assert evidence.usage is not None
    return evidence.usage.prompt_tokens


@define
class Story:
    """A session that is written by small steps, and what a reader must see of it.

    Attributes:
        session: Its writer.
        standing: For each row since the last compaction, what the conversation stands on there.
        turn_of: For each response (they all differ in size), its turn.
        newest: The newest response's size.
    """

    session: TranscriptRows = field(factory=TranscriptRows)
    standing: dict[str | None, Seen] = field(factory=lambda: {None: "not_measured_yet"})
    turn_of: dict[Seen, str | None] = field(factory=dict)
    newest: Seen = "not_measured_yet"

    @property
    def seen(self) -> Seen:
        """What a reader must see."""
        here = self.standing[self.session.leaf]
        return here if here in {"compacted", self.newest} else "rewound"

    def seen_of(self, turn: str | None) -> Seen:
        """What a reader must see who asks for a turn."""
        if isinstance(self.seen, int) and self.turn_of[self.seen] != turn:
            return "turn_not_found"
        return self.seen

    def step(self, op: Op) -> None:
        """Write what *op* says."""
        name, size = op
        getattr(self, name)(size)

    def _stay(self, before: str | None) -> None:
        self.standing[self.session.leaf] = self.standing[before]

    def prompt(self, size: int) -> None:
        before = self.session.leaf
        self.session.prompt_id = f"turn-{len(self.session.rows)}"
        self.session.prompt("x" * size)
        self._stay(before)

    def respond(self, size: int) -> None:
        tokens = 1_000 + len(self.session.rows)
        blocks = [self.session.response(tokens, message_id=f"msg_{tokens}") for _ in range(size)]
        self.standing.update(dict.fromkeys(blocks, tokens))
        self.turn_of[tokens] = self.session.prompt_id
        self.newest = tokens

    def use_tools(self, size: int) -> None:
        """Write a response with parallel tool calls, whose results come in any order."""
        self.respond(3)
        blocks = [row["uuid"] for row in self.session.rows[-3:]]
        for shift in range(3):
            parent = blocks[(size + shift) % 3]
            self.session.tool_result(parentUuid=parent)
            self._stay(parent)

    def chain(self, size: int) -> None:
        """Write a row of some other type into the chain."""
        before = self.session.leaf
        kind = ("attachment", "system", "progress", "from-the-future")[size % 4]
        self.session.row(kind, subtype="api_error", text="x" * size)
        self._stay(before)

    def note(self, size: int) -> None:
        """Write a user row that nobody typed."""
        before = self.session.leaf
        self.session.prompt(**({"isMeta": True} if size % 2 else {"rowSource": "harness"}))
        self._stay(before)

    def fail(self, size: int) -> None:
        before = self.session.leaf
        self.session.error(isApiErrorMessage=bool(size % 2))
        self._stay(before)

    def aside(self, size: int) -> None:
        """Write rows that are no part of the conversation."""
        before = self.session.leaf
        self.session.loose({"type": "last-prompt", "leafUuid": before, "lastPrompt": "x" * size})
        self.session.response(9_000 + size, parentUuid=None, isSidechain=True)
        self.session.leaf = before

    def compact(self, size: int) -> None:
        self.session.compaction(post=size)
        boundary, summary = (row["uuid"] for row in self.session.rows[-2:])
        self.standing = {boundary: "compacted", summary: "compacted"}

    def rewind(self, size: int) -> None:
        """Go back to a row since the last compaction and ask something else."""
        self.session.leaf = list(self.standing)[size % len(self.standing)]
        self.prompt(0)

    def preserve(self, size: int) -> None:  # noqa: ARG002 - every step has a size
        """Compact, and write the newest response again behind the compaction."""
        rows = self.session.rows
        old = next((row for row in reversed(rows) if row["type"] == "assistant"), None)
        self.compact(0)
        if old is not None:
            self.session.loose({**old, "isSidechain": False, "parentUuid": self.session.leaf})
            self.session.leaf = old["uuid"]
            self.standing[old["uuid"]] = "compacted"


STEPS = ("prompt", "respond", "use_tools", "chain", "note", "fail", "aside", "compact", "rewind")


def stories(*steps: str) -> st.SearchStrategy[Story]:
    """Draw sessions that begin with a prompt and go on with any of *steps*."""
    sizes = {"respond": st.integers(1, 3)}
    op = st.sampled_from(steps).flatmap(
        lambda name: st.tuples(st.just(name), sizes.get(name, st.integers(0, 200)))
    )
    return st.lists(op, max_size=25).map(_told)


def _told(ops: list[Op]) -> Story:
    story = Story()
    story.prompt(0)
    for op in ops:
        story.step(op)
    return story


@given(stories(*STEPS, "preserve"), st.sampled_from(Phase))
def test_a_reader_sees_what_the_conversation_stands_on(story: Story, phase: Phase) -> None:
    session = story.session
    assert shown(read(session.content)) == story.seen
    asked: dict[str, Any] = {"session_id": session.session_id, "phase": phase}
    found = read(session.content, **asked, turn_id=session.prompt_id)
    assert shown(found) == story.seen_of(session.prompt_id)
    assert shown(read(session.content, **asked, turn_id="no-turn")) in {
        "turn_not_found",
        story.seen if isinstance(story.seen, str) else "turn_not_found",
    }


@given(stories(*STEPS), st.integers(1, 4_000), st.booleans())
def test_bytes_before_the_window_decide_only_whether_there_is_an_answer(
    story: Story,
    window: int,
    with_turn: bool,
) -> None:
    content = story.session.content
    asked: dict[str, Any] = {"turn_id": story.session.prompt_id} if with_turn else {}
    whole = read(content, **asked)
    assert read(content, window=window, **asked) == whole
    found = read(content, window=window, budget=window, **asked)
    assert found == whole or shown(found) in {
        "budget_exhausted",
        "chain_truncated",
        "not_measured_yet",
    }


@given(stories(*STEPS, "preserve"), stories(*STEPS), st.data())
def test_rows_of_other_sessions_and_agents_change_nothing(
    story: Story, other: Story, data: st.DataObject
) -> None:
    mine = story.session
    stranger: Mapping[str, Any] = data.draw(
        st.sampled_from([{"sessionId": OTHER_SESSION}, {"agentId": AGENT}, {"isSidechain": True}])
    )
    theirs = [{**row, **stranger} for row in other.session.rows]
    rows = list(mine.rows)
    for row in theirs:  # between mine, under uuids of their own
        at = data.draw(st.integers(0, len(rows)))
        ids = {key: f"their-{row[key]}" for key in ("uuid", "parentUuid") if row.get(key)}
        rows.insert(at, {**row, **ids})
    rows += theirs  # behind mine, under the same uuids
    asked: dict[str, Any] = {"session_id": mine.session_id}
    for turn in ({}, {"turn_id": mine.prompt_id}, {"turn_started_at": START}):
        assert read(joined(rows), **asked, **turn) == read(mine.content, **asked, **turn)


# -- garbage ----------------------------------------------------------------------------------

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=10)
    | st.sampled_from(["assistant", "user", "system", "compact_boundary", "model", "turn-0"])
)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["type", "id", "model", "usage", "uuids", "identity", "modelId", "text"]
            )
            | st.text(max_size=5),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)
KEYS = st.sampled_from(
    [
        *("type", "subtype", "uuid", "parentUuid", "sessionId", "session_id", "timestamp"),
        *("agentId", "teamName", "isSidechain", "isMeta", "message", "version", "promptId"),
        *("isCompactSummary", "compactMetadata", "requestedModel", "attachment", "modelUsage"),
        *("isApiErrorMessage", "interruptedMessageId", "forkedFrom"),
    ]
)
MESSAGE_KEYS = st.sampled_from(["id", "model", "content", "usage", "role"])
QUERIES = st.fixed_dictionaries(
    {"phase": st.sampled_from(Phase)},
    optional={
        "session_id": st.just(TranscriptRows().session_id),
        "agent_id": st.just(AGENT),
        "turn_id": st.sampled_from(["turn-0", "turn-3", "\ud800", "two\nlines"]),
        "turn_started_at": st.just(START),
        "window": st.integers(1, 3_000),
    },
)


@given(stories(*STEPS, "preserve"), st.data(), QUERIES)
def test_no_wrong_value_in_any_field_raises(
    story: Story, data: st.DataObject, asked: dict[str, Any]
) -> None:
    rows = story.session.rows
    rows.append({"type": "attachment", "attachment": {"type": "model", "identity": {"modelId": 1}}})
    rows.append({"type": "cost-state", "modelUsage": {"": 1}})
    for _ in range(data.draw(st.integers(1, 8))):
        row = data.draw(st.sampled_from(rows))
        message = row.get("message")
        if isinstance(message, dict) and data.draw(st.booleans()):
            message[data.draw(MESSAGE_KEYS)] = data.draw(ANYTHING)
        else:
            row[data.draw(KEYS)] = data.draw(ANYTHING)
    assert isinstance(read(joined(rows), **asked), UsedTokens | Gap)


@given(st.lists(st.dictionaries(KEYS, ANYTHING, max_size=8), max_size=8), QUERIES)
def test_no_rows_raise(rows: list[dict[str, Any]], asked: dict[str, Any]) -> None:
    assert isinstance(read(joined(rows), **asked), UsedTokens | Gap)


@given(stories(*STEPS), st.binary(max_size=30), st.data(), QUERIES)
def test_no_bytes_raise(
    story: Story, junk: bytes, data: st.DataObject, asked: dict[str, Any]
) -> None:
    content = story.session.content
    at = data.draw(st.integers(0, len(content)))
    assert isinstance(read(content[:at] + junk + content[at:], **asked), UsedTokens | Gap)


@given(stories(*STEPS, "preserve"), st.data())
def test_a_torn_tail_shows_an_older_truth(story: Story, data: st.DataObject) -> None:
    content = story.session.content
    cut = data.draw(st.integers(0, len(content)))
    whole_rows = [
        raw for raw in content[:cut].splitlines() if raw.endswith(b"}") and _is_object(raw)
    ]
    assert read(content[:cut]) == read(b"\n".join(whole_rows))


def _is_object(raw: bytes) -> bool:
    try:
        return isinstance(json.loads(raw), dict)
    except ValueError:
        return False
