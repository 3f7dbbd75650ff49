"""Say how the installed genai-prices and litellm differ from ``models.json``; edits nothing.

Usage: ``pip install -U genai-prices litellm && python scripts/refresh_models.py``. Each line is one
finding: ``new id``, ``value changed``, ``source dropped id``, ``sources now disagree`` or ``alias
target moved``. Ids in ``untabled_models.txt`` were seen and left out. A person decides what becomes
of a finding: a changed window of a known id adds a span with its first day to the table and never
overwrites one (formats/models.md §6).
Exit status: 0 nothing to report, 1 something to report, 2 a source is missing or unreadable.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import re
import sys
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from attrs import field, frozen

from ctxmeasure.capability.table import ModelRow, models

GENAI, LITELLM = "genai-prices", "litellm"
UNTABLED = Path(__file__).with_name("untabled_models.txt")

Stated: TypeAlias = Mapping[tuple[str, str], Mapping[str, int | None]]
"""What each source states for a (provider, folded id): a window, or None when it only lists it."""

# The vendors' own platforms in each source, under the names that the table uses.
GENAI_PROVIDERS = {
    "anthropic": "anthropic",
    "cursor": "cursor",
    "deepseek": "deepseek",
    "google": "google",
    "minimax": "minimax",
    "mistral": "mistral",
    "moonshotai": "moonshotai",
    "openai": "openai",
    "x-ai": "xai",
    "zai": "zai",
    "zhipuai": "zai",
}
LITELLM_PROVIDERS = {
    "anthropic": "anthropic",
    "dashscope": "alibaba",
    "deepseek": "deepseek",
    "gemini": "google",
    "minimax": "minimax",
    "mistral": "mistral",
    "moonshot": "moonshotai",
    "openai": "openai",
    "xai": "xai",
    "zai": "zai",
}
# Other vendors' models that a platform also serves are not the platform's own.
OWN_IDS = {
    "alibaba": ("qwen",),
    "anthropic": ("claude-",),
    "google": ("gemini-", "gemma-"),
    "mistral": ("codestral", "devstral", "magistral", "ministral", "mistral", "open-mi"),
    "openai": (
        *("chat-", "codex", "daybreak", "gpt-4.1", "gpt-5", "gpt-6", "gpt-7", "gpt-d", "gpt-oss"),
        *("o1", "o3", "o4"),
    ),
}


class SourceMissingError(Exception):
    """A source is not installed, or not as this script knows it."""


@frozen
class Finding:
    """One difference between the table and the sources.

    Attributes:
        kind: One of the five kinds that the module's docstring lists.
        provider: The table's provider.
        id: The id, as the table spells it, or folded to lower case when it is new.
        detail: What differs.
    """

    kind: str
    provider: str
    id: str
    detail: str = field(default="")


def findings(
    rows: Iterable[ModelRow],
    stated: Stated,
    *,
    installed: Collection[str],
    untabled: Collection[str] = (),
) -> Iterator[Finding]:
    """Yield every difference between the vendors' rows and what the sources state.

    Args:
        rows: The table's rows; those of clients are passed over.
        stated: What the sources state.
        installed: The sources that were asked.
        untabled: Ids, as ``provider/id``, that a person has seen and left out of the table.
    """
    unclaimed = dict(stated)
    for row in rows:
        if row.client is not None:
            continue
        values: dict[str, set[int]] = defaultdict(set)
        for key in [key for key in unclaimed if _names(row, *key)]:
            for source, value in unclaimed.pop(key).items():
                values[source] |= set() if value is None else {value}
        yield from _differences(row, values, installed)
    for (provider, model_id), by_source in sorted(unclaimed.items()):
        if f"{provider}/{model_id}" not in untabled:
            detail = ", ".join(f"{source}: {value}" for source, value in sorted(by_source.items()))
            yield Finding("new id", provider, model_id, detail)


def _names(row: ModelRow, provider: str, folded: str) -> bool:
    if provider != row.provider:
        return False
    if folded in {row.id, *(model_id.lower() for model_id in row.ids)}:
        return True
    return row.pattern is not None and re.fullmatch(row.pattern, folded) is not None


def _differences(
    row: ModelRow, values: Mapping[str, set[int]], installed: Collection[str]
) -> Iterator[Finding]:
    recorded = {source.name.rpartition("-")[0] for source in row.sources} & set(installed)
    for source in sorted(recorded - set(values)):
        yield Finding("source dropped id", row.provider, row.id, source)
    accepted = {row.window_tokens, row.max_input_tokens}
    stating = {source: values[source] for source in recorded & set(values) if values[source]}
    changed = {source: now for source, now in stating.items() if now - accepted}
    if row.window_tokens is None or not changed:
        return
    detail = ", ".join(
        f"{source}: {row.window_tokens} -> {' or '.join(map(str, sorted(now)))}"
        for source, now in sorted(changed.items())
    )
    alike = len(changed) == len(stating) and len(set.union(*changed.values())) == 1
    kind = "value changed" if alike else "sources now disagree"
    kind = "alias target moved" if row.why == "moving-alias" else kind
    yield Finding(kind, row.provider, row.id, detail)


def stated_by_genai() -> Iterator[tuple[str, str, int | None]]:
    """Yield (provider, folded id, window) from the installed genai-prices."""
    try:
        providers: Any = importlib.import_module("genai_prices.data").providers
    except (ImportError, AttributeError) as error:
        raise SourceMissingError("genai-prices is not installed as it is known") from error
    for provider in providers:
        for model in provider.models:
            if provider.id in GENAI_PROVIDERS:
                model_id = model.id.lower()
                if provider.id == "anthropic":  # it files pinned snapshots under such names
                    model_id = model_id.removesuffix("-latest")
                yield GENAI_PROVIDERS[provider.id], model_id, model.context_window


def stated_by_litellm() -> Iterator[tuple[str, str, int | None]]:
    """Yield (provider, folded id, input cap) from the installed litellm, without importing it."""
    spec = importlib.util.find_spec("litellm")
    if spec is None or not spec.submodule_search_locations:
        raise SourceMissingError("litellm is not installed")
    path = Path(spec.submodule_search_locations[0])
    path /= "model_prices_and_context_window_backup.json"
    if not path.is_file():
        raise SourceMissingError("litellm no longer ships its table under the known name")
    listed: dict[str, dict[str, Any]] = json.loads(path.read_bytes())
    for key, model in listed.items():
        provider = LITELLM_PROVIDERS.get(model.get("litellm_provider", ""))
        if provider is not None and model.get("mode") in {"chat", "responses"}:
            yield provider, key.rpartition("/")[2].lower(), model.get("max_input_tokens")


def gathered(source: str, states: Iterable[tuple[str, str, int | None]], into: Any) -> None:
    """Add what *source* states of the vendors' own models to *into*."""
    for provider, model_id, window in states:
        if model_id.startswith(OWN_IDS.get(provider, "")):
            into[provider, model_id].setdefault(source, window)


def main() -> int:
    """Print the findings; return the exit status."""
    stated: dict[tuple[str, str], dict[str, int | None]] = defaultdict(dict)
    try:
        gathered(GENAI, stated_by_genai(), stated)
        gathered(LITELLM, stated_by_litellm(), stated)
    except SourceMissingError as error:
        print(f"refresh_models: {error}; pip install genai-prices litellm", file=sys.stderr)
        return 2
    untabled = set(UNTABLED.read_text(encoding="ascii").split())
    found = list(findings(models(), stated, installed={GENAI, LITELLM}, untabled=untabled))
    for each in sorted(found, key=lambda each: (each.kind, each.provider, each.id)):
        print(f"{each.kind:21} {each.provider}/{each.id}  {each.detail}".rstrip())
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
