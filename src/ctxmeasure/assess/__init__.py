"""The judge: evidence and a policy to one observation.

This is the only room that assigns attestation, confidence and completeness. It knows no file
format: what it needs of a source is in the evidence and its origin. `rules` holds the grades as a
table, `policy` what a caller accepts, `judge` the decision, `disclosure` what of the data's own
words may leave. Pure: the moment of the question is in the query.
"""

from __future__ import annotations

from .judge import assess
from .policy import DEFAULT_POLICY, RUNNER_DEFAULTS, Counts, Policy
from .rules import RULES, Ceiling, Grade, Refusal, Rule

__all__ = [
    "DEFAULT_POLICY",
    "RULES",
    "RUNNER_DEFAULTS",
    "Ceiling",
    "Counts",
    "Grade",
    "Policy",
    "Refusal",
    "Rule",
    "assess",
]
