"""Writes session files of any size that look like real ones, for the other benchmarks.

Row sizes are drawn from what 579 real Claude Code transcripts show (formats/claude.md §1.5): from
the last response to its prompt 26 rows and 125 KB in the median, 90 rows and 672 KB in the 90th
percentile; the longest line 71 KB in the median and never over 961 KB; bursts of rows per message,
bursts of progress rows with a sub-agent's usage inside, a compaction whenever the window is full.
One seed gives one file, byte for byte, and the same end to files of all sizes.
``python benchmarks/session_files.py claude 1024 PATH`` writes 1,024 MiB; nothing that is written
here is ever committed.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path

__all__ = ["KIB", "MIB", "WRITERS", "rollout", "transcript"]

KIB = 1024
MIB = 1024 * KIB
WINDOW = 200_000
CODEX_WINDOW = 258_400
_NEW_PROMPT = 18_000  # tokens of a conversation that has only begun
_NEW_REQUEST = 11_000
_START = datetime(2026, 11, 1, tzinfo=UTC)
_LONGEST_TEXT = 450 * KIB  # a tool's output stands twice in its row: 961 KB is the longest seen
_BUFFER = 4 * MIB
# Of the seeds up to 40, one whose file has a median end for both agents: Claude Code's response
# lies in the last 64 KiB, and the last turn of Codex is longer than 256 KiB.
MEDIAN_SEED = 31
_ALIKE = 512 * KIB  # how much of their ends files of one seed share: what a latest reading can see

# What tools print: code, logs and prose, with the escapes that JSON needs.
_WORDS = r"""
return self import def None error warning src/app/main.py 0x7fff = == ( ) { } -> ok lorem ipsum
dolor assistant usage tokens https://example.org/a/b 12345 PASSED é → \n \n\n \t \"quoted\"
\u001b[31m test_that_it_works
"""


class _Draws:
    """The random numbers and texts of one file."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._random = random.Random(seed)
        # One pool, cut at random: drawing every word anew would take minutes per gigabyte.
        words = self._random.choices(_WORDS.split(), k=600_000)
        self._pool = " ".join(words)
        self._offset_limit = len(self._pool) - 1

    def start_over(self) -> None:
        """Draw the same from here on, whatever was drawn before."""
        self._random.seed(self._seed)

    def uuid(self) -> str:
        digits = f"{self._random.getrandbits(128):032x}"
        return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-8{digits[17:20]}-{digits[20:]}"

    def text(self, median: float, spread: float) -> str:
        """Return a text whose length is drawn around *median* bytes, log-normally."""
        length = min(int(self._random.lognormvariate(0, spread) * median), _LONGEST_TEXT)
        pieces = []
        while length > 0:
            start = self._random.randrange(self._offset_limit // 2)
            piece = self._pool[start : start + length]
            pieces.append(_whole_escapes(piece))
            length -= len(piece)
        return "".join(pieces)

    def number(self, low: int, high: int) -> int:
        return self._random.randint(low, high)

    def happens(self, chance: float) -> bool:
        return self._random.random() < chance

    def burst(self, mean: float) -> int:
        """Return a number of rows, at least one, mostly small and now and then large."""
        return 1 + int(self._random.expovariate(1 / mean))


def _whole_escapes(piece: str) -> str:
    """Return *piece* without what was cut off an escape at either end."""
    _, space, rest = piece.partition(" ")
    head, last_space, _ = (rest if space else "").rpartition(" ")
    return head if last_space else ""


class _Session:
    """What the rows of a file share, and the clock that they are dated by."""

    def __init__(self, seed: int) -> None:
        self.draws = _Draws(seed)
        self.id = self.draws.uuid()
        self._now = _START

    def now(self) -> str:
        """Return the next row's time: some milliseconds or seconds after the last one's."""
        self._now += timedelta(milliseconds=self.draws.number(5, 2_000))
        return self._now.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def turn(self) -> Iterator[str]:
        """Write a prompt, the requests that it takes, and the turn's end."""
        raise NotImplementedError

    def start_over(self) -> None:
        """Go on as if the context were empty, with the same draws whatever came before."""
        self.draws.start_over()


# -- Claude Code ------------------------------------------------------------------------------


class _Transcript(_Session):
    """Rows as Claude Code 2.1.332 writes them, and the progress rows of 2.1.0 to 2.1.71."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.leaf: str | None = None
        self.prompt_id = self.draws.uuid()
        self.used = _NEW_PROMPT
        self._ends = (
            ',"userType":"external","entrypoint":"cli","cwd":"/home/dev/project",'
            f'"sessionId":"{self.id}","version":"2.1.332","gitBranch":"main"}}\n'
        )

    def start_over(self) -> None:
        super().start_over()
        self.used = _NEW_PROMPT

    def _row(self, before: str, between: str = "", *, root: bool = False) -> str:
        """Return a row that hangs off the last one: *before* and *between* go around its type."""
        parent = "null" if root or self.leaf is None else f'"{self.leaf}"'
        self.leaf = self.draws.uuid()
        return (
            f'{{"parentUuid":{parent},{before},"uuid":"{self.leaf}","timestamp":"{self.now()}"'
            f"{between}{self._ends}"
        )

    def prompt(self) -> str:
        self.prompt_id = self.draws.uuid()
        said = self.draws.text(300, 1.0)
        return self._row(
            f'"isSidechain":false,"promptId":"{self.prompt_id}","type":"user",'
            f'"message":{{"role":"user","content":"{said}"}}',
            ',"permissionMode":"default","promptSource":"typed","rowSource":"local"',
        )

    def response(self) -> Iterator[str]:
        """Write one response: a row per content block, all with the same usage."""
        draws = self.draws
        written = draws.number(200, 9_000)
        read, self.used = self.used, self.used + written
        message = f"msg_01{draws.number(0, 10**18):019}"
        request = f"req_01{draws.number(0, 10**18):019}"
        usage = (
            f'{{"input_tokens":4,"cache_creation_input_tokens":{written - 4},'
            f'"cache_read_input_tokens":{read},"output_tokens":{draws.number(30, 900)},'
            '"output_tokens_details":{"thinking_tokens":0},"server_tool_use":'
            '{"web_search_requests":0,"web_fetch_requests":0},"service_tier":"standard",'
            '"cache_creation":{"ephemeral_1h_input_tokens":0,'
            f'"ephemeral_5m_input_tokens":{written - 4}}},'
            '"inference_geo":"","iterations":[],"speed":"standard","fallback_credit":null}'
        )
        for block in range(1 + draws.happens(0.85) + draws.happens(0.3)):
            content = (
                f'{{"type":"text","text":"{draws.text(250, 1.0)}"}}'
                if block == 0
                else f'{{"type":"tool_use","id":"toolu_{draws.number(0, 10**9)}","name":"Bash",'
                f'"input":{{"command":"{draws.text(120, 1.2)}"}}}}'
            )
            yield self._row(
                f'"isSidechain":false,"message":{{"id":"{message}","type":"message",'
                '"role":"assistant","model":"claude-sonnet-4-5-20250929",'
                f'"content":[{content}],"stop_reason":"tool_use","stop_sequence":null,'
                f'"usage":{usage},"stop_details":null}},"apiBlockIndex":{block},'
                f'"requestId":"{request}","requestedModel":"claude-sonnet-4-5-20250929",'
                '"promptCacheRequested":"5m","type":"assistant"',
                ',"perTurnEffort":null,"madeBy":"model"',
            )

    def progress(self) -> Iterator[str]:
        """Write a burst of progress rows; a sub-agent's carry its usage, which is not ours."""
        draws = self.draws
        tool = f"toolu_{draws.number(0, 10**9)}"
        for _ in range(draws.burst(6)):
            if draws.happens(0.4):
                told = (
                    '"data":{"message":{"type":"assistant","message":{"model":"claude-haiku-4-5",'
                    f'"id":"msg_02{draws.number(0, 10**9)}","role":"assistant","content":'
                    f'[{{"type":"text","text":"{draws.text(500, 1.0)}"}}],'
                    '"usage":{"input_tokens":3,"cache_creation_input_tokens":900,"cache_read_input_tokens":9000,'
                    f'"output_tokens":50}}}},"uuid":"{draws.uuid()}"}},"type":"agent_progress"}}'
                )
            else:
                told = (
                    f'"data":{{"type":"bash_progress","output":"{draws.text(600, 1.2)}",'
                    '"elapsedTimeSeconds":3,"totalLines":12}'
                )
            yield self._row(f'"isSidechain":false,"type":"progress",{told},"toolUseID":"{tool}"')

    def tool_result(self) -> str:
        output = self.draws.text(3_600, 1.75)
        source = self.leaf
        return self._row(
            f'"isSidechain":false,"promptId":"{self.prompt_id}","type":"user","message":'
            '{"role":"user","content":[{"tool_use_id":"toolu_1","type":"tool_result",'
            f'"content":"{output}","is_error":false}}]}}',
            f',"toolUseResult":{{"stdout":"{output}","stderr":"","interrupted":false}},'
            f'"sourceToolAssistantUUID":"{source}"',
        )

    def attachment(self) -> str:
        return self._row(
            '"isSidechain":false,"attachment":{"type":"task_reminder","content":'
            f'"{self.draws.text(700, 1.0)}"}},"type":"attachment"'
        )

    def compaction(self) -> Iterator[str]:
        before, self.used = self.used, self.draws.number(12_000, 30_000)
        logical = self.leaf
        yield self._row(
            f'"logicalParentUuid":"{logical}","isSidechain":false,"type":"system",'
            '"subtype":"compact_boundary","content":"Conversation compacted","level":"info",'
            f'"compactMetadata":{{"trigger":"auto","preTokens":{before},'
            f'"postTokens":{self.used // 9}}}',
            root=True,
        )
        yield self._row(
            f'"isSidechain":false,"promptId":"{self.prompt_id}","type":"user","message":'
            f'{{"role":"user","content":"{self.draws.text(9_000, 0.4)}"}},'
            '"isVisibleInTranscriptOnly":true,"isCompactSummary":true'
        )

    def end_of_turn(self) -> Iterator[str]:
        yield self._row(
            '"isSidechain":false,"type":"system","subtype":"stop_hook_summary","hookCount":1,'
            '"hookErrors":[],"preventedContinuation":false,"stopReason":"","level":"suggestion"'
        )
        yield (
            '{"type":"file-history-snapshot","messageId":"'
            f'{self.leaf}","snapshot":{{"messageId":"{self.leaf}","trackedFileBackups":{{}}}},'
            '"isSnapshotUpdate":false}\n'
        )
        yield (
            f'{{"type":"last-prompt","lastPrompt":"{self.draws.text(80, 0.3)}",'
            f'"leafUuid":"{self.leaf}","sessionId":"{self.id}"}}\n'
        )

    def turn(self) -> Iterator[str]:
        """Write a prompt, the requests that it takes, and the turn's end."""
        yield self.prompt()
        for _ in range(self.draws.burst(6.5)):
            yield from self.work()
        yield from self.response()
        yield from self.end_of_turn()

    def work(self) -> Iterator[str]:
        """Write a response that calls a tool, and what comes of it."""
        if self.used > WINDOW - 20_000:
            yield from self.compaction()
        yield from self.response()
        if self.draws.happens(0.25):
            yield from self.progress()
        yield self.tool_result()
        if self.draws.happens(0.3):
            yield self.attachment()


def transcript(
    path: Path, size: int, *, seed: int = MEDIAN_SEED, open_turn: int = 0, trailing: int = 0
) -> int:
    """Write a Claude Code transcript of about *size* bytes that ends with a turn's end.

    Args:
        path: The file to write.
        size: Its least size in bytes; the turn that reaches it is finished.
        seed: What the rows are drawn by.
        open_turn: Bytes of a turn that still runs, behind the last one that has ended.
        trailing: Bytes of progress rows behind the last response.

    Returns:
        The prompt of the last response, in tokens.
    """
    session = _Transcript(seed)
    _write(path, session, size)
    with path.open("ab") as file:
        if open_turn:
            file.write(session.prompt().encode())
            _fill(file.write, session.work, open_turn)
        if trailing:
            _fill(file.write, session.progress, trailing)
    return session.used


# -- Codex ------------------------------------------------------------------------------------


class _Rollout(_Session):
    """Rows as Codex 0.171 writes them."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.id = self._uuid7()
        self.turn_id = ""
        self.last = _NEW_REQUEST
        self.total = 0
        self._ordinal = -1

    def start_over(self) -> None:
        super().start_over()
        self.last = _NEW_REQUEST

    def _uuid7(self) -> str:
        """Return an id that tells when it was made, as Codex's do."""
        milliseconds = int((self._now - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() * 1000)
        digits = f"{milliseconds:012x}"
        return f"{digits[:8]}-{digits[8:]}-7{self.draws.uuid()[15:]}"

    def _row(self, kind: str, payload: str) -> str:
        self._ordinal += 1
        return (
            f'{{"timestamp":"{self.now()}","ordinal":{self._ordinal},"type":"{kind}",'
            f'"payload":{{{payload}}}}}\n'
        )

    def _item(self, payload: str) -> str:
        return self._row(
            "response_item",
            f'{payload},"internal_chat_message_metadata_passthrough":{{"turn_id":"{self.turn_id}"}}',
        )

    def _completed(self, item: str) -> str:
        return self._row(
            "event_msg",
            f'"type":"item_completed","thread_id":"{self.id}","turn_id":"{self.turn_id}",'
            f'"item":{{{item}}},"started_at_ms":1,"completed_at_ms":2',
        )

    def begin(self) -> Iterator[str]:
        yield self._row(
            "session_meta",
            f'"session_id":"{self.id}","id":"{self.id}","cwd":"/home/dev/project",'
            '"originator":"codex_cli_rs","cli_version":"0.171.0","source":"cli",'
            '"model_provider":"openai","base_instructions":'
            f'{{"text":"{self.draws.text(16_000, 0.1)}"}},'
            '"history_mode":"paginated"',
        )

    def _usage(self, prompt: int, cached: int, output: int) -> str:
        return (
            f'{{"input_tokens":{prompt},"cached_input_tokens":{cached},"cache_write_input_tokens":0,'
            f'"output_tokens":{output},"reasoning_output_tokens":{output // 3},'
            f'"total_tokens":{prompt + output}}}'
        )

    def work(self) -> Iterator[str]:
        """Write a request in the midst of a turn, behind a compaction when the window is full."""
        if self.last > CODEX_WINDOW * 9 // 10:
            yield from self.compaction()
        yield from self.request(last=False)

    def request(self, *, last: bool) -> Iterator[str]:
        """Write a response, its tool calls and their outputs, and the meter behind them."""
        draws = self.draws
        output = draws.number(40, 900)
        prompt = self.last + draws.number(200, 7_000)
        usage = self._usage(prompt, self.last, output)
        self.last, self.total = prompt + output, self.total + prompt + output
        yield self._item(
            f'"type":"reasoning","id":"rs_{self._ordinal}","summary":[],'
            f'"encrypted_content":"{draws.uuid() * (draws.burst(60))}"'
        )
        calls = [] if last else [draws.number(0, 10**9) for _ in range(draws.burst(0.5))]
        for call in calls:
            yield self._item(
                f'"type":"function_call","name":"exec_command","arguments":"{{\\"cmd\\": '
                f'\\"{draws.number(0, 10**9)}\\"}}","call_id":"call_{call}"'
            )
        if last:
            said = draws.text(600, 1.0)
            yield self._completed(
                f'"type":"AgentMessage","content":[{{"type":"Text","text":"{said}"}}]'
            )
            yield self._item(
                '"type":"message","role":"assistant","content":[{"type":"output_text",'
                f'"text":"{said}"}}]'
            )
        yield self._row(
            "token_usage_record",
            f'"thread_id":"{self.id}","turn_id":"{self.turn_id}","session_id":"{self.id}",'
            f'"response_id":"resp_{self._ordinal}","usage":{usage},"turn_token_usage":{usage},'
            f'"thread_token_usage":{usage}',
        )
        for call in calls:
            told = draws.text(1_800, 1.6)
            yield self._completed(
                f'"type":"CommandExecution","id":"call_{call}","aggregated_output":"{told}",'
                '"exit_code":0'
            )
            yield self._item(
                f'"type":"function_call_output","call_id":"call_{call}","output":"{told}"'
            )
        yield self._token_count(usage)

    def _token_count(self, last: str) -> str:
        total = self._usage(self.total, 0, 0)
        return self._row(
            "event_msg",
            f'"type":"token_count","info":{{"total_token_usage":{total},"last_token_usage":{last},'
            f'"last_usage_includes_reasoning":false,"model_context_window":{CODEX_WINDOW}}},'
            '"rate_limits":{"limit_id":"codex","primary":null,"secondary":null,"plan_type":null}',
        )

    def compaction(self) -> Iterator[str]:
        left = self.draws.number(9_000, 20_000)
        yield self._row(
            "compacted", f'"message":"","replacement_history":["{self.draws.text(20_000, 0.5)}"]'
        )
        estimate = self._usage(0, 0, 0).replace('"total_tokens":0', f'"total_tokens":{left}')
        yield self._token_count(estimate)
        self.last = left

    def turn(self) -> Iterator[str]:
        """Write a prompt, the requests that it takes, and the turn's end."""
        draws = self.draws
        self.turn_id = self._uuid7()
        yield self._row(
            "event_msg",
            f'"type":"task_started","turn_id":"{self.turn_id}","started_at":1,'
            f'"model_context_window":{CODEX_WINDOW},"collaboration_mode_kind":"default"',
        )
        yield self._row("world_state", f'"full":true,"state":"{draws.text(3_000, 0.8)}"')
        yield self._row(
            "turn_context",
            f'"turn_id":"{self.turn_id}","cwd":"/home/dev/project","model":"gpt-5.5",'
            '"approval_policy":"never","summary":"none"',
        )
        yield self._item(
            '"type":"message","role":"user","content":[{"type":"input_text",'
            f'"text":"{draws.text(300, 1.0)}"}}]'
        )
        for _ in range(draws.burst(10)):
            yield from self.work()
        yield from self.request(last=True)
        yield self._row(
            "event_msg",
            f'"type":"task_complete","turn_id":"{self.turn_id}","last_agent_message":"done"',
        )


def rollout(path: Path, size: int, *, seed: int = MEDIAN_SEED, open_turn: int = 0) -> int:
    """Write a Codex rollout of about *size* bytes that ends with a turn's end.

    Args:
        path: The file to write.
        size: Its least size in bytes; the turn that reaches it is finished.
        seed: What the rows are drawn by.
        open_turn: Bytes of a turn that still runs, behind the last one that has ended.

    Returns:
        Prompt and output of the last request, in tokens.
    """
    session = _Rollout(seed)
    path.write_bytes("".join(session.begin()).encode())
    _write(path, session, size - path.stat().st_size, mode="ab")
    if open_turn:
        with path.open("ab") as file:
            begin = islice(session.turn(), 4)  # up to the prompt
            file.write("".join(begin).encode())
            _fill(file.write, session.work, open_turn)
    return session.last


# -- writing ----------------------------------------------------------------------------------


def _write(path: Path, session: _Session, size: int, *, mode: str = "wb") -> None:
    """Write turns of *session* until *size* bytes are reached; files of one seed end alike."""
    with path.open(mode) as file:
        _fill(file.write, session.turn, size - _ALIKE)
        session.start_over()
        _fill(file.write, session.turn, min(size, _ALIKE))


def _fill(write: Callable[[bytes], object], rows: Callable[[], Iterator[str]], size: int) -> None:
    """Write what *rows* gives, again and again, until *size* bytes are reached."""
    waiting: list[str] = []
    length = written = 0
    while written < size:
        for row in rows():
            waiting.append(row)
            length += len(row)
        if length >= min(_BUFFER, size - written):
            content = "".join(waiting).encode()
            write(content)
            written += len(content)
            waiting.clear()
            length = 0


WRITERS: dict[str, Callable[..., int]] = {
    "claude.transcript": transcript,
    "codex.rollout": rollout,
}
"""By source, what writes a file of it."""


def main() -> None:
    """Write one file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("agent", nargs="?", choices=["claude", "codex"], default="claude")
    parser.add_argument("mebibytes", nargs="?", type=int, default=1)
    parser.add_argument("path", nargs="?", type=Path)
    parser.add_argument("--quick", action="store_true", help="accepted like every script's here")
    asked = parser.parse_args()
    if asked.path is None:
        parser.print_usage()
        return
    write = transcript if asked.agent == "claude" else rollout
    print(f"{write(asked.path, asked.mebibytes * MIB):,} tokens at the end")


if __name__ == "__main__":
    main()
