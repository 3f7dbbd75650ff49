"""``ctxmeasure doctor``: what was found of each agent, and what would make readings better.

Places are named by their variable or from the home on. No other path is printed, no name of a
project and nothing of a session but counts, versions and reasons.
"""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import click
from attrs import frozen

from ..discover import (
    Discovery,
    ListingEnd,
    Looked,
    Machine,
    Session,
    System,
    find_sessions,
    this_machine,
)
from ..figures import plain
from ..observation import Missing, MissingReason, Observation, Observed
from ..registry import AGENTS_ON_DISK
from ..render import grade
from .output import MISSING, say, say_aside, say_json
from .overview import age
from .quiet import QuietCommand, examples

__all__ = ["doctor"]

_READ = 20  # sessions of each agent, the most recently written
_NAMES = {"claude": "Claude Code", "codex": "Codex", "cursor": "Cursor", "pi": "Pi"}

_NOTHING = (
    "ctxmeasure: no session was found. If they are kept elsewhere, set CLAUDE_CONFIG_DIR,"
    " CODEX_HOME or PI_CODING_AGENT_DIR; `ctxmeasure explain FILE` reads a file from anywhere."
)

_ENDS = {
    ListingEnd.COMPLETE: "{} found",
    ListingEnd.ABSENT: "there is no such folder",
    ListingEnd.UNREADABLE: "it cannot be listed",
    ListingEnd.CUT_SHORT: "{} found, and there is more than was looked at",
}


@frozen(kw_only=True)
class _Checked:
    """What was found of one agent.

    Attributes:
        agent: Its name.
        looked: The places that were looked at.
        found: How many sessions were found.
        subagents: How many files of sub-agents' own lie among those that were read.
        newest: The one that was written to last, or None.
        observations: What was seen of the newest ones.
    """

    agent: str
    looked: tuple[Looked, ...]
    found: int
    subagents: int
    newest: Session | None
    observations: tuple[Observation, ...]

    @property
    def grades(self) -> dict[str, int]:
        """How many of the observations have which grade, the most frequent first."""
        return dict(Counter(map(grade, self.observations)).most_common())

    @property
    def versions(self) -> list[str]:
        """The versions of the agent that wrote what was seen, the most recently seen first."""
        stated = (one.provenance.runtime_version for one in self.observations)
        return list(dict.fromkeys(plain(version) for version in stated if version is not None))

    @property
    def reasons(self) -> list[MissingReason]:
        """Why measurements are missing, each reason once."""
        missing = (one.reason for one in self.observations if isinstance(one, Missing))
        return list(dict.fromkeys(missing))


@click.command(
    cls=QuietCommand,
    epilog=examples("ctxmeasure doctor", "ctxmeasure doctor --json | jq '.agents[].grades'"),
)
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON.")
@click.pass_context
def doctor(ctx: click.Context, /, *, as_json: bool) -> None:
    """Print where was looked for sessions, what was found, and what would make readings better.

    Reads the newest 20 sessions of each agent. Nothing of a session is printed but counts, versions
    and reasons: the output can be pasted into a bug report.

    Exit status: 0 some session was found, 3 none was.
    """
    at = datetime.now(UTC)
    machine = this_machine()
    checked = [_checked(agent, machine, at) for agent in AGENTS_ON_DISK]
    if as_json:
        say_json({**_this_program(machine), "agents": [_wire(one, machine) for one in checked]})
    else:
        program = ", ".join(f"{name} {value}" for name, value in _this_program(machine).items())
        say("\n".join([program, *(line for one in checked for line in _lines(one, machine, at))]))
    if not any(one.found for one in checked):
        say_aside(_NOTHING)
        ctx.exit(MISSING)


def _checked(agent: str, machine: Machine, at: datetime) -> _Checked:
    found: Discovery = find_sessions(machine, agents=[agent], limit=_READ)
    return _Checked(
        agent=agent,
        looked=found.looked,
        found=len(found.sessions) + found.left_out,
        subagents=len(found.subagents),
        newest=found.sessions[0] if found.sessions else None,
        observations=tuple(session.handle.observe(at=at) for session in found.sessions),
    )


def _this_program(machine: Machine) -> dict[str, str]:
    return {
        "ctxmeasure": version("ctxmeasure"),
        "python": platform.python_version(),
        "system": machine.system.value,
    }


# -- what would make it better --------------------------------------------------------------------


def _is_uncertain(observation: Observation) -> bool:
    """Whether the limit is at fault for what an observation lacks."""
    if isinstance(observation, Observed):
        return grade(observation).startswith("inferred")
    return observation.reason.is_about_limit


_EXACT = {
    "claude": (
        "Its session files state no window. Its status line does: with `ctxmeasure statusline` in"
        " its settings it shows the exact number."
    ),
    "pi": (
        "Its session files state no window. `pi --mode rpc` does: feed its answers to"
        " `ctxmeasure stream pi.stream` for the exact number."
    ),
}


def _exact(checked: _Checked, _: Machine) -> Iterator[str]:
    if checked.agent in _EXACT and any(map(_is_uncertain, checked.observations)):
        yield _EXACT[checked.agent]


def _reasons(checked: _Checked, _: Machine) -> Iterator[str]:
    for reason in checked.reasons:
        yield f"{reason.value}: {reason.__doc__}"


def _unreadable(checked: _Checked, _: Machine) -> Iterator[str]:
    for looked in checked.looked:
        if looked.lacks_permission:
            yield f"Some of {looked.place} cannot be listed: mend its permissions."


def _links(checked: _Checked, _: Machine) -> Iterator[str]:
    for looked in checked.looked:
        if looked.links_passed_over:
            yield (
                f"Links in {looked.place} are not followed: {looked.links_passed_over}. Sessions"
                " behind them are not seen."
            )


def _on_windows(checked: _Checked, machine: Machine) -> Iterator[str]:
    if checked.agent == "cursor" and machine.system is System.WSL:
        yield "Cursor's IDE runs on Windows: from here its databases are not looked for."


_ADVICE: Sequence[Callable[[_Checked, Machine], Iterator[str]]] = (
    _exact,
    _reasons,
    _unreadable,
    _links,
    _on_windows,
)


def _advice(checked: _Checked, machine: Machine) -> list[str]:
    return [sentence for advise in _ADVICE for sentence in advise(checked, machine)]


# -- forms ----------------------------------------------------------------------------------------


def _lines(checked: _Checked, machine: Machine, at: datetime) -> Iterator[str]:
    yield ""
    yield _NAMES[checked.agent]
    for looked in checked.looked:
        yield f"  {looked.place}: {_ENDS[looked.end].format(looked.files)}"
    if checked.newest is not None:
        newest = age(at - checked.newest.modified_at)
        yield f"  sessions: {checked.found}{_beside(checked.subagents)}, the newest of age {newest}"
        yield f"  of the newest {len(checked.observations)}: {_counted(checked.grades)}"
    if checked.versions:
        yield f"  versions: {', '.join(checked.versions)}"
    for sentence in _advice(checked, machine):
        yield f"  - {sentence}"


def _beside(subagents: int) -> str:
    """Return what says why more files were found than there are sessions."""
    if not subagents:
        return ""
    return " (and 1 of a sub-agent)" if subagents == 1 else f" (and {subagents} of sub-agents)"


def _counted(grades: dict[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in grades.items())


def _wire(checked: _Checked, machine: Machine) -> dict[str, Any]:
    return {
        "agent": checked.agent,
        "places": [
            {
                "place": looked.place,
                "end": looked.end.value,
                "files": looked.files,
                "folders_unreadable": looked.folders_unreadable,
                "links_passed_over": looked.links_passed_over,
            }
            for looked in checked.looked
        ],
        "sessions": checked.found,
        "subagents": checked.subagents,
        "grades": checked.grades,
        "versions": checked.versions,
        "advice": _advice(checked, machine),
    }
