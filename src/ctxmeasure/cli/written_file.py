"""The files that a person asks for by name: written whole, or not at all."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import click

__all__ = ["is_same_file", "write_file"]


def write_file(path: str, content: bytes) -> None:
    """Write *content* to the file that is named *path*, in place of one that is there.

    It is written beside the name first, so that nobody ever finds half of it.

    Raises:
        click.ClickException: It cannot be written.
    """
    beside = Path(f"{path}.{os.getpid()}.part")
    try:
        with beside.open("xb") as file:
            file.write(content)
        beside.replace(path)
    except (OSError, ValueError):
        with suppress(OSError, ValueError):
            beside.unlink(missing_ok=True)
        raise click.ClickException("a file that was named cannot be written") from None


def is_same_file(one: str, other: str) -> bool:
    """Tell whether two names are one file's."""
    with suppress(OSError, ValueError):
        return Path(one).samefile(other)
    return False
