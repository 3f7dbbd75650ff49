"""Wire forms: what leaves the process as JSON, and the JSON Schemas that describe it.

`dumps` and `loads` carry one observation over a line of JSON without loss; the witness alone stays
behind. The reader accepts exactly what the writer writes. `runner_event_fields` are what a runner
adds to its own event, and are not read back. May import `observation` and what lies below it;
cattrs, orjson and json are imported on first use.
"""

from __future__ import annotations

from .observation import dumps, from_dict, loads, to_dict
from .runner_event import RunnerEventFields, runner_event_fields
from .schema import WireForm, schema

__all__ = [
    "RunnerEventFields",
    "WireForm",
    "dumps",
    "from_dict",
    "loads",
    "runner_event_fields",
    "schema",
    "to_dict",
]
