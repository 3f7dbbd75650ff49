"""Wire forms: what leaves the process as JSON, and the JSON Schemas that describe it.

`dumps` and `loads` carry one observation over a line of JSON without loss; the witness alone stays
behind. The reader accepts exactly what the writer writes. `runner_event_fields` are what a runner
adds to its own event; `context_observed`, `compaction_started` and `compaction_completed` make
events for a ledger, which hold less: no partial, no model, and no id but a keyed digest. None of
these is read back. May import `observation` and what lies below it; cattrs, orjson and json are
imported on first use.
"""

from __future__ import annotations

from .event import OUTCOMES, compaction_completed, compaction_started, context_observed
from .observation import dumps, from_dict, loads, to_dict
from .runner_event import RunnerEventFields, runner_event_fields
from .schema import WireForm, schema

__all__ = [
    "OUTCOMES",
    "RunnerEventFields",
    "WireForm",
    "compaction_completed",
    "compaction_started",
    "context_observed",
    "dumps",
    "from_dict",
    "loads",
    "runner_event_fields",
    "schema",
    "to_dict",
]
