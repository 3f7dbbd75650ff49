"""What of the data's own words may leave in an observation's provenance.

A version and a model's name are strings out of the data, so anything can stand there. They are let
out only if they look like what they should be; text, paths, addresses and ids are not.
"""

from __future__ import annotations

from functools import lru_cache

from attrs import evolve

from ..capability.model import ModelRef

__all__ = ["public_model", "public_version"]

_LONGEST_VERSION = 40  # "2.1.332" and pre-releases with a build suffix fit
_LONGEST_NUMBER = 8  # a date as in "20251124"
_LONGEST_MODEL_ID = 200  # the longest real ids are Bedrock ARNs of about 130 characters
_LONGEST_NAME = 40  # "google-vertex-anthropic", "amazon-bedrock"
_ALPHANUMERIC = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
_VERSION_CHARACTERS = _ALPHANUMERIC | frozenset(".-+")
_MODEL_ID_CHARACTERS = _ALPHANUMERIC | frozenset("-._:/@[]")
_NAME_CHARACTERS = _ALPHANUMERIC | frozenset("-_.")


def public_version(version: str | None) -> str | None:
    """Return *version* if it is dotted numbers with at most a suffix (``0.171.0-alpha.3``)."""
    if version is None or len(version) > _LONGEST_VERSION:
        return None
    return version if _is_version(version) else None


@lru_cache(maxsize=64)  # a session has a handful of versions, and thousands of samples
def _is_version(version: str) -> bool:
    if not _VERSION_CHARACTERS.issuperset(version):
        return False
    numbers = version.partition("+")[0].partition("-")[0].split(".")
    return len(numbers) > 1 and all(n.isdigit() and len(n) <= _LONGEST_NUMBER for n in numbers)


def public_model(model: ModelRef | None) -> ModelRef | None:
    """Return *model* if its id looks like a model id, without what looks like none of its parts."""
    if model is None or not _is_model_id(model.id):
        return None
    if _is_name(model.provider) and _is_name(model.platform):
        return model
    return evolve(
        model,
        provider=model.provider if _is_name(model.provider) else None,
        platform=model.platform if _is_name(model.platform) else None,
    )


def _is_model_id(named: str) -> bool:
    if not 0 < len(named) <= _LONGEST_MODEL_ID or not _MODEL_ID_CHARACTERS.issuperset(named):
        return False
    if named[0] not in _ALPHANUMERIC:  # an absolute path; "<synthetic>"
        return False
    if ".." in named or "//" in named or ":/" in named:  # relative paths, URLs, drive letters
        return False
    return "." not in named.partition("@")[2]  # an address; Vertex writes "@20251001", "@default"


def _is_name(named: str | None) -> bool:
    return named is None or (len(named) <= _LONGEST_NAME and _NAME_CHARACTERS.issuperset(named))
