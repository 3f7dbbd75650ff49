"""Which window a model has, in which client, at which moment; and when that cannot be told."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmeasure import capability
from ctxmeasure.capability import Capability, Certainty, ModelRef, Resolution, Unresolved, resolve
from ctxmeasure.capability.table import edition, identify, models
from ctxmeasure.testing import strategies

BEFORE_BETA = datetime(2025, 7, 1, tzinfo=UTC)
IN_BETA = datetime(2026, 4, 29, 23, 59, 59, tzinfo=UTC)
AFTER_BETA = datetime(2026, 4, 30, tzinfo=UTC)
NOW = datetime(2026, 11, 29, tzinfo=UTC)
K200, M1 = 200_000, 1_000_000
NATIVE = [
    "claude-fable-5",
    "claude-fable-5-1",
    "claude-fable-5-2",
    "claude-haiku-5-5",
    "claude-mythos-5",
    "claude-mythos-5-1",
    "claude-mythos-5-2",
    "claude-mythos-preview",
    "claude-opus-4-7",
    "claude-opus-4-8",
    "claude-opus-5",
    "claude-opus-5-5",
    "claude-sonnet-5",
    "claude-sonnet-5-5",
]
SHORT_ONLY = [
    "claude-3-5-haiku-20241022",
    "claude-3-5-sonnet-20241022",
    "claude-3-7-sonnet-20250219",
    "claude-3-haiku-20240307",
    "claude-3-opus-20240229",
    "claude-haiku-4-5",
    "claude-opus-4-0",
    "claude-opus-4-1",
    "claude-opus-4-5",
]
BETA = ["claude-sonnet-4-0", "claude-sonnet-4-20250514", "claude-sonnet-4-5"]
CHOICE = ["claude-opus-4-6", "claude-sonnet-4-6"]


def ask(model_id: str, **more: Any) -> Resolution:
    """Resolve in Claude Code, unless *more* says otherwise."""
    of_model = {key: more.pop(key) for key in ("provider", "platform") if key in more}
    model = ModelRef(id=model_id, long_context_marker=more.pop("marker", None), **of_model)
    arguments: dict[str, Any] = {"client": "claude", "at": NOW} | more
    return resolve(model, **arguments)


def windows(resolution: Resolution) -> tuple[int, int | None, Certainty]:
    assert isinstance(resolution, Capability)
    return (
        resolution.window_tokens,
        resolution.larger_window_tokens,
        resolution.certainty,
    )


DECIDED_SHORT = (K200, None, Certainty.DECIDED)
DECIDED_LONG = (M1, None, Certainty.DECIDED)
DEFAULTED_SHORT = (K200, M1, Certainty.DEFAULTED)
DEFAULTED_LONG = (M1, None, Certainty.DEFAULTED)
UNDECIDED = (K200, M1, Certainty.UNDECIDED)


# -- Claude Code: models with one window ------------------------------------------------------


@pytest.mark.parametrize("model_id", SHORT_ONLY)
@pytest.mark.parametrize("at", [BEFORE_BETA, IN_BETA, NOW, None])
@pytest.mark.parametrize("marker", [None, False])
def test_a_short_only_model_decides_its_window_at_any_time(
    model_id: str, at: datetime | None, marker: bool | None
) -> None:
    told = ask(model_id, at=at, marker=marker)
    assert windows(told) == DECIDED_SHORT
    assert isinstance(told, Capability)
    assert not told.marker_unsupported


@pytest.mark.parametrize("model_id", SHORT_ONLY)
def test_a_marker_on_a_short_only_model_is_reported_as_unsupported(model_id: str) -> None:
    for resolution in (ask(model_id, marker=True), ask(f"{model_id}[1m]", client=None)):
        assert windows(resolution) == (K200, M1, Certainty.DECIDED)
        assert isinstance(resolution, Capability)
        assert resolution.marker_unsupported


# -- Claude Code: the two models of the 1M beta -----------------------------------------------


@pytest.mark.parametrize("client", ["claude", None])
@pytest.mark.parametrize("model_id", BETA)
def test_a_beta_model_has_a_default_and_a_larger_window_until_the_beta_ends(
    model_id: str, client: str | None
) -> None:
    assert windows(ask(model_id, client=client, at=IN_BETA)) == DEFAULTED_SHORT
    assert windows(ask(model_id, client=client, at=IN_BETA, marker=False)) == DECIDED_SHORT
    assert windows(ask(model_id, client=client, at=IN_BETA, marker=True)) == DECIDED_LONG


@pytest.mark.parametrize("client", ["claude", None])
@pytest.mark.parametrize("model_id", BETA)
@pytest.mark.parametrize("at", [AFTER_BETA, NOW, None])
def test_a_beta_model_has_only_its_short_window_once_the_beta_has_ended(
    model_id: str, client: str | None, at: datetime | None
) -> None:
    assert windows(ask(model_id, client=client, at=at)) == DECIDED_SHORT
    assert windows(ask(model_id, client=client, at=at, marker=False)) == DECIDED_SHORT
    refused = ask(model_id, client=client, at=at, marker=True)
    assert windows(refused) == (K200, M1, Certainty.DECIDED)
    assert isinstance(refused, Capability)
    assert refused.marker_unsupported


def test_before_the_beta_began_sonnet_4_had_one_window() -> None:
    assert windows(ask("claude-sonnet-4-20250514", at=BEFORE_BETA)) == DECIDED_SHORT


def test_the_days_of_the_table_are_days_in_utc() -> None:
    east = timezone(timedelta(hours=2))
    still_in_beta = datetime(2026, 4, 30, 1, 59, 59, tzinfo=east)
    assert windows(ask("claude-sonnet-4-5", at=still_in_beta)) == DEFAULTED_SHORT
    just_after = datetime(2026, 4, 30, 2, tzinfo=east)
    assert windows(ask("claude-sonnet-4-5", at=just_after)) == DECIDED_SHORT


# -- Claude Code: the two models whose window a plan or a suffix decides ----------------------


@pytest.mark.parametrize("model_id", CHOICE)
@pytest.mark.parametrize("at", [IN_BETA, NOW, None])
def test_a_model_with_a_choice_is_decided_by_its_marker_alone(
    model_id: str, at: datetime | None
) -> None:
    assert windows(ask(model_id, at=at)) == UNDECIDED
    assert windows(ask(model_id, at=at, marker=False)) == DECIDED_SHORT
    assert windows(ask(model_id, at=at, marker=True)) == DECIDED_LONG


def test_a_marker_in_the_id_outweighs_what_is_said_beside_it() -> None:
    assert windows(ask("claude-opus-4-6[1m]", marker=False)) == DECIDED_LONG


# -- Claude Code: models with 1M by nature ----------------------------------------------------


@pytest.mark.parametrize("model_id", NATIVE)
def test_a_native_model_decides_its_window_in_a_version_without_the_gate(model_id: str) -> None:
    for platform in (None, "first_party", "bedrock", "vertex"):
        for marker in (None, False, True):
            told = ask(model_id, client_version="2.1.332", platform=platform, marker=marker)
            assert windows(told) == DECIDED_LONG


@pytest.mark.parametrize(
    ("model_id", "version"),
    [
        ("claude-opus-4-7", "2.1.117"),
        ("claude-opus-4-8", "2.1.197"),
        ("claude-fable-5", "2.1.250"),
        ("claude-opus-5", "2.1.280"),
        ("claude-opus-5-5", "2.1.289"),
        ("claude-mythos-5-1", "2.1.257"),
    ],
)
def test_a_version_behind_the_gate_leaves_other_clouds_undecided(
    model_id: str, version: str
) -> None:
    for platform in ("bedrock", "vertex", "foundry"):
        told = ask(model_id, client_version=version, platform=platform)
        assert windows(told) == UNDECIDED
        told = ask(model_id, client_version=version, platform=platform, marker=False)
        assert windows(told) == UNDECIDED
    for other in ("first_party", None):
        told = ask(model_id, client_version=version, platform=other)
        assert windows(told) == DEFAULTED_LONG
    asked_for = ask(model_id, client_version=version, platform="bedrock", marker=True)
    assert windows(asked_for) == DECIDED_LONG


def test_the_form_of_an_id_tells_the_cloud_that_the_session_does_not() -> None:
    bedrock = "us.anthropic.claude-opus-4-8"
    assert windows(ask(bedrock, client_version="2.1.200")) == UNDECIDED
    stated = ask(bedrock, client_version="2.1.200", platform="first_party")
    assert windows(stated) == DEFAULTED_LONG


def test_the_gate_never_held_sonnet_5_on_other_clouds() -> None:
    for version in ("2.1.200", None):
        told = ask("claude-sonnet-5", client_version=version, platform="bedrock")
        assert windows(told) == DECIDED_LONG
        told = ask("claude-sonnet-5", client_version=version, platform="first_party")
        assert windows(told) == DEFAULTED_LONG


@pytest.mark.parametrize("version", [None, "", "unknown", "2", "v2.1.332"])
def test_a_version_that_is_not_known_may_be_one_behind_the_gate(version: str | None) -> None:
    assert windows(ask("claude-opus-5", client_version=version)) == DEFAULTED_LONG
    told = ask("claude-opus-5", client_version=version, platform="vertex")
    assert windows(told) == UNDECIDED


@pytest.mark.parametrize("version", ["2.1.290", "2.1.332 (Claude Code)", "2.2", "3.0.0-beta.1"])
def test_a_version_is_read_from_the_numbers_it_begins_with(version: str) -> None:
    assert windows(ask("claude-opus-5", client_version=version)) == DECIDED_LONG


@pytest.mark.parametrize(
    ("model_id", "version"),
    [
        ("claude-opus-4-7", "2.1.116"),
        ("claude-opus-4-8", "2.1.153"),
        ("claude-fable-5-1", "2.1.252"),
        ("claude-haiku-5-5", "2.1.290"),
        ("claude-fable-5-2", "2.1.323"),
        ("claude-sonnet-5", "2.1.196"),
        ("claude-mythos-preview", "2.1.316"),
        ("claude-opus-5", "2.0.76"),
    ],
)
def test_a_client_older_than_the_model_leaves_its_window_undecided(
    model_id: str, version: str
) -> None:
    assert windows(ask(model_id, client_version=version)) == UNDECIDED
    assert windows(ask(model_id, client_version=version, marker=False)) == UNDECIDED
    assert windows(ask(model_id, client_version=version, marker=True)) == DECIDED_LONG


# -- Claude Code: what a setting can do, and what it does not know ----------------------------


@pytest.mark.parametrize(
    ("model_id", "marker", "reduced"),
    [
        ("claude-opus-5", None, K200),
        ("claude-opus-5", True, K200),
        ("claude-opus-4-6", True, K200),
        ("claude-opus-4-6", None, None),
        ("claude-haiku-4-5", None, None),
        ("claude-haiku-4-5", True, None),
    ],
)
def test_a_setting_can_hold_claude_codes_long_window_to_the_short_one(
    model_id: str, marker: bool | None, reduced: int | None
) -> None:
    told = ask(model_id, marker=marker)
    assert isinstance(told, Capability)
    assert told.reduced_window_tokens == reduced


def test_no_setting_of_a_client_reduces_the_vendors_own_window() -> None:
    told = ask("claude-opus-5", client=None)
    assert isinstance(told, Capability)
    assert told.reduced_window_tokens is None


@pytest.mark.parametrize("model_id", ["gemini-2.5-pro", "gpt-5.5"])
def test_claude_code_only_guesses_at_another_vendors_model(model_id: str) -> None:
    assert ask(model_id) == Unresolved(ambiguous=False, why="unknown-to-client")


# -- The vendors' own platforms ---------------------------------------------------------------


@pytest.mark.parametrize("client", [None, "acp"])
@pytest.mark.parametrize(
    ("model_id", "window"),
    [
        ("claude-haiku-4-5", 200_000),
        ("claude-opus-4-8", 1_000_000),
        ("gemini-2.5-pro", 1_048_576),
        ("kimi-k3", 1_048_576),
        ("glm-5.2", 1_000_000),
    ],
)
def test_an_id_that_decides_its_window_does_so_on_its_vendors_platform(
    model_id: str, window: int, client: str | None
) -> None:
    assert windows(ask(model_id, client=client)) == (window, None, Certainty.DECIDED)


def test_the_caps_that_the_vendor_publishes_come_along() -> None:
    told = ask("claude-opus-4-8", client=None)
    assert isinstance(told, Capability)
    assert (told.max_input_tokens, told.max_output_tokens) == (None, 128_000)


@pytest.mark.parametrize("model_id", CHOICE)
def test_the_apis_default_changed_and_left_the_clients_to_choose(model_id: str) -> None:
    before = datetime(2026, 3, 12, 23, 59, tzinfo=UTC)
    assert windows(ask(model_id, client=None, at=before)) == DEFAULTED_SHORT
    long_before = datetime(2020, 1, 1, tzinfo=UTC)
    assert windows(ask(model_id, client=None, at=long_before)) == DEFAULTED_SHORT
    assert windows(ask(model_id, client=None, at=before + timedelta(minutes=1))) == UNDECIDED
    assert windows(ask(model_id, client=None, at=before, marker=True)) == DECIDED_LONG


@pytest.mark.parametrize(
    ("model_id", "why"),
    [
        ("gpt-5.5", "client-decides"),
        ("composer-2.5", "client-decides"),
        ("gpt-5.3", "one-source"),
        ("glm-4.6", "sources-disagree"),
        ("grok-4.20-0309-reasoning", "sources-disagree"),
    ],
)
def test_a_known_model_without_a_window_of_its_own_is_ambiguous(model_id: str, why: str) -> None:
    assert ask(model_id, client=None) == Unresolved(ambiguous=True, why=why)


@pytest.mark.parametrize("client", [None, "claude", "cursor"])
@pytest.mark.parametrize(
    "model_id", ["opus", "default", "gpt-5-chat-latest", "deepseek-chat", "k3", "kimi-for-coding"]
)
def test_a_moving_alias_is_no_known_model(model_id: str, client: str | None) -> None:
    assert ask(model_id, client=client) == Unresolved(ambiguous=False, why="moving-alias")


@pytest.mark.parametrize("client", [None, "claude", "codex", "cursor"])
def test_an_unknown_id_stays_unknown(client: str | None) -> None:
    assert ask("mystery-model-9", client=client) == Unresolved(ambiguous=False, why="unknown-model")


def test_a_marker_beside_another_vendors_id_is_not_dropped() -> None:
    told = ask("gemini-2.5-pro", client=None, marker=True)
    assert told == Unresolved(ambiguous=False, why="unknown-marker")


@pytest.mark.parametrize("client", ["cursor", "copilot"])
def test_a_client_with_private_windows_leaves_a_known_model_ambiguous(client: str) -> None:
    told = ask("gemini-2.5-pro", client=client)
    assert told == Unresolved(ambiguous=True, why="client-decides")


# -- Codex and Pi: tables of their own --------------------------------------------------------


CODEX_0_171 = {
    "codex-auto-review": 258_400,
    "gpt-5.5": 258_400,
    "gpt-5.6-luna": 258_400,
    "gpt-5.6-sol": 258_400,
    "gpt-5.6-terra": 258_400,
    "gpt-6-astra": 258_400,
    "gpt-6-luna": 258_400,
    "gpt-6-sol": 258_400,
    "gpt-6.1-sol": 475_000,
    "gpt-6.1-terra": 475_000,
    "gpt-6.2-astra": 258_400,
    "gpt-6.2-sol": 475_000,
    "gpt-daybreak-blue-latest": 258_400,
    "gpt-daybreak-red-latest": 353_400,
}


@pytest.mark.parametrize(("slug", "window"), CODEX_0_171.items())
@pytest.mark.parametrize("version", ["0.171.0", None, "0.180.0"])
@pytest.mark.parametrize("provider", ["openai", None])
def test_codex_knows_the_effective_windows_of_its_own_catalogue(
    slug: str, window: int, version: str | None, provider: str | None
) -> None:
    told = ask(slug, client="codex", client_version=version, provider=provider)
    assert windows(told) == (window, None, Certainty.DECIDED)


@pytest.mark.parametrize(
    ("slug", "version", "window"),
    [
        ("gpt-6.1-sol", "0.160.0", 258_400),
        ("gpt-5.4", "0.130.0", 258_400),
        ("gpt-5.2-codex", "0.98.0", 258_400),
        ("gpt-5", "0.77.0", 258_400),
    ],
)
def test_codex_knew_other_slugs_in_older_catalogues(slug: str, version: str, window: int) -> None:
    told = ask(slug, client="codex", client_version=version)
    assert windows(told) == (window, None, Certainty.DECIDED)
    assert not isinstance(told, Unresolved)
    assert told.source != "codex-0.171.0"


@pytest.mark.parametrize(
    ("slug", "version"),
    [
        ("gpt-5.5", "0.115.0"),
        ("gpt-6.2-sol", "0.166.0"),
        ("gpt-6.1-sol", "0.168.0"),
        ("gpt-5.2-codex", "0.171.0"),
    ],
)
def test_a_slug_is_unknown_to_a_version_whose_catalogue_is_not_known_to_hold_it(
    slug: str, version: str
) -> None:
    told = ask(slug, client="codex", client_version=version)
    assert told == Unresolved(ambiguous=False, why="client-version")


@pytest.mark.parametrize("slug", ["gpt-4.1", "gpt-5.5[1m]", "gpt-5.50", "o3"])
def test_a_slug_outside_codexs_catalogues_is_unknown_to_it(slug: str) -> None:
    assert ask(slug, client="codex") == Unresolved(ambiguous=False, why="unknown-model")


@pytest.mark.parametrize(
    ("provider", "model_id", "window"),
    [
        ("anthropic", "claude-opus-4-8", 1_000_000),
        ("anthropic", "claude-opus-4-6", 1_000_000),
        ("anthropic", "claude-sonnet-4-5-20250929", 200_000),
        ("amazon-bedrock", "us.anthropic.claude-opus-4-5-20251101-v1:0", 200_000),
        ("azure", "gpt-5.5", 1_050_000),
        ("openai", "gpt-5.5", 272_000),
        ("openai", "gpt-5.4-pro", 1_050_000),
        ("openai", "gpt-4.1", 1_047_576),
        ("openai-codex", "gpt-6.1-sol", 500_000),
        ("minimax", "MiniMax-M3", 1_000_000),
        ("kimi-coding", "k3-256k", 262_144),
    ],
)
def test_pi_joins_provider_and_id(provider: str, model_id: str, window: int) -> None:
    told = ask(model_id, client="pi", provider=provider)
    assert windows(told) == (window, None, Certainty.DECIDED)
    assert isinstance(told, Capability)
    assert (told.provider, told.canonical) == (provider, model_id)


def test_pi_knows_no_model_without_its_provider() -> None:
    told = ask("claude-opus-4-8", client="pi")
    assert told == Unresolved(ambiguous=True, why="provider-not-stated")


@pytest.mark.parametrize("provider", ["openrouter", "google", "mock"])
def test_pi_knows_no_model_of_another_provider(provider: str) -> None:
    told = ask("claude-opus-4-8", client="pi", provider=provider)
    assert told == Unresolved(ambiguous=False, why="unknown-model")


def test_a_moving_name_in_pi_has_only_the_window_of_the_day() -> None:
    told = ask("mistral-large-latest", client="pi", provider="mistral")
    assert windows(told) == (1_048_576, None, Certainty.DEFAULTED)


def test_pi_sized_the_4_6_models_by_its_version_or_by_the_time() -> None:
    pi = {"client": "pi", "provider": "anthropic"}
    old = ask("claude-opus-4-6", client_version="0.57.1", **pi)
    assert windows(old) == DECIDED_SHORT
    new = ask("claude-opus-4-6", client_version="0.58.3", **pi)
    assert windows(new) == DECIDED_LONG
    unknown = ask("claude-opus-4-6", at=datetime(2026, 3, 14, tzinfo=UTC), **pi)
    assert windows(unknown) == UNDECIDED


def test_a_model_that_pi_dropped_is_a_default_without_a_version() -> None:
    pi = {"client": "pi", "provider": "openai-codex"}
    assert windows(ask("gpt-5.5", **pi)) == (272_000, None, Certainty.DEFAULTED)
    known = ask("gpt-5.5", client_version="0.73.1", **pi)
    assert windows(known) == (272_000, None, Certainty.DECIDED)
    gone = ask("gpt-5.5", client_version="1.6.0", **pi)
    assert gone == Unresolved(ambiguous=False, why="client-version")


@pytest.mark.parametrize("client", ["codex", "pi"])
def test_a_marker_means_nothing_to_a_client_that_has_none(client: str) -> None:
    told = ask("gpt-5.5", client=client, provider="openai", marker=True)
    assert told == Unresolved(ambiguous=False, why="unknown-marker")


# -- Provenance, arguments, and what holds for all inputs -------------------------------------


def test_an_answer_carries_the_source_it_was_taken_from() -> None:
    told = ask("claude-opus-4-8", client_version="2.1.332")
    assert isinstance(told, Capability)
    assert (told.source, told.as_of) == ("claude-code-2.1.332-baked", date(2026, 11, 24))


def test_the_table_says_which_it_is() -> None:
    assert edition().as_of == date(2026, 11, 29)
    assert edition().version


class NoZone(tzinfo):
    """A time zone that does not know its offset, so that a moment in it is naive."""

    def utcoffset(self, _: datetime | None) -> None:
        return None

    def dst(self, _: datetime | None) -> None:
        return None

    def tzname(self, _: datetime | None) -> None:
        return None


@pytest.mark.parametrize(
    ("arguments", "error", "name"),
    [
        ({"model": "claude-opus-5"}, TypeError, "model"),
        ({"client": 1}, TypeError, "client"),
        ({"client_version": (2, 1)}, TypeError, "client_version"),
        ({"at": "2026-11-29"}, TypeError, "at"),
        ({"at": datetime(2026, 11, 29)}, ValueError, "at"),  # noqa: DTZ001
        ({"at": datetime(2026, 11, 29, tzinfo=NoZone())}, ValueError, "at"),
    ],
)
def test_a_wrong_argument_is_named(
    arguments: dict[str, Any], error: type[Exception], name: str
) -> None:
    with pytest.raises(error, match=f"^{name}:"):
        resolve(**({"model": ModelRef(id="claude-opus-5")} | arguments))


def test_the_front_door_has_no_other_late_names() -> None:
    with pytest.raises(AttributeError, match="resolved"):
        _ = capability.resolved


CLIENTS = st.sampled_from([None, "claude", "codex", "pi", "cursor", "acp"]) | st.text(max_size=8)
VERSIONS = st.none() | st.sampled_from(["2.1.200", "2.1.332", "0.171.0"]) | st.text(max_size=12)


@given(strategies.models(), CLIENTS, VERSIONS, st.none() | strategies.moments())
def test_no_model_of_any_text_raises(
    model: ModelRef, client: str | None, version: str | None, at: datetime | None
) -> None:
    told = resolve(model, client=client, client_version=version, at=at)
    assert isinstance(told, Capability | Unresolved)


LISTED = sorted({(row.provider, each) for row in models() for each in row.ids})


def listed_models() -> st.SearchStrategy[ModelRef]:
    """Return a strategy for models of the table, in every state of the session's evidence."""
    return st.builds(
        lambda listed, marker, platform: ModelRef(
            provider=listed[0], id=listed[1], long_context_marker=marker, platform=platform
        ),
        st.sampled_from(LISTED),
        st.none() | st.booleans(),
        st.sampled_from([None, "bedrock", "first_party"]),
    )


@given(listed_models(), CLIENTS, VERSIONS, st.none() | strategies.moments())
def test_every_answer_is_a_sound_row(
    model: ModelRef, client: str | None, version: str | None, at: datetime | None
) -> None:
    told = resolve(model, client=client, client_version=version, at=at)
    if isinstance(told, Unresolved):
        assert told.why
        return
    assert told.provider == model.provider
    assert told.source
    assert told.as_of > date(2025, 1, 1)
    assert told.window_tokens > 0
    larger = told.larger_window_tokens
    assert larger is None or larger > told.window_tokens
    assert (told.certainty is Certainty.UNDECIDED) <= (larger is not None)
    if told.marker_unsupported:
        assert model.long_context_marker
    elif model.long_context_marker:
        assert told.window_tokens == M1


@given(st.text(), CLIENTS)
def test_only_a_whole_match_of_a_row_has_a_window(model_id: str, client: str | None) -> None:
    told = resolve(ModelRef(id=model_id), client=client)
    if isinstance(told, Capability):
        identity = identify(model_id)
        assert not isinstance(identity, Unresolved)
        assert identity.canonical == told.canonical


def test_an_id_of_any_length_is_answered_and_not_kept() -> None:
    huge = "claude-opus-5" * 100_000
    for model in (
        ModelRef(id=huge),
        ModelRef(id="claude-opus-5", provider=huge),
        ModelRef(id="claude-opus-5", platform=huge),
    ):
        assert resolve(model) == Unresolved(ambiguous=False, why="unparseable")


def test_an_id_of_the_greatest_length_is_looked_up() -> None:
    longest = "c" * 512
    told = resolve(ModelRef(id=longest, provider=longest, platform=longest))
    assert told == Unresolved(ambiguous=False, why="unknown-model")


def test_the_same_question_has_the_same_answer() -> None:
    first, second = ask("claude-opus-5"), ask("claude-opus-5")
    assert first is second


@pytest.mark.parametrize(
    ("client", "model", "version", "is_assumed"),
    [
        ("codex", ModelRef(id="gpt-5.5"), None, True),  # since 0.130
        ("codex", ModelRef(id="gpt-5.4-mini"), None, True),  # before 0.151
        ("codex", ModelRef(id="gpt-5.5"), "0.171.0", False),
        ("pi", ModelRef(id="gpt-4o", provider="openai"), None, False),  # in every version
    ],
)
def test_a_model_that_only_some_versions_list_is_assumed_to_be_listed_without_one(
    client: str, model: ModelRef, version: str | None, *, is_assumed: bool
) -> None:
    found = resolve(model, client=client, client_version=version)
    assert isinstance(found, Capability)
    assert found.is_version_assumed is is_assumed
