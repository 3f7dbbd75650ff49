"""The command ``ctxmeasure`` and the table of its subcommands, each imported when it is called."""

from __future__ import annotations

from importlib import import_module

import click

from .quiet import QuietGroup, examples

__all__ = ["ctxmeasure"]

# In the order in which the help lists them, and what it says of each. A subcommand has the name of
# its module, or that of the module which explains what agents call.
_COMMANDS = {
    "sessions": "Every session on this machine, and how full each is.",
    "watch": "The same, live.",
    "observe": "How full one session is, as a line of JSON.",
    "explain": "The same in sentences: why this number.",
    "history": "A whole session as a curve, a page or a picture.",
    "check": "An exit status for scripts: fuller than it may be, or not.",
    "stream": "How full it gets while an agent runs, from what it prints.",
    "run": "Run an agent, and say at the end how full it got.",
    "hook": "For an agent's hooks: write each new sample down.",
    "statusline": "For an agent's status line: how full it is.",
    "sources": "What can be read.",
    "models": "The context windows of models.",
    "doctor": "Where sessions are looked for, and what would help.",
}
_FOR_AGENTS = frozenset({"hook", "statusline"})


class _Commands(QuietGroup):
    """The subcommands, none of which pays for the imports of another."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - as click calls it
        """Return the names of all subcommands."""
        return list(_COMMANDS)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - as above
        """Write what each subcommand is for, whole and without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([*_COMMANDS.items()])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as above
        """Import a subcommand."""
        if cmd_name not in _COMMANDS:
            return None
        home = "for_agents" if cmd_name in _FOR_AGENTS else cmd_name
        module = import_module(f".{home}", __package__)
        command: click.Command = getattr(module, cmd_name)
        return command


@click.group(
    cls=_Commands,
    epilog=examples(
        "ctxmeasure sessions --since 2h --sort pressure",
        "ctxmeasure explain @claude",
        "ctxmeasure history @claude --html report.html",
        'claude -p "..." --output-format stream-json --verbose | ctxmeasure stream claude.stream',
    ),
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="ctxmeasure", message="%(prog)s %(version)s")
def ctxmeasure() -> None:
    """Tell how full a coding agent's context window is, and how that is known.

    Begin with `ctxmeasure sessions`: it finds the sessions of Claude Code, Codex, Cursor and Pi on
    this machine.

    Exit status: 0 there is a measurement, 3 there is none (its reason has a name), 2 the command
    was called wrongly.
    """
