"""What a session's history looks like: as data, in characters, as a page, and as a picture.

`Curve` is what is shown; `plotted`, `page` and `picture` show it, and decide nothing. Nothing here
reads the clock or opens a file other than the page's own template. No transcript text, path, name
of a project or native id is in any of it. May import `history` and what lies below it.
"""

from __future__ import annotations

from .curve import Curve, Kind, Point, Span, Unit
from .document import page
from .plot import plotted
from .sentences import sentences

__all__ = ["Curve", "Kind", "Point", "Span", "Unit", "page", "plotted", "sentences"]
