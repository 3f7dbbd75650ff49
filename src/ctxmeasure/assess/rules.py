"""The judge's table: what is graded how, what lowers a grade, and what is refused.

The docs page on the judge is generated from `RULES`.
"""

from __future__ import annotations

from attrs import frozen

from ..evidence import Channel
from ..observation import Attestation, Completeness, Confidence, MissingReason

__all__ = ["RULES", "Ceiling", "Grade", "Refusal", "Rule"]


@frozen
class Rule:
    """One row of the judge's table.

    Attributes:
        name: The row's name.
        when: The evidence that the row is about.
    """

    name: str
    when: str


@frozen
class Grade(Rule):
    """A row that measures.

    Attributes:
        attestation: Who states the value.
        confidence: How far it can be trusted.
        completeness: How much of it was measured.
    """

    attestation: Attestation
    confidence: Confidence
    completeness: Completeness


@frozen
class Ceiling(Rule):
    """A row that lowers the confidence of a limit's own row.

    Attributes:
        confidence: The most that the limit's own row can be given.
    """

    confidence: Confidence


@frozen
class Refusal(Rule):
    """A row that measures nothing.

    Attributes:
        reason: The missing reason.
    """

    reason: MissingReason


STATED_PAIR = {
    Channel.HANDED_OVER: Grade(
        "stated pair, handed over",
        "A pair in a payload that the runtime hands over (hook, status line, RPC, stream)",
        Attestation.NATIVE,
        Confidence.EXACT,
        Completeness.EXACT,
    ),
    Channel.PERSISTED: Grade(
        "stated pair, persisted",
        "A pair in the runtime's persisted rows, session (and, where asked, turn) matched",
        Attestation.DERIVED,
        Confidence.EXACT,
        Completeness.EXACT,
    ),
    Channel.LAGGING: Grade(
        "stated pair, lagging store",
        "A pair in a persisted store that can lag or be refilled by the runtime",
        Attestation.DERIVED,
        Confidence.HIGH,
        Completeness.EXACT,
    ),
}
STATED_PERCENT = {
    Channel.HANDED_OVER: Grade(
        "stated percentage, handed over",
        "A percentage in a payload that the runtime hands over",
        Attestation.NATIVE,
        Confidence.EXACT,
        Completeness.PERCENTAGE_ONLY,
    ),
    Channel.PERSISTED: Grade(
        "stated percentage, persisted",
        "A percentage in the runtime's persisted rows, session matched",
        Attestation.DERIVED,
        Confidence.EXACT,
        Completeness.PERCENTAGE_ONLY,
    ),
    Channel.LAGGING: Grade(
        "stated percentage, lagging store",
        "A percentage in a persisted store that can lag or be refilled by the runtime",
        Attestation.DERIVED,
        Confidence.HIGH,
        Completeness.PERCENTAGE_ONLY,
    ),
}
DEFAULT_LIMIT = Ceiling(
    "the runtime's own default limit",
    "A pair whose limit the runtime assumes for a model it does not know, or that a setting, an "
    "unserved long-context marker or a fault of the runtime's version puts in doubt",
    Confidence.MEDIUM,
)
VOUCHED_FOR = Ceiling(
    "the caller's word for an unknown id",
    "A window of the model that the caller vouches for, where the session names another one that "
    "the table cannot resolve",
    Confidence.MEDIUM,
)
WINDOW_IN_FORCE = Grade(
    "window in force",
    "Used tokens, evidence of the window in force, and a table row for it",
    Attestation.INFERRED,
    Confidence.HIGH,
    Completeness.INFERRED,
)
DECIDED_BY_ID = Grade(
    "window decided by the id",
    "Used tokens and a model id that decides its window by itself at the time of measurement",
    Attestation.INFERRED,
    Confidence.HIGH,
    Completeness.INFERRED,
)
DOCUMENTED_DEFAULT = Grade(
    "documented default window",
    "Used tokens and an id with a default and another possible window: the count fits the default, "
    "and the default is documented, or the caller says that the agent was started without a marker",
    Attestation.INFERRED,
    Confidence.MEDIUM,
    Completeness.INFERRED,
)
ONLY_LARGER_WINDOW = Grade(
    "the only larger window",
    "Used tokens above an id's smaller window, where only one larger window exists",
    Attestation.INFERRED,
    Confidence.HIGH,
    Completeness.INFERRED,
)
RESOLVED_BY_CALLER = Grade(
    "caller's resolver",
    "Used tokens and a window from the caller's own resolver",
    Attestation.INFERRED,
    Confidence.MEDIUM,
    Completeness.INFERRED,
)
DECLARED_LIMIT = Grade(
    "declared limit",
    "Used tokens and a limit that the caller declares",
    Attestation.OPERATOR,
    Confidence.HIGH,
    Completeness.EXACT,
)
ASSUMED_LIMIT = Grade(
    "assumed limit",
    "Used tokens and a runner's hard default (opt-in)",
    Attestation.INFERRED,
    Confidence.LOW,
    Completeness.INFERRED,
)
ESTIMATED_COUNT = Grade(
    "accepted estimate of a count",
    "A count that the runtime estimated, where the policy accepts estimates",
    Attestation.INFERRED,
    Confidence.LOW,
    Completeness.INFERRED,
)
ESTIMATED_PERCENT = Grade(
    "accepted estimate of a percentage",
    "A percentage that the runtime estimated, where the policy accepts estimates",
    Attestation.INFERRED,
    Confidence.LOW,
    Completeness.PERCENTAGE_ONLY,
)


def _refusal(when: str, reason: MissingReason) -> Refusal:
    return Refusal(reason.value.replace("_", " "), when, reason)


RULES: tuple[Rule, ...] = (
    *STATED_PAIR.values(),
    *STATED_PERCENT.values(),
    DEFAULT_LIMIT,
    VOUCHED_FOR,
    WINDOW_IN_FORCE,
    DECIDED_BY_ID,
    DOCUMENTED_DEFAULT,
    ONLY_LARGER_WINDOW,
    RESOLVED_BY_CALLER,
    DECLARED_LIMIT,
    ASSUMED_LIMIT,
    ESTIMATED_COUNT,
    ESTIMATED_PERCENT,
    _refusal("A sample without any count", MissingReason.USAGE_NOT_REPORTED),
    _refusal("A count below 0, or beyond 2^53", MissingReason.USAGE_INVALID),
    _refusal(
        "A count that cannot be put on the basis that the policy asks for",
        MissingReason.USAGE_INCOMPLETE,
    ),
    _refusal("A percentage outside 0..100", MissingReason.PERCENT_INVALID),
    _refusal("A stated limit below 1, or beyond 2^53", MissingReason.LIMIT_INVALID),
    _refusal("A sample without a time", MissingReason.TIME_NOT_REPORTED),
    _refusal("An estimate, where the policy accepts none", MissingReason.ESTIMATE_ONLY),
    _refusal(
        "Used tokens, and a runtime that says that it has no limit",
        MissingReason.LIMIT_NOT_REPORTED,
    ),
    _refusal("Used tokens and no model at all", MissingReason.MODEL_NOT_REPORTED),
    _refusal("Used tokens and an unknown id", MissingReason.MODEL_UNKNOWN),
    _refusal(
        "Used tokens and an id whose window a plan, setting or platform decides",
        MissingReason.WINDOW_AMBIGUOUS,
    ),
    _refusal(
        "Used tokens above a limit that is inferred, declared, assumed, or stated by a runtime "
        "that is known to state wrong limits; or a limit that the model cannot have",
        MissingReason.LIMIT_CONTRADICTED,
    ),
    _refusal(
        "Statements in the same data that contradict each other beyond their rounding",
        MissingReason.SOURCES_DISAGREE,
    ),
    _refusal("A sample more than 5 s after the question", MissingReason.SAMPLE_FROM_FUTURE),
    _refusal(
        "A sample older than the policy or the phase allows, or not in the 30 s before its turn's "
        "end",
        MissingReason.SAMPLE_STALE,
    ),
)
"""The judge's table. The refusals are in their order: the first that fits is the reason."""
