"""The windows that a person states, for models that no table knows.

A resolver for `Policy`: it is asked only where neither the session nor the table decides. Ids are
compared as `capability.ids` compares them, so that a snapshot's date or a cloud's spelling does not
matter, and what is spelled exactly as the session has it goes before what is not.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TypeAlias

import click
from attrs import frozen

from ..capability.ids import same_model
from ..capability.model import ModelRef

__all__ = ["StatedWindow", "Windows", "stated_window"]

StatedWindow: TypeAlias = tuple[ModelRef, int]
"""A model, with the marker if it was typed, and its window in tokens."""

_COUNT = re.compile(r"([0-9]{1,16})(?:\.([0-9]{1,6}))?([KMkm]?)")
_ZEROS = {"": 0, "K": 3, "M": 6}  # decimal, as `figures.short` prints them
_MOST_TOKENS = 2**53  # the judge holds no higher count to be possible
_BY_PROVIDER, _BY_ID, _BY_MODEL = 3, 2, 1

_Nearness: TypeAlias = tuple[bool, int]


def stated_window(typed: str) -> StatedWindow:
    """Return the model and the window that *typed* names: ``qwen3-coder=200K``.

    Raises:
        click.BadParameter: It is no id, ``=`` and count of tokens; says nothing of what was typed.
    """
    named, _, count = typed.rpartition("=")  # an id may hold one, a count does not
    tokens = _tokens(count)
    with suppress(ValueError):
        model = ModelRef.as_started(named)
        if model.id and tokens is not None:
            return model, tokens
    raise click.BadParameter(
        "expected MODEL=TOKENS with a whole number of tokens above 0,"
        " such as qwen3-coder=262144, qwen3-coder=200K or qwen3-coder=1M"
    )


def _tokens(count: str) -> int | None:
    """Return the tokens that *count* names (``262144``, ``200K``, ``1.05M``), or None."""
    matched = _COUNT.fullmatch(count)
    if matched is None:
        return None
    whole, fraction, unit = matched.groups(default="")
    zeros = _ZEROS[unit.upper()]
    if len(fraction) > zeros:  # a part of a token
        return None
    tokens = int(whole + fraction.ljust(zeros, "0"))
    return tokens if 0 < tokens <= _MOST_TOKENS else None


@frozen
class Windows:
    """Tells the windows of models as they were stated; can go to another process.

    Attributes:
        stated: The models and their windows, in the order in which they were typed.
    """

    stated: tuple[StatedWindow, ...]

    @classmethod
    def of(cls, _: click.Context, __: click.Parameter, stated: tuple[StatedWindow, ...]) -> Windows:
        """Return what an option that can be given several times stands for."""
        return cls(stated)

    def __call__(self, model: ModelRef) -> int | None:
        """Return the window of *model* in tokens, or None if none was stated, or more than one.

        Of what was stated that fits, the nearest counts: with the long-context marker before
        without, the id as it is before another spelling, and of one id the last.
        """
        fitting: dict[_Nearness, dict[str, int]] = {}
        for named, tokens in self.stated:
            nearness = _nearness(named, model)
            if nearness is not None:
                fitting.setdefault(nearness, {})[named.id] = tokens
        windows = set(fitting[max(fitting)].values()) if fitting else set()
        # Two snapshots of one model with different windows say nothing of a third one.
        return windows.pop() if len(windows) == 1 else None


def _nearness(named: ModelRef, model: ModelRef) -> _Nearness | None:
    """Tell how near what is *named* comes to *model*; None: it is another one.

    A marker that was typed asks for a session that was started with it. An id without one is the
    model's however it was started: of models that no table knows, the marker says nothing.
    """
    is_marked = bool(named.long_context_marker)
    if is_marked and not model.long_context_marker:
        return None
    if model.provider is not None and named.id == f"{model.provider}/{model.id}":
        return is_marked, _BY_PROVIDER
    if named.id == model.id:
        return is_marked, _BY_ID
    return (is_marked, _BY_MODEL) if same_model(named.id, model.id) else None
