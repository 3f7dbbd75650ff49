"""Wire forms: what leaves the process as JSON, and the JSON Schemas that describe it.

`dumps` and `loads` carry one observation over a line of JSON without loss; the witness alone stays
behind. `context_observed`, `compaction_started` and `compaction_completed` make events for a
ledger, which hold less: no partial, no model, and no id but a keyed digest. May import
`observation` and what lies below it; cattrs, orjson and json are imported on first use.
"""

from __future__ import annotations

from .event import OUTCOMES, compaction_completed, compaction_started, context_observed
from .observation import dumps, from_dict, loads, to_dict
from .schema import schema

__all__ = [
    "OUTCOMES",
    "compaction_completed",
    "compaction_started",
    "context_observed",
    "dumps",
    "from_dict",
    "loads",
    "schema",
    "to_dict",
]
