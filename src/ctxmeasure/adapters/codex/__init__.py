"""Codex's sources: rollout, app-server, ``exec --json`` and hooks.

Every source lives in a module of its own that says where its data come from and which decoys look
like the truth. A module is imported when one of its names is asked for: a hook runs in a fresh
process each time and pays for its one source only.
"""
