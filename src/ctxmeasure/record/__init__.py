"""Wire forms: what leaves the process as JSON, and the JSON Schemas that describe it.

`dumps` and `loads` carry one observation over a line of JSON without loss; the witness alone stays
behind. The reader accepts exactly what the writer writes. May import `observation` and what lies
below it; cattrs, orjson and json are imported on first use.
"""

from __future__ import annotations

from .observation import dumps, from_dict, loads, to_dict
from .schema import schema

__all__ = ["dumps", "from_dict", "loads", "schema", "to_dict"]
