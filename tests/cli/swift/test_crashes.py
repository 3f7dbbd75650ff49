"""Hooks that are killed at any call, fail, overlap and come twice; what they remember gets lost."""

from __future__ import annotations

from hook_machine import HookMachine
from hypothesis import settings

TestHooks = HookMachine.TestCase
TestHooks.settings = settings(settings.default, max_examples=60, stateful_step_count=40)
