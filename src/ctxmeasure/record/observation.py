"""The wire form of an observation: written here, read back here.

Keys whose value is not known are absent, never null; so are ``rows_skipped`` when it is 0 and
``window_truncated`` when it is false. Timestamps have three decimals and ``Z``. The remaining
amounts are written for readers in other languages and must agree with the used ones on the way
back. The witness is made from native ids and is not written.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any

from ..bounded.encode import encode_object
from ..capability.model import ModelRef
from ..measurement import Measurement, PercentMeasurement, TokenMeasurement
from ..observation import Missing, Observation, Observed, Partial, Provenance
from ..usage import TokenUsage

if TYPE_CHECKING:
    from cattrs import Converter

__all__ = ["dumps", "from_dict", "loads", "timestamp", "to_dict"]

_STATES: dict[str, type[Observed | Missing]] = {"observed": Observed, "missing": Missing}
_SHAPES: dict[str, type[TokenMeasurement | PercentMeasurement]] = {
    "tokens": TokenMeasurement,
    "percent": PercentMeasurement,
}


def to_dict(observation: Observation) -> dict[str, Any]:
    """Return the wire form of *observation*: dicts, strings, numbers and bools only.

    Raises:
        TypeError: *observation* is not an observation.
    """
    match observation:
        case Observed():
            return {
                "state": "observed",
                "value": _value(observation.value),
                "attestation": observation.attestation.value,
                "confidence": observation.confidence.value,
                "completeness": observation.completeness.value,
                "provenance": _provenance(observation.provenance),
            }
        case Missing():
            partial = observation.partial
            return _known(
                state="missing",
                reason=observation.reason.value,
                partial=None if partial is None else _partial(partial),
                provenance=_provenance(observation.provenance),
            )
        case _:
            raise TypeError("observation: expected an Observed or a Missing")


def dumps(observation: Observation) -> str:
    """Return the wire form of *observation* as one line of JSON, without a newline at its end.

    Raises:
        TypeError: *observation* is not an observation.
    """
    return encode_object(to_dict(observation))


def from_dict(wire: Mapping[str, Any]) -> Observation:
    """Return the observation whose wire form is *wire*; its witness is None.

    Raises:
        TypeError: *wire* is not a mapping.
        ValueError: *wire* is not what `to_dict` returns for any observation. The message never
            carries a part of it.
    """
    if not isinstance(wire, Mapping):
        raise TypeError("wire: expected a mapping")
    return _read(wire, "wire")


def loads(text: str | bytes) -> Observation:
    """Return the observation whose wire form is the JSON *text*; its witness is None.

    Raises:
        TypeError: *text* is neither str nor bytes.
        ValueError: *text* is not JSON, or not the wire form of an observation. The message never
            carries a part of it.
    """
    import json  # noqa: PLC0415 - reads what orjson would round or refuse; see `dumps`

    if not isinstance(text, str | bytes):
        raise TypeError("text: expected a str or bytes")
    wire: object = None
    with suppress(ValueError, RecursionError):
        wire = json.loads(text)
    return _read(wire, "text")


# -- writing --------------------------------------------------------------------------------------


def _known(**keys: Any) -> dict[str, Any]:
    return {key: value for key, value in keys.items() if value is not None}


def timestamp(moment: datetime) -> str:
    """Return a *moment* in UTC as the wire has it: three decimals and ``Z``."""
    return moment.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def _value(value: Measurement) -> dict[str, Any]:
    sample = {"measured_at": timestamp(value.measured_at), "method": value.method}
    match value:
        case TokenMeasurement():
            return {
                "shape": "tokens",
                "used_tokens": value.used_tokens,
                "limit_tokens": value.limit_tokens,
                "remaining_tokens": value.remaining_tokens,
                **sample,
            }
        case _:
            return {
                "shape": "percent",
                "used_percent": value.used_percent,
                "remaining_percent": value.remaining_percent,
                **sample,
            }


def _partial(partial: Partial) -> dict[str, Any]:
    moment = partial.measured_at
    return _known(
        used_tokens=partial.used_tokens,
        used_percent=partial.used_percent,
        limit_tokens=partial.limit_tokens,
        measured_at=None if moment is None else timestamp(moment),
        estimated=partial.estimated,
    )


def _provenance(provenance: Provenance) -> dict[str, Any]:
    usage, model, stats = provenance.usage, provenance.model, provenance.stats
    return _known(
        adapter=provenance.adapter,
        source=provenance.source,
        runtime_version=provenance.runtime_version,
        used_basis=None if provenance.used_basis is None else provenance.used_basis.value,
        limit_basis=None if provenance.limit_basis is None else provenance.limit_basis.value,
        usage=None if usage is None else _usage(usage),
        model=None if model is None else _model(model),
        bytes_read=stats.bytes_read,
        rows_decoded=stats.rows_decoded,
        rows_skipped=stats.rows_skipped or None,
        window_truncated=stats.window_truncated or None,
    )


def _usage(usage: TokenUsage) -> dict[str, Any]:
    return _known(
        input_tokens=usage.input_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        output_tokens=usage.output_tokens,
        reasoning_tokens=usage.reasoning_tokens,
    )


def _model(model: ModelRef) -> dict[str, Any]:
    return _known(
        id=model.id,
        provider=model.provider,
        long_context_marker=model.long_context_marker,
        platform=model.platform,
    )


# -- reading --------------------------------------------------------------------------------------


def _read(wire: object, argument: str) -> Observation:
    """Return the observation that is written as *wire*, and as nothing else.

    Writing the result again and comparing refuses all at once: unknown keys, nulls, absent keys
    that have a default, other spellings of a moment, and remaining amounts that contradict.
    """
    observation = _structured(wire)
    if observation is None or to_dict(observation) != wire:
        raise ValueError(f"{argument}: not the wire form of an observation, see record.schema()")
    return observation


def _structured(wire: Any) -> Observation | None:
    # Nothing of the refusal is kept: its message can carry a part of the text.
    with suppress(ValueError, TypeError, LookupError, AttributeError):
        return _converter().structure(wire, _STATES[wire["state"]])
    return None


@cache
def _converter() -> Converter:
    """Return the converter from wire form; it is strict where writing again cannot tell."""
    from cattrs import Converter  # noqa: PLC0415 - only readers pay for it
    from cattrs.gen import make_dict_structure_fn  # noqa: PLC0415 - as above

    converter = Converter(detailed_validation=False)
    converter.register_structure_hook(int, _read_count)
    converter.register_structure_hook(float, lambda number, _: number)  # its own type checks it
    converter.register_structure_hook(str, _read_str)
    converter.register_structure_hook(bool, _read_bool)
    converter.register_structure_hook(StrEnum, lambda value, vocabulary: vocabulary(value))
    converter.register_structure_hook(datetime, lambda text, _: datetime.fromisoformat(text))
    converter.register_structure_hook(
        Measurement, lambda value, _: converter.structure(value, _shape(value))
    )
    read_provenance = make_dict_structure_fn(Provenance, converter)
    # What the reading cost lies beside the other facts on the wire.
    converter.register_structure_hook(
        Provenance, lambda facts, _: read_provenance({**facts, "stats": facts}, Provenance)
    )
    return converter


def _read_count(number: object, _: type[int]) -> int:
    if type(number) is not int or number < 0:
        raise ValueError
    return number


def _read_str(text: object, _: type[str]) -> str:
    if type(text) is not str:
        raise ValueError
    return text


def _read_bool(flag: object, _: type[bool]) -> bool:
    if type(flag) is not bool:
        raise ValueError
    return flag


def _shape(value: Mapping[str, Any]) -> type[TokenMeasurement | PercentMeasurement]:
    # A remaining amount is only compared, and True == 1.
    if any(isinstance(amount, bool) for amount in value.values()):
        raise ValueError
    return _SHAPES[value["shape"]]
