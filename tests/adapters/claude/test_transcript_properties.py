"""What holds for all session files, beside the suite of `test_conformance`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar

from claude_sessions import read
from hypothesis import given
from hypothesis import strategies as st

from ctxmeasure.adapters.claude.transcript import TRANSCRIPT
from ctxmeasure.evidence import Gap, Phase, UsedTokens
from ctxmeasure.testing import START, sessions
from ctxmeasure.testing.claude.rows import TranscriptRows
from ctxmeasure.testing.claude.transcript import AGENT, TranscriptWriter
from ctxmeasure.testing.session import joined
from ctxmeasure.testing.subject import Subject

OTHER_SESSION = "0123abcd-0000-4000-8000-00000000000f"


class PreservingWriter(TranscriptWriter):
    """Writes preserved rows again behind compactions; the clock that tells them is never set."""

    steps: ClassVar[tuple[str, ...]] = (
        *(step for step in TranscriptWriter.steps if step != "set_clock_back"),
        "preserve",
    )


@given(sessions(PreservingWriter))
def test_a_row_that_a_compaction_preserves_is_not_counted(session: PreservingWriter) -> None:
    Subject(TRANSCRIPT, PreservingWriter).assert_true(session.rows.content, session.written[-1])


class SteadyWriter(TranscriptWriter):
    """Writes by a clock that is never set back: a response of before its compaction is refused.

    That is seen only where the compaction is in the window.
    """

    steps: ClassVar[tuple[str, ...]] = tuple(
        step for step in TranscriptWriter.steps if step != "set_clock_back"
    )


@given(sessions(SteadyWriter), st.integers(1, 4_000), st.booleans())
def test_a_window_that_grows_comes_to_what_the_whole_file_shows(
    session: SteadyWriter, window: int, with_turn: bool
) -> None:
    content = session.rows.content
    asked: dict[str, Any] = {"turn_id": session.rows.prompt_id} if with_turn else {}
    assert read(content, window=window, **asked) == read(content, **asked)


@given(sessions(TranscriptWriter), sessions(TranscriptWriter), st.data())
def test_rows_of_other_sessions_and_agents_change_nothing(
    session: TranscriptWriter, other: TranscriptWriter, data: st.DataObject
) -> None:
    mine = session.rows
    stranger: Mapping[str, Any] = data.draw(
        st.sampled_from(
            [{"sessionId": OTHER_SESSION}, {"agentId": "a0ther"}, {"isSidechain": True}]
        )
    )
    theirs = [{**row, **stranger} for row in other.rows.rows]
    rows = list(mine.rows)
    for row in theirs:  # between mine, under uuids of their own
        at = data.draw(st.integers(0, len(rows)))
        ids = {key: f"their-{row[key]}" for key in ("uuid", "parentUuid") if row.get(key)}
        rows.insert(at, {**row, **ids})
    rows += theirs  # behind mine, under the same uuids
    asked: dict[str, Any] = {"session_id": mine.session_id}
    for turn in ({}, {"turn_id": mine.prompt_id}, {"turn_started_at": START}):
        assert read(joined(rows), **asked, **turn) == read(mine.content, **asked, **turn)


@given(sessions(PreservingWriter), st.data())
def test_a_torn_tail_shows_what_its_whole_rows_show(
    session: PreservingWriter, data: st.DataObject
) -> None:
    content = session.rows.content
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


@given(st.lists(st.dictionaries(KEYS, ANYTHING, max_size=8), max_size=8), QUERIES)
def test_no_rows_raise(rows: list[dict[str, Any]], asked: dict[str, Any]) -> None:
    assert isinstance(read(joined(rows), **asked), UsedTokens | Gap)
