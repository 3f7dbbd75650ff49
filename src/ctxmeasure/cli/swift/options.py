"""The options of the commands that agents run, as a table that two parsers read.

`parse` takes what is clearly right and costs nothing; click, which `for_agents` builds from the
same table, explains the rest.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing's own, without importing it
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["HOOK", "STATUS_LINE", "Option", "parse"]


class Option:
    """One option.

    Attributes:
        help: What it says to a reader.
        metavar: The name of its value; empty for a flag.
        choices: The values it can have; empty for any.
        required: It has to be given.
    """

    __slots__ = ("choices", "help", "metavar", "required")

    def __init__(
        self,
        about: str,
        metavar: str = "",
        choices: tuple[str, ...] = (),
        *,
        required: bool = False,
    ) -> None:
        self.help = about
        self.metavar = metavar
        self.choices = choices
        self.required = required


_STATE = "A folder of its own for what is remembered of the sessions; made if need be."
_OUT = "The file to which events are appended, one line of JSON each."

HOOK: Mapping[str, Option] = {
    "--agent": Option(
        "Whose hook this is: claude, codex or cursor.",
        "AGENT",
        ("claude", "codex", "cursor"),
        required=True,
    ),
    "--state": Option(_STATE, "DIR", required=True),
    "--out": Option(_OUT, "FILE", required=True),
    "--wait": Option("Return when the sample is taken, not before."),
}
"""The options of ``ctxmeasure hook``."""

STATUS_LINE: Mapping[str, Option] = {
    "--agent": Option(
        "Whose status line this is: claude or cursor. Default: as the payload shows.",
        "AGENT",
        ("claude", "cursor"),
    ),
    "--format": Option(
        "full (the default): bar and summary; summary; bar.", "FORM", ("full", "summary", "bar")
    ),
    "--wrap": Option("Your own status-line command; its output is what is shown.", "COMMAND"),
    "--state": Option(f"{_STATE} Together with --out.", "DIR"),
    "--out": Option(f"{_OUT} Together with --state.", "FILE"),
}
"""The options of ``ctxmeasure statusline``."""


def parse(arguments: Sequence[str], options: Mapping[str, Option]) -> dict[str, str] | None:
    """Return the value of each option that is given, "" for a flag; None in any doubt."""
    given: dict[str, str] = {}
    remaining = iter(arguments)
    for argument in remaining:
        name, equals, value = argument.partition("=")
        option = options.get(name)
        if option is None or (equals and not option.metavar):
            return None
        if option.metavar and not equals:
            value = next(remaining, "")
            if value.startswith("-"):  # more likely the next option than a value
                return None
        if (option.metavar and not value) or (option.choices and value not in option.choices):
            return None
        given[name] = value
    if any(option.required and name not in given for name, option in options.items()):
        return None
    return given if ("--state" in given) == ("--out" in given) else None
