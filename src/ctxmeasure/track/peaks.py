"""How full the context is, and how full it has been: in all, per hat and per key.

A hat is the role that a runner gives an iteration; a key is whatever else it tells iterations
apart by, such as their number or their backend. A peak of tokens is the most tokens in use,
whatever limit they stood against, as Ralph counts it (formats/pi_ralph.md §7); its observation
keeps that limit. Shares without counts have a peak of their own: neither turns into the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Any

from attrs import Attribute, evolve, field, frozen

from ..measurement import Measurement, PercentMeasurement, TokenMeasurement
from ..observation import Missing, MissingReason, Observation, Observed
from ..record import from_dict, to_dict

__all__ = ["Highest", "Peaks"]


def _observed_of(shape: Any) -> Callable[[Any, Attribute[Any], Any], None]:
    """Return an attrs validator for None, or an observation whose value is of *shape*."""

    def check(_: object, attribute: Attribute[Any], observation: object) -> None:
        if observation is None:
            return
        if not isinstance(observation, Observed):
            raise TypeError(f"{attribute.name}: expected an Observed or None")
        if not isinstance(observation.value, shape):
            raise TypeError(f"{attribute.name}: expected an observation of its own shape")

    return check


@frozen(kw_only=True)
class Highest:
    """The fullest of each shape that was observed.

    Attributes:
        tokens: The observation with the most tokens in use, or None.
        percent: Of the observations of a share without counts, the one with the highest, or None.

    Raises:
        TypeError: An argument is no `Observed` of its shape, nor None (the message names it).
    """

    tokens: Observed | None = field(default=None, validator=_observed_of(TokenMeasurement))
    percent: Observed | None = field(default=None, validator=_observed_of(PercentMeasurement))

    @property
    def used_tokens(self) -> int | None:
        """The most tokens in use, or None."""
        match self.tokens:
            case Observed(value=TokenMeasurement(used_tokens=used)):
                return used
        return None

    @property
    def used_percent(self) -> float | None:
        """The highest share without counts, 0..100, or None."""
        match self.percent:
            case Observed(value=PercentMeasurement(used_percent=used)):
                return used
        return None

    def raised(self, observation: Observed) -> Highest:
        """Return the fullest of these and *observation*.

        Of two that are equally full the newer stays: more may be known of its limit.
        """
        value = observation.value
        if isinstance(value, TokenMeasurement):
            is_higher = self.used_tokens is None or value.used_tokens >= self.used_tokens
            return evolve(self, tokens=observation) if is_higher else self
        is_higher = self.used_percent is None or value.used_percent >= self.used_percent
        return evolve(self, percent=observation) if is_higher else self


_NONE = Highest()

# What the last measurement was taken of is not the context any more.
_CONTEXT_CHANGED = frozenset(
    {MissingReason.COMPACTED, MissingReason.REWOUND, MissingReason.WINDOW_EXCEEDED}
)


def _frozen_copy(named: Mapping[str, Highest]) -> Mapping[str, Highest]:
    if not isinstance(named, Mapping):
        raise TypeError("by_hat and by_key: expected mappings")
    return MappingProxyType(dict(named))


def _named(_: object, attribute: Attribute[Any], named: Mapping[Any, Any]) -> None:
    for name, highest in named.items():
        if not isinstance(name, str) or not isinstance(highest, Highest):
            raise TypeError(f"{attribute.name}: expected a Highest by name")
        if not name or highest == _NONE:
            raise ValueError(f"{attribute.name}: expected a name, and a peak under it")


@frozen(kw_only=True)
class Peaks:
    """How full the context is and how full it has been; ``Peaks()`` knows nothing yet.

    Nothing is ever 0 because it is not known. Keep one value and replace it after each iteration:
    ``peaks = peaks.updated(stream.finish(), peak=stream.peak, hat="builder")``. Counts of agents
    that count different things can be told apart by ``provenance.used_basis`` and are compared
    as they are: put all on one basis with ``Policy(counts="prompt")``.

    Attributes:
        current: The last measurement; None before the first, and from a compaction, a rewind or an
            overflow until the next. It is no statement about an iteration that measured nothing.
        peak: The fullest of all.
        by_hat: The fullest by hat.
        by_key: The fullest by key.

    Raises:
        TypeError: An argument has the wrong type (the message names it).
        ValueError: A name is empty, or a part is fuller than the fullest of all.
    """

    current: Observed | None = field(default=None, validator=_observed_of(Measurement))
    peak: Highest = field(default=_NONE)
    by_hat: Mapping[str, Highest] = field(factory=dict, converter=_frozen_copy, validator=_named)
    by_key: Mapping[str, Highest] = field(factory=dict, converter=_frozen_copy, validator=_named)

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.peak, Highest):
            raise TypeError("peak: expected a Highest")
        held = [*self.by_hat.values(), *self.by_key.values()]
        parts = [seen for part in held for seen in (part.tokens, part.percent)]
        fullest = _raised(self.peak, [self.current, *parts])
        is_fullest = self.peak.used_tokens == fullest.used_tokens
        if not (is_fullest and self.peak.used_percent == fullest.used_percent):
            raise ValueError("peak: expected the fullest of all")

    def updated(
        self,
        observation: Observation,
        *,
        hat: str | None = None,
        key: str | None = None,
        peak: Observation | None = None,
    ) -> Peaks:
        """Return these peaks with one more observation.

        A missing measurement changes nothing, a count without a limit included: there is no
        measurement of it. Only a compaction, a rewind or an overflow says that the current one is
        over; none lowers a peak.

        Args:
            observation: What is now: ``Stream.latest``, or what `observe` returned.
            hat: The hat that was worn, if any.
            key: What else the peak is kept under, if anything.
            peak: The fullest since the last update, where it may be more than what is now:
                ``Stream.peak``.

        Raises:
            TypeError: An argument has the wrong type (the message names it).
            ValueError: *hat* or *key* is empty.
        """
        _check_observation(observation, "observation")
        if peak is not None:
            _check_observation(peak, "peak")
        seen = [one for one in (peak, observation) if isinstance(one, Observed)]
        return Peaks(
            current=self._current_after(observation),
            peak=_raised(self.peak, seen),
            by_hat=_raised_under(_name(hat, "hat"), self.by_hat, seen),
            by_key=_raised_under(_name(key, "key"), self.by_key, seen),
        )

    def _current_after(self, observation: Observation) -> Observed | None:
        match observation:
            case Observed():
                return observation
            case Missing(reason=reason) if reason in _CONTEXT_CHANGED:
                return None
        return self.current

    def to_dict(self) -> dict[str, Any]:
        """Return the wire form: what JSON can hold, without what is not known.

        Observations stand in it as `record.to_dict` writes them; their witnesses stay behind.
        """
        parts = {
            "current": None if self.current is None else to_dict(self.current),
            "peak": _highest_to_dict(self.peak),
            "by_hat": {hat: _highest_to_dict(held) for hat, held in self.by_hat.items()},
            "by_key": {key: _highest_to_dict(held) for key, held in self.by_key.items()},
        }
        return {name: part for name, part in parts.items() if part}

    @classmethod
    def from_dict(cls, wire: Mapping[str, Any]) -> Peaks:
        """Return the peaks whose wire form is *wire*.

        Raises:
            TypeError: *wire* is not a mapping.
            ValueError: *wire* is not what `to_dict` returns for any peaks. The message never
                carries a part of it.
        """
        if not isinstance(wire, Mapping):
            raise TypeError("wire: expected a mapping")
        peaks = _read(wire)
        # Writing again refuses what `_read` does not look at: unknown keys, and empty parts.
        if peaks is None or peaks.to_dict() != wire:
            raise ValueError("wire: not the wire form of Peaks")
        return peaks


# -- steps ----------------------------------------------------------------------------------------


def _raised(highest: Highest, seen: Iterable[Observed | None]) -> Highest:
    for observation in seen:
        if observation is not None:
            highest = highest.raised(observation)
    return highest


def _raised_under(
    name: str | None, named: Mapping[str, Highest], seen: Sequence[Observed]
) -> Mapping[str, Highest]:
    if name is None or not seen:
        return named
    return {**named, name: _raised(named.get(name, _NONE), seen)}


def _check_observation(observation: object, argument: str) -> None:
    if not isinstance(observation, Observed | Missing):
        raise TypeError(f"{argument}: expected an Observed or a Missing")


def _name(name: str | None, argument: str) -> str | None:
    if name is not None and not isinstance(name, str):
        raise TypeError(f"{argument}: expected a str")
    if name == "":
        raise ValueError(f"{argument}: expected at least one character")
    return name


# -- the wire form --------------------------------------------------------------------------------


def _highest_to_dict(highest: Highest) -> dict[str, Any]:
    held = {"tokens": highest.tokens, "percent": highest.percent}
    return {shape: to_dict(seen) for shape, seen in held.items() if seen is not None}


def _read(wire: Mapping[str, Any]) -> Peaks | None:
    # Nothing of the refusal is kept, as in `record`.
    with suppress(ValueError, TypeError, LookupError, AttributeError):
        current = wire.get("current")
        return Peaks(
            current=None if current is None else _observed_from_dict(current),
            peak=_highest_from_dict(wire.get("peak", {})),
            by_hat={k: _highest_from_dict(v) for k, v in wire.get("by_hat", {}).items()},
            by_key={k: _highest_from_dict(v) for k, v in wire.get("by_key", {}).items()},
        )
    return None


def _highest_from_dict(wire: Mapping[str, Any]) -> Highest:
    return Highest(**{shape: _observed_from_dict(seen) for shape, seen in wire.items()})


def _observed_from_dict(wire: Mapping[str, Any]) -> Observed:
    observation = from_dict(wire)
    if isinstance(observation, Missing):
        raise ValueError  # noqa: TRY004 - as every other wrong wire form
    return observation
