"""Formulas that other tools have published, applied to the decoded rows that ctxmeasure reads.

Each is what the report or the code that `published_readers` names does with a usage, and no more:
neither the tool around it nor what it became later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from tongues import Row, Rows, Said

__all__ = [
    "Formula",
    "acp_fixed_window",
    "acp_zero_after",
    "app_server_total",
    "by_length",
    "by_name",
    "catalogue_window",
    "clamped",
    "codex_adding",
    "codex_baseline",
    "codex_input",
    "codex_last",
    "codex_no_boundary",
    "codex_static",
    "codex_total",
    "derived_tokens",
    "exec_usage",
    "high_water",
    "last_usage",
    "null_is_zero",
    "percent_of_fixed_window",
    "pi_input",
    "pi_last",
    "pi_sums",
    "pi_without_writes",
    "post_tokens",
    "prompt_and_output",
    "prompt_answer",
    "result_usage",
    "stop_usage",
    "sum_by_request_id",
    "sum_of_usages",
    "totals",
    "with_buffer",
    "zero_at_boundary",
]

Formula: TypeAlias = Callable[[Rows], Said]

WINDOW = 200_000
"""The window that many take for every model's."""


# -- Claude Code's rows and frames ----------------------------------------------------------------


def _prompt(usage: Row) -> int:
    keys = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return sum(usage.get(key, 0) for key in keys)


def _usages(rows: Rows) -> Iterator[Row]:
    """Yield the usage of every assistant's row, whoever wrote it and why."""
    yield from (row["message"]["usage"] for row in rows if row["type"] == "assistant")


def _last(counts: Iterable[int], limit: int = WINDOW) -> Said:
    told = [*counts]
    return Said.pair(told[-1] if told else 0, limit)


def last_usage(rows: Rows) -> Said:
    return _last(map(_prompt, _usages(rows)))


def sum_of_usages(rows: Rows) -> Said:
    return Said(sum(map(_prompt, _usages(rows))))


def sum_by_request_id(rows: Rows) -> Said:
    """Count a message once, if its rows have a request id."""
    told = [row for row in rows if row["type"] == "assistant"]
    keys = [(row["message"]["id"], row.get("requestId")) for row in told]
    kept = {
        key if key[1] else (key[0], str(number)): _prompt(row["message"]["usage"])
        for number, (key, row) in enumerate(zip(keys, told, strict=True))
    }
    return Said(sum(kept.values()))


def post_tokens(rows: Rows) -> Said:
    """Take what a boundary says was left as the context."""
    left = [row["compactMetadata"]["postTokens"] for row in rows if "compactMetadata" in row]
    return Said.pair(left[-1], WINDOW) if left else last_usage(rows)


def with_buffer(rows: Rows) -> Said:
    """Add what is kept free for the compaction."""
    used = last_usage(rows).used or 0
    return Said.pair(used + 45_000, WINDOW)


def by_name(**limits: int) -> Formula:
    """Return a reader that looks the window up by a part of the model's name."""

    def formula(rows: Rows) -> Said:
        (*_, row) = (row for row in rows if row["type"] == "assistant")
        model = row["message"]["model"].replace("-", "_")
        limit = next((limit for part, limit in limits.items() if part in model), WINDOW)
        return Said.pair(_prompt(row["message"]["usage"]), limit)

    return formula


def prompt_and_output(rows: Rows) -> Said:
    return _last(_prompt(usage) + usage["output_tokens"] for usage in _usages(rows))


def zero_at_boundary(rows: Rows) -> Said:
    """Report 0 when a compaction is over."""
    used = 0
    for row in rows:
        if row["type"] == "assistant":
            used = _prompt(row["message"]["usage"])
        elif row.get("subtype") == "compact_boundary":
            used = 0
    return Said.pair(used, WINDOW)


def result_usage(rows: Rows) -> Said:
    (end,) = (row for row in rows if row["type"] == "result")
    return Said.pair(_prompt(end["usage"]), WINDOW)


# -- Claude Code's status line --------------------------------------------------------------------


def _line(rows: Rows) -> Row:
    (row,) = rows
    window: Row = row["context_window"]
    return window


def totals(rows: Rows) -> Said:
    window = _line(rows)
    used = window["total_input_tokens"] + window["total_output_tokens"]
    return Said.pair(used, window["context_window_size"])


def null_is_zero(rows: Rows) -> Said:
    window = _line(rows)
    return Said.pair(_prompt(window["current_usage"] or {}), window["context_window_size"])


def clamped(rows: Rows) -> Said:
    """Show the percentage that is stated, which ends at 100."""
    return Said(share=float(_line(rows)["used_percentage"] or 0))


# -- Codex ----------------------------------------------------------------------------------------


def _infos(rows: Rows) -> Iterator[Row]:
    for row in rows:
        if row["payload"].get("type") == "token_count" and row["payload"]["info"] is not None:
            yield row["payload"]["info"]


def _info(rows: Rows) -> Row:
    *_, info = _infos(rows)
    return info


def codex_total(rows: Rows) -> Said:
    info = _info(rows)
    return Said.pair(info["total_token_usage"]["total_tokens"], info["model_context_window"])


def codex_last(rows: Rows) -> Said:
    info = _info(rows)
    return Said.pair(info["last_token_usage"]["total_tokens"], info["model_context_window"])


def codex_input(rows: Rows) -> Said:
    info = _info(rows)
    return Said.pair(info["last_token_usage"]["input_tokens"], info["model_context_window"])


def codex_adding(*keys: str) -> Formula:
    """Return a reader that adds parts of the usage that lie inside its total."""

    def formula(rows: Rows) -> Said:
        info = _info(rows)
        usage = info["last_token_usage"]
        added = sum(usage[key] for key in keys)
        return Said.pair(usage["total_tokens"] + added, info["model_context_window"])

    return formula


def codex_static(rows: Rows) -> Said:
    """Take the window that the model has elsewhere."""
    return Said.pair(_info(rows)["last_token_usage"]["total_tokens"], 1_050_000)


def codex_baseline(rows: Rows) -> Said:
    """Leave 12,000 tokens out of both numbers, as Codex's own percentage does."""
    info = _info(rows)
    used, limit = info["last_token_usage"]["total_tokens"], info["model_context_window"]
    left = max((limit - 12_000) - max(used - 12_000, 0), 0) / (limit - 12_000)
    return Said(share=100.0 - round(100 * left))


def codex_no_boundary(rows: Rows) -> Said:
    """Add up all counts of a file, whichever thread they are of."""
    return Said(sum(info["last_token_usage"]["total_tokens"] for info in _infos(rows)))


def app_server_total(rows: Rows) -> Said:
    (*_, row) = (row for row in rows if row["method"] == "thread/tokenUsage/updated")
    usage = row["params"]["tokenUsage"]
    return Said.pair(usage["total"]["totalTokens"], usage["modelContextWindow"])


def exec_usage(rows: Rows) -> Said:
    return Said(used=rows[-1]["usage"]["input_tokens"])


# -- Pi -------------------------------------------------------------------------------------------


def _pi_usages(rows: Rows) -> Iterator[Row]:
    for row in rows:
        message = row.get("message", {})
        is_reply = row["type"] in ("message", "turn_end") and message.get("role") == "assistant"
        if is_reply and message["stopReason"] != "error":
            yield message["usage"]


def pi_last(rows: Rows) -> Said:
    """Take the last reply that did not fail, as Pi did before 0.80.0."""
    return _last(usage["totalTokens"] for usage in _pi_usages(rows))


def pi_input(rows: Rows) -> Said:
    return _last(usage["input"] for usage in _pi_usages(rows))


def pi_without_writes(rows: Rows) -> Said:
    return _last(usage["input"] + usage["cacheRead"] for usage in _pi_usages(rows))


def by_length(rows: Rows) -> Said:
    """Take four characters for a token."""
    texts = [row["message"]["content"] for row in rows if row["type"] == "message"]
    lengths = (
        len(text if isinstance(text, str) else "".join(part["text"] for part in text))
        for text in texts
    )
    return Said(sum(lengths) // 4)


def pi_sums(rows: Rows) -> Said:
    data = rows[-1]["data"]
    return Said.pair(data["tokens"]["total"], data["contextUsage"]["contextWindow"])


# -- the Agent Client Protocol, and Cursor --------------------------------------------------------


def _updates(rows: Rows) -> Iterator[Row]:
    for row in rows:
        update = row.get("params", {}).get("update", {})
        if update.get("sessionUpdate") in ("usage_update", "compaction_update"):
            yield update


def prompt_answer(rows: Rows) -> Said:
    *_, update = _updates(rows)
    return Said.pair(rows[-1]["result"]["usage"]["totalTokens"], update["size"])


def acp_fixed_window(rows: Rows) -> Said:
    *_, update = _updates(rows)
    return Said.pair(update["used"], WINDOW)


def acp_zero_after(rows: Rows) -> Said:
    """Take a compaction for an empty context."""
    *_, update = _updates(rows)
    return Said.pair(update.get("used", 0), update.get("size", WINDOW))


def percent_of_fixed_window(rows: Rows) -> Said:
    """Make tokens of a percentage, with a window that is always the same."""
    (row,) = rows
    return Said.pair(round(row["contextUsagePercent"] * WINDOW / 100), WINDOW)


def derived_tokens(rows: Rows) -> Said:
    """Take tokens that were made of a percentage for counted ones."""
    window = _line(rows)
    return Said.pair(window["total_input_tokens"], window["context_window_size"])


def stop_usage(rows: Rows) -> Said:
    return Said(used=rows[0]["input_tokens"])


def high_water(rows: Rows) -> Said:
    """Keep the highest count that was seen."""
    return Said.pair(max(row["used"] for row in rows), rows[-1]["max"])


def catalogue_window(rows: Rows) -> Said:
    return Said.pair(rows[-1]["used"], 1_000_000)
