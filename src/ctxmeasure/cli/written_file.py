"""The files that a person asks for by name: written whole, or not at all."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

import click

__all__ = ["is_same_file", "write_file"]


def write_file(path: str, content: bytes) -> None:
    """Write *content* to the file that is named *path*, in place of one that is there.

    It is written beside the name first, so that nobody ever finds half of it. A link stays one:
    what it points to is written. What is no file (a pipe, a device) is written to, not replaced.

    Raises:
        click.ClickException: It cannot be written.
    """
    try:
        if _is_file_or_absent(path):
            _replace(Path(os.path.realpath(path)), content)
        else:
            Path(path).write_bytes(content)
    except (OSError, ValueError):
        raise click.ClickException("a file that was named cannot be written") from None


def _is_file_or_absent(path: str) -> bool:
    try:
        return stat.S_ISREG(Path(path).stat().st_mode)
    except FileNotFoundError:
        return True


def _replace(path: Path, content: bytes) -> None:
    beside = path.with_name(f".ctxmeasure.{os.getpid()}.part")  # short, however long the name is
    try:
        with beside.open("xb") as file:
            file.write(content)
        beside.replace(path)
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def is_same_file(one: str, other: str) -> bool:
    """Tell whether two names are one file's, there or not."""
    with suppress(OSError, ValueError):
        return Path(one).samefile(other)
    with suppress(OSError, ValueError):
        return os.path.realpath(one) == os.path.realpath(other)
    return False
