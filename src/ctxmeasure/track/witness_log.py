"""Which samples have been published: each once, over phases, turns and processes.

A sample is known by its witness, which is the same for an active and a terminal reading of one row.
What is kept of it is the keyed id under which it was published, so the log tells nobody more than
the events do. More than the last one are kept: A, B, A publishes A once.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from attrs import evolve, field, frozen

from ..bounded.budget import ReadFault
from ..bounded.decode import decode_object
from ..bounded.encode import encode_object
from ..bounded.owner_file import read_owner_file, write_owner_file
from ..measurement import count
from ..observation import Missing, Observation, Observed
from .state import restored

__all__ = ["WitnessLog"]

_CAPACITY = 256  # a reading finds one of the newest rows; this is hours of them, in 18 KB of state


@frozen
class WitnessLog:
    """The record ids of the last published samples.

    Attributes:
        capacity: How many are remembered, at least 1. A sample is published again only if so many
            others were met since it was last seen.

    Raises:
        TypeError: *capacity* is not an int.
        ValueError: *capacity* is below 1.
    """

    capacity: int = field(default=_CAPACITY, validator=count(1))
    _record_ids: tuple[str, ...] = field(default=(), repr=False)

    def __contains__(self, record_id: object) -> bool:
        """Tell whether the sample with this ``source_record_id`` has been published."""
        return record_id in self._record_ids

    def publish(self, observation: Observation, *, key: bytes) -> tuple[WitnessLog, bool]:
        """Ask whether *observation* is to be published.

        Args:
            observation: What was observed. A missing one, and one without a witness (its data name
                no session), is neither compared nor remembered.
            key: The key of the published ids. Under another key nothing is known any more.

        Returns:
            The log with the sample in it, and whether it is new.

        Raises:
            TypeError: An argument has the wrong type (the message names it).
            ValueError: *key* is empty.
        """
        match observation:
            case Missing():
                return self, True
            case Observed():
                witness = observation.provenance.witness
            case _:
                raise TypeError("observation: expected an Observed or a Missing")
        if witness is None:
            return self, True
        record_id = witness.source_record_id(key)
        return self.with_published([record_id]), record_id not in self

    def with_published(self, record_ids: Iterable[str]) -> WitnessLog:
        """Return the log with samples that are known to be published, the last one last.

        For what was written to a ledger by a process that did not live to save its log: the
        ``source_record_id`` of the ledger's last lines.

        Raises:
            TypeError: A record id is not a str.
        """
        remembered = dict.fromkeys(self._record_ids)
        for record_id in record_ids:
            if not isinstance(record_id, str):
                raise TypeError("record_ids: expected only str")
            remembered.pop(record_id, None)
            remembered[record_id] = None
        return evolve(self, record_ids=tuple(remembered)[-self.capacity :])

    def to_dict(self) -> dict[str, Any]:
        """Return the state as JSON data: keyed ids only."""
        return {"capacity": self.capacity, "record_ids": [*self._record_ids]}

    @classmethod
    def from_dict(cls, state: Mapping[str, Any]) -> WitnessLog:
        """Return the log whose state is *state*.

        Raises:
            ValueError: *state* is not what `to_dict` returns; the message carries no part of it.
        """
        return restored(state, cls._structured)

    @classmethod
    def _structured(cls, state: Mapping[str, Any]) -> WitnessLog:
        return cls(state["capacity"]).with_published(state["record_ids"])

    def save(self, path: str | os.PathLike[str]) -> bool:
        """Put the state in the place of the file at *path*, whole, with mode 0600.

        Returns:
            Whether it was written. If not, the file is as it was.
        """
        return write_owner_file(path, encode_object(self.to_dict()).encode())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> WitnessLog | ReadFault:
        """Return the log that was saved at *path*, or why there is none.

        ``source_absent`` is how every log begins. A damaged file is ``source_malformed``: an empty
        log in its place would publish again what the ledger already has.
        """
        content = read_owner_file(path)
        if isinstance(content, ReadFault):
            return content
        try:
            return cls.from_dict(decode_object(content) or {})
        except ValueError:
            return ReadFault.MALFORMED
