"""How full is a coding agent's context window, and how do we know?

The front door: the verbs `observe` and `Stream`, the types they give back, the rooms that find
sessions (`discover`), tell a whole one (`history`) and show it (`report`), write observations down
(`record`, `render`) and follow them (`track`), and one room of sources per agent
(``from ctxmeasure import claude``). Everything is imported on first use: ``import ctxmeasure``
costs next to nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing's own, without importing it: that costs as much as an interpreter
if TYPE_CHECKING:
    from . import discover as discover
    from . import history as history
    from . import record as record
    from . import render as render
    from . import report as report
    from . import track as track
    from .adapters import acp as acp
    from .adapters import claude as claude
    from .adapters import codex as codex
    from .adapters import cursor as cursor
    from .adapters import pi as pi
    from .adapters import text as text
    from .assess import DEFAULT_POLICY as DEFAULT_POLICY
    from .assess import RUNNER_DEFAULTS as RUNNER_DEFAULTS
    from .assess import Counts as Counts
    from .assess import Policy as Policy
    from .bounded.budget import ReadBudget as ReadBudget
    from .bounded.budget import ReadStats as ReadStats
    from .capability.model import ModelRef as ModelRef
    from .evidence import Phase as Phase
    from .evidence import Query as Query
    from .measurement import Measurement as Measurement
    from .measurement import PercentMeasurement as PercentMeasurement
    from .measurement import TokenMeasurement as TokenMeasurement
    from .newest import KnownDatabases as KnownDatabases
    from .newest import observe_newest as observe_newest
    from .observation import Attestation as Attestation
    from .observation import Completeness as Completeness
    from .observation import Confidence as Confidence
    from .observation import LimitBasis as LimitBasis
    from .observation import Missing as Missing
    from .observation import MissingReason as MissingReason
    from .observation import Observation as Observation
    from .observation import Observed as Observed
    from .observation import Partial as Partial
    from .observation import Provenance as Provenance
    from .observation import UsedBasis as UsedBasis
    from .observation import Witness as Witness
    from .observation import pressure as pressure
    from .reading import observe as observe
    from .sampler import Boundary as Boundary
    from .sampler import Sampler as Sampler
    from .sampler import SamplerState as SamplerState
    from .sampler import boundary_of as boundary_of
    from .source import Source as Source
    from .stream import Stream as Stream
    from .track import Peaks as Peaks
    from .usage import TokenUsage as TokenUsage

__version__ = "0.1.0.dev0"

_HOME = {
    "Attestation": "observation",
    "Boundary": "sampler",
    "Completeness": "observation",
    "Confidence": "observation",
    "Counts": "assess",
    "KnownDatabases": "newest",
    "DEFAULT_POLICY": "assess",
    "LimitBasis": "observation",
    "Measurement": "measurement",
    "Missing": "observation",
    "MissingReason": "observation",
    "ModelRef": "capability.model",
    "Observation": "observation",
    "Observed": "observation",
    "Partial": "observation",
    "Peaks": "track",
    "PercentMeasurement": "measurement",
    "Phase": "evidence",
    "Policy": "assess",
    "Provenance": "observation",
    "Query": "evidence",
    "RUNNER_DEFAULTS": "assess",
    "ReadBudget": "bounded.budget",
    "ReadStats": "bounded.budget",
    "Sampler": "sampler",
    "SamplerState": "sampler",
    "Source": "source",
    "Stream": "stream",
    "TokenMeasurement": "measurement",
    "TokenUsage": "usage",
    "UsedBasis": "observation",
    "Witness": "observation",
    "boundary_of": "sampler",
    "observe": "reading",
    "observe_newest": "newest",
    "pressure": "observation",
}
_ROOMS = frozenset({"discover", "history", "record", "render", "report", "track"})
_AGENTS = frozenset({"acp", "claude", "codex", "cursor", "pi", "text"})

__all__ = [*sorted(_HOME), *sorted(_ROOMS), *sorted(_AGENTS)]  # noqa: PLE0604 - names, computed from the tables


def __getattr__(name: str) -> object:
    from importlib import import_module  # noqa: PLC0415 - a hook imports this room and asks nothing

    if name in _HOME:
        found: object = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    elif name in _ROOMS:
        found = import_module(f"{__name__}.{name}")
    elif name in _AGENTS:
        found = import_module(f"{__name__}.adapters.{name}")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found  # the next look-up costs nothing
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
